"""Models of measured runs: columns win, the named model fills blanks, conventions are reported."""

import csv
from pathlib import Path

import pytest

from tierspan.formats.measured_model import model_from_columns
from tierspan.quantities.errors import InputError

SHARED = Path(__file__).parents[2].parent / "shared"


def test_named_model_fills_blank_columns():
    spec, assumed = model_from_columns({"model": "Gemma 7B"})
    assert (spec.id, spec.layers, spec.head_dim, assumed) == ("gemma-7b", 28, 256, ())


def test_truncated_model_keeps_the_layers_of_the_row():
    row = {"model": "deepseekv2 truncated to 4 layers", "layers": "4", "hidden": "5120", "heads": "128", "kv_heads": "128", "head_dim": "192"}
    spec, assumed = model_from_columns({**row, "ffn": "12288", "experts": "160", "topk": "6", "moe_ffn": "1536", "shared_experts": "2"})
    assert (spec.layers, spec.dense_layers, spec.kv_lora_rank, spec.v_head_dim, spec.shared_ffn) == (4, 1, 512, 128, 3072)
    assert assumed == ()


def test_expert_width_in_the_column_of_the_dense_width():
    spec, _ = model_from_columns({"model": "deepseekv2 (4 layers)", "layers": "4", "ffn": "1536", "experts": "160", "topk": "6"})
    assert (spec.ffn, spec.moe_ffn) == (12288, 1536)


def test_interleaved_dense_layers_shrink_with_the_depth():
    spec, _ = model_from_columns({"model": "LLAMA4 Maverick 400b FP8", "layers": "32"})
    assert (spec.layers, spec.dense_layers, spec.windowed_layers) == (32, 16, 24)


def test_conventions_are_reported():
    row = {"model": "GPT 175B", "layers": "96", "hidden": "12288", "ffn": "49152", "mlp_matrices": "2"}
    spec, assumed = model_from_columns(row)
    assert (spec.heads, spec.vocab, assumed) == (96, 51200, ("heads", "kv_heads", "vocab"))


def test_columns_of_an_unnamed_gated_model():
    row = {"model": "nanotron llama 8.86G", "layers": "32", "hidden": "4096", "heads": "32", "kv_heads": "32", "ffn": "14336", "vocab": "131072"}
    spec, assumed = model_from_columns(row)
    assert (spec.mlp_matrices, spec.tied_embeddings, assumed) == (3, False, ("mlp_matrices",))
    tied, _ = model_from_columns({**row, "model": "nanotron llama 8.32G"})
    assert tied.tied_embeddings


def test_learned_positions_follow_the_sequence():
    spec, _ = model_from_columns({"model": "MPT-7b", "seq_len": "65536"})
    assert spec.learned_positions == 65536


@pytest.mark.parametrize("kv_heads", ["64", "8"])
def test_columns_win_over_the_name(kv_heads):
    row = {"model": "Llama-like 80B", "layers": "80", "hidden": "8192", "heads": "64", "kv_heads": kv_heads}
    assert model_from_columns(row)[0].kv_heads == int(kv_heads)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"model": "BERT 4B"}, "models.row_unknown"),
        ({"model": "foo", "layers": "10"}, "models.row_missing"),
        ({"model": "Gemma 7B", "layers": "ten"}, "models.row_number"),
        ({"model": "Gemma 7B", "layers": "0"}, "models.row_number"),
        ({"model": "Gemma 7B", "hidden": "nan"}, "models.row_number"),
        ({"model": "Gemma 7B", "hidden": "inf"}, "models.row_number"),
        ({"model": "foo", "layers": "1", "hidden": "8", "heads": "16", "kv_heads": "16", "mlp_matrices": "2"}, "models.row_number"),
    ],
)
def test_bad_rows_are_refused(row, message):
    with pytest.raises(InputError) as error:
        model_from_columns(row)
    assert error.value.message_id == message


@pytest.mark.parametrize("name", ["training", "memory"])
def test_collected_measurements(name):
    path = SHARED / "validation" / f"{name}.csv"
    if not path.exists():
        pytest.skip("the shared collection is not here")
    unknown = 0
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            try:
                spec, _ = model_from_columns(row)
            except InputError:
                # What was given in full must be understood.
                assert not (row["layers"] and row["hidden"] and row["vocab"]), row["id"]
                unknown += 1
                continue
            for column, value in (("layers", spec.layers), ("hidden", spec.hidden), ("heads", spec.heads), ("vocab", spec.vocab)):
                assert not row[column] or float(row[column]) == value, (row["id"], column)
    assert unknown <= {"training": 163, "memory": 0}[name]

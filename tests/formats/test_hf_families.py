"""Families of configurations against the totals that their publishers state."""

import json
from pathlib import Path

import pytest

from tierspan.formats.hf_config import model_from_mapping
from tierspan.laws.parameters import parameter_counts
from tierspan.specs.models import model

ROWS = [json.loads(line) for line in (Path(__file__).parent / "hf_families.jsonl").read_text(encoding="utf-8").splitlines()]
FAMILIES = {row["name"]: (row["config"], row["total"]) for row in ROWS}


@pytest.mark.parametrize(("config", "total"), FAMILIES.values(), ids=FAMILIES)
def test_totals(config, total):
    assert parameter_counts(model_from_mapping(config)).total == total


LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "vocab_size": 32000,
}
QWEN_MOE = {
    "model_type": "qwen3_moe", "hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 48, "num_attention_heads": 32,
    "num_key_value_heads": 4, "head_dim": 128, "vocab_size": 151936, "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768,
}  # fmt: skip
LLAMA4 = {
    "model_type": "llama4_text", "hidden_size": 5120, "intermediate_size": 8192, "intermediate_size_mlp": 16384, "num_hidden_layers": 48,
    "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 202048, "num_local_experts": 128, "num_experts_per_tok": 1,
    "interleave_moe_layer_step": 2, "attention_chunk_size": 8192,
}  # fmt: skip


def test_null_kv_heads_mean_heads():
    assert model_from_mapping({**LLAMA, "num_key_value_heads": None}).kv_heads == 32


def test_ties_by_family():
    assert not model_from_mapping(LLAMA).tied_embeddings
    assert model_from_mapping({**LLAMA, "tie_word_embeddings": True}).tied_embeddings
    assert model_from_mapping({**LLAMA, "model_type": "gemma"}).tied_embeddings


def test_attention_bias_of_llama_has_four_matrices():
    extra = parameter_counts(model_from_mapping({**LLAMA, "attention_bias": True})).total - parameter_counts(model_from_mapping(LLAMA)).total
    assert extra == 32 * 4 * 4096


@pytest.mark.parametrize(
    ("keys", "dense"),
    [
        ({}, 0),
        ({"decoder_sparse_step": 2}, 24),
        ({"mlp_only_layers": [0, 1, 47]}, 3),
        ({"decoder_sparse_step": 2, "mlp_only_layers": [0, 1]}, 25),
    ],
)
def test_layers_without_experts(keys, dense):
    spec = model_from_mapping({**QWEN_MOE, **keys})
    assert spec.dense_layers == dense
    assert spec.ffn == (6144 if dense else 0)


@pytest.mark.parametrize(("freq", "dense"), [(1, 3), (2, 32), ([0] * 5 + [1] * 56, 5)])
def test_mask_of_deepseek(freq, dense):
    config = {**FAMILIES["dsv2-lite"][0], "num_hidden_layers": 61, "first_k_dense_replace": 3, "moe_layer_freq": freq}
    assert model_from_mapping(config).dense_layers == dense


def test_llama4_interleaves_and_chunks():
    spec = model_from_mapping({"model_type": "llama4", "text_config": LLAMA4, "vision_config": {"hidden_size": 1408}})
    assert (spec.dense_layers, spec.moe_layers, spec.windowed_layers, spec.window_chunked) == (24, 24, 36, True)
    assert spec.partial == ("text_part",)
    assert parameter_counts(spec).total == parameter_counts(model("llama-4-maverick")).total


@pytest.mark.parametrize(
    ("keys", "windowed"),
    [
        ({"sliding_window": 4096}, 0),
        ({"sliding_window": 4096, "use_sliding_window": True, "max_window_layers": 28}, 20),
        ({"sliding_window": 4096, "use_sliding_window": False, "max_window_layers": 28}, 0),
        ({"sliding_window": 4096, "use_sliding_window": True, "layer_types": ["full_attention", "sliding_attention"] * 24}, 24),
    ],
)
def test_windows_of_qwen_are_off_unless_switched_on(keys, windowed):
    assert model_from_mapping({**QWEN_MOE, **keys}).windowed_layers == windowed


def test_gemma3_reads_its_class_defaults_and_says_so():
    spec = model_from_mapping(FAMILIES["gemma3-4b as published"][0])
    assert (spec.heads, spec.kv_heads, spec.head_dim, spec.windowed_layers) == (8, 4, 256, 29)
    assert "class_defaults" in spec.partial


@pytest.mark.parametrize("name", ["llama-3.1-8b", "gemma-2-9b", "falcon-40b", "mixtral-8x7b"])
def test_catalogue_and_reader_agree(name):
    known = model(name)
    config = {
        "llama-3.1-8b": {**LLAMA, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256},
        "gemma-2-9b": {
            "model_type": "gemma2", "hidden_size": 3584, "intermediate_size": 14336, "num_hidden_layers": 42, "num_attention_heads": 16,
            "num_key_value_heads": 8, "head_dim": 256, "vocab_size": 256000, "sliding_window": 4096,
        },
        "falcon-40b": FAMILIES["falcon-40b"][0],
        "mixtral-8x7b": {
            **LLAMA, "model_type": "mixtral", "num_key_value_heads": 8, "intermediate_size": 14336, "num_local_experts": 8, "num_experts_per_tok": 2,
        },
    }[name]  # fmt: skip
    spec = model_from_mapping(config)
    apart = ("id", "name", "source", "max_positions", "partial")
    for field in known.__slots__:
        if field not in apart:
            assert getattr(spec, field) == getattr(known, field), field

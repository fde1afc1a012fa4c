"""Every configuration of the shared collection: exact counts, or the refusal that its manifest asks for."""

import csv
from pathlib import Path

import pytest

from tierspan.formats.hf_config import read_config
from tierspan.laws.parameters import kv_elements_per_token, parameter_counts
from tierspan.quantities.errors import InputError, UnsupportedError

INPUTS = Path(__file__).parents[2].parent / "shared" / "cases" / "inputs"


def manifest(kind):
    if not (INPUTS / "MANIFEST.csv").exists():
        return []
    with (INPUTS / "MANIFEST.csv").open(newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["kind"] == kind and row["file"].endswith(".json")]


REFUSED = {
    "jamba-v0.1": ("models.layer_type", "28 of 32 layers are of the kind Mamba"),
    "nemotron-h-56b": ("models.layer_type", "54 of 118 layers are of the kind Mamba-2"),
    "gpt3-175b.calculon": ("models.calculon_vocab", "173.96 billion"),
}


@pytest.mark.skipif(not manifest("hf_config"), reason="the shared collection is not here")
@pytest.mark.parametrize("row", manifest("hf_config"), ids=lambda row: row["file"])
def test_manifest(row):
    path = INPUTS / row["file"]
    if path.stem in REFUSED:
        message_id, words = REFUSED[path.stem]
        with pytest.raises(InputError) as error:
            read_config(path)
        assert error.value.message_id == message_id
        assert words in str(error.value)
        return
    spec = read_config(path)
    counts = parameter_counts(spec)
    if row["params_total"]:
        # Norms on queries and keys and routing biases are counted here and left out by some: millionths.
        assert counts.total == pytest.approx(int(row["params_total"]), rel=1e-6)
    if row["params_active"]:
        assert counts.active == pytest.approx(int(row["params_active"]), rel=2e-6)
    assert spec.id == path.stem


@pytest.mark.skipif(not INPUTS.exists(), reason="the shared collection is not here")
def test_traps_of_the_collection():
    v3 = read_config(INPUTS / "hf_config/deepseek-v3.json")
    assert kv_elements_per_token(v3) == 61 * 576
    assert v3.mtp_layers == 1
    v32 = read_config(INPUTS / "hf_config/deepseek-v3.2.json")
    assert v32.partial == ("sparse_indexer",)
    assert parameter_counts(v32).total - parameter_counts(v3).total == pytest.approx(0.85e9, rel=0.01)
    oss = read_config(INPUTS / "hf_config/gpt-oss-120b.json")
    assert (oss.window, oss.windowed_layers, oss.head_dim) == (128, 18, 64)
    assert read_config(INPUTS / "hf_config/gemma-2-27b.json").windowed_layers == 23


@pytest.mark.skipif(not INPUTS.exists(), reason="the shared collection is not here")
@pytest.mark.parametrize(
    ("name", "line", "words"),
    [
        ("empty.json", None, "the file is empty"),
        ("heads_not_divisible.json", 1, "hidden_size 4096 is not a multiple of num_attention_heads 30"),
        ("trailing_comma.json", 1, "comma"),
    ],
)
def test_malformed(name, line, words):
    with pytest.raises(InputError) as error:
        read_config(INPUTS / "malformed" / name)
    assert not isinstance(error.value, UnsupportedError)
    assert error.value.place.line == line
    text = str(error.value)
    assert name in text
    assert words in text
    assert "remedy" in text

"""The catalogue of models: its rows are sound, its names lead to one model and say so when they do not."""

import csv
from collections import Counter
from importlib import resources

import pytest

from tierspan.quantities.errors import UnknownNameError
from tierspan.specs.models import find_model_id, model, model_ids, resolve_model_id
from tierspan.specs.models.names import lookup_key


def rows(name):
    with resources.files("tierspan.specs.models").joinpath(f"data/{name}").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", model_ids())
def test_rows_are_sound(name):
    m = model(name)
    assert m.source
    assert m.layers >= m.dense_layers >= 0
    assert m.heads % m.kv_heads == 0
    assert m.mlp_matrices in (2, 3)
    assert (m.ffn > 0) or m.dense_layers == 0
    assert (m.experts > 0) == (m.moe_layers > 0)
    assert m.topk <= m.experts
    assert (m.moe_ffn > 0) == (m.experts > 0)
    assert m.windowed_layers <= m.layers
    assert (m.window > 0) == (m.windowed_layers > 0)


def test_ids_are_plain_and_unique():
    ids = [row["id"] for row in rows("models.csv")]
    assert len(ids) == len(set(ids))
    assert all(name == name.lower() and " " not in name for name in ids)


def test_no_two_names_collide():
    keys = Counter(lookup_key(name) for name in model_ids())
    assert not [key for key, count in keys.items() if count > 1]
    by_key = {}
    for row in rows("model_aliases.csv"):
        assert row["id"] in model_ids()
        assert by_key.setdefault(lookup_key(row["alias"]), row["id"]) == row["id"]
    for key, target in by_key.items():
        assert key not in keys or resolve_model_id(key) == target


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("Llama-3.1-405B", "llama-3.1-405b"),
        ("llama 3.1 405b", "llama-3.1-405b"),
        ("LLAMA2_70B", "llama-2-70b"),
        ("Gemma 7B", "gemma-7b"),
        ("Mixtral 8x22B", "mixtral-8x22b"),
        ("GPT3-20B", "nemo-gpt3-20b"),
        ("Qwen2 7B", "qwen2-7b"),
    ],
)
def test_spelling_does_not_matter(name, target):
    assert resolve_model_id(name) == target


def test_a_separator_between_digits_matters():
    with pytest.raises(UnknownNameError):
        resolve_model_id("qwen-27b")


@pytest.mark.parametrize(
    ("label", "target"),
    [
        ("Llama 3.1 405b FP8 (TP=8, PP=9, CP=2, VP=7, MBS=1, GA=63)", "llama-3.1-405b"),
        ("llama3_70b truncated to 12 layers", "llama-3-70b"),
        ("Llama3 8b Finetuning LORA FP8", "llama-3-8b"),
        ("Maxtext Llama3 70b BF16", "llama-3-70b"),
        ("Nemotron 340b BF16 GB200 Strong Scaling", "nemotron-4-340b"),
        ("DeepSeekV3 (w/o MTP)", "deepseek-v3"),
    ],
)
def test_labels_of_measurements(label, target):
    assert find_model_id(label) == target


@pytest.mark.parametrize("label", ["GPT 175B", "MaxText 32B", "GPT-2 2B", "Nemotron-22B", "BERT 4B", ""])
def test_ambiguous_and_unknown_labels_stay_unknown(label):
    assert find_model_id(label) is None


def test_truncation_is_not_ignored_in_a_name():
    with pytest.raises(UnknownNameError):
        model("llama3_70b truncated to 12 layers")


def test_unknown_name_suggests_the_nearest():
    with pytest.raises(UnknownNameError) as error:
        model("llama-3.1-450b")
    assert "llama-3.1-405b" in error.value.suggestions
    assert "llama-3.1-450b" in str(error.value)

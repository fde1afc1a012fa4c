"""``catalog model``: the stable interface, its notes, and what a name may be."""

import json

import pytest

from tierspan.answers.model import describe_model
from tierspan.quantities import messages
from tierspan.quantities.errors import InputError, UnknownNameError

CONFIG = {
    "model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 32000
}  # fmt: skip


def test_stable_keys():
    answer = describe_model("llama-3.1-8b").to_dict()
    assert list(answer)[:4] == ["id", "name", "parameters_total", "parameters_active"]
    assert (answer["parameters_total"], answer["layers"], answer["kv_bytes_per_token"]) == (8_030_261_248, 32, 131072)
    assert json.loads(json.dumps(answer)) == answer


def test_file_and_id_agree(tmp_path):
    path = tmp_path / "llama.json"
    path.write_text(json.dumps(CONFIG))
    assert describe_model(path).parameters_total == describe_model("Llama2-7B").parameters_total
    assert describe_model(str(path)).id == "llama"


@pytest.mark.parametrize(
    ("name", "notes"),
    [
        ("llama-2-7b", []),
        ("qwen3-235b-a22b", ["kv_replication"]),
        ("deepseek-v3.2", ["sparse_indexer", "mtp", "latent_replication"]),
        ("gpt-oss-120b", ["window", "kv_replication"]),
        ("llama-4-scout", ["chunk", "kv_replication"]),
    ],
)
def test_notes(name, notes):
    earlier = messages.set_strict(True)
    try:
        answer = describe_model(name)
        assert [note.id.removeprefix("models.note.") for note in answer.notes] == notes
        for lang in ("en", "zh"):
            assert all(note["text"] for note in answer.to_dict(lang)["notes"])
    finally:
        messages.set_strict(earlier)


def test_owner_in_front_of_a_name():
    assert describe_model("meta-llama/Llama-2-7b-hf").id == "llama-2-7b"


@pytest.mark.parametrize("name", ["llama-9z", "", "nobody/none", "\0"])
def test_unknown_names(name):
    with pytest.raises(InputError) as error:
        describe_model(name)
    assert isinstance(error.value, UnknownNameError) or error.value.message_id == "json.missing"


def test_missing_file_is_called_missing(tmp_path):
    with pytest.raises(InputError) as error:
        describe_model(str(tmp_path / "config.json"))
    assert error.value.message_id == "json.missing"

"""Configurations that must be refused, each naming key, value, rule and remedy; and nothing else than InputError ever comes out."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierspan.formats.hf_config import model_from_mapping, read_config
from tierspan.formats.json_text import parse_json
from tierspan.quantities import messages
from tierspan.quantities.errors import InputError, Place, UnknownNameError, UnsupportedError

LLAMA = {
    "model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32,
    "num_key_value_heads": 8, "vocab_size": 32000,
}  # fmt: skip
MOE = {**LLAMA, "model_type": "qwen3_moe", "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 64, "mlp_only_layers": []}
MLA = {
    **MOE, "model_type": "deepseek_v3", "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128,
    "first_k_dense_replace": 1, "moe_layer_freq": 1, "n_shared_experts": 1,
}  # fmt: skip
BASES = {
    "llama": LLAMA, "moe": MOE, "mla": MLA, "gemma": {**LLAMA, "model_type": "gemma3_text", "sliding_window": 512},
    "gpt2": {"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "vocab_size": 50257},
    "mpt": {"model_type": "mpt", "d_model": 768, "n_heads": 12, "n_layers": 12, "vocab_size": 100, "max_seq_len": 10, "attn_config": {"alibi": True}},
    "jamba": {**LLAMA, "model_type": "jamba", "attn_layer_period": 8}, "falcon": {**LLAMA, "model_type": "falcon"},
    "text": {"model_type": "gemma3", "text_config": {**LLAMA, "model_type": "gemma3_text", "sliding_window": 512}},
    "nemotron_h": {**LLAMA, "model_type": "nemotron_h", "hybrid_override_pattern": "M*-"},
    "llama4": {**MOE, "model_type": "llama4_text", "intermediate_size_mlp": 64, "attention_chunk_size": 64, "moe_layers": [1]},
    "megatron": {"num_layers": 2, "hidden_size": 64, "num_attention_heads": 4, "seq_length": 16, "vocab_size": 10},
}  # fmt: skip


@pytest.fixture(autouse=True)
def strict_messages():
    earlier = messages.set_strict(True)
    yield
    messages.set_strict(earlier)


def refused(config, place=None):
    with pytest.raises(InputError) as error:
        model_from_mapping(config, place)
    for lang in ("en", "zh"):
        assert messages.render_error(error.value, lang).count("\n") == 1
    return error.value


@pytest.mark.parametrize("key", ["hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "vocab_size", "model_type"])
def test_missing_keys_are_named(key):
    error = refused({name: value for name, value in LLAMA.items() if name != key})
    assert (error.message_id, error.place.key) == ("models.key_missing", key)


@pytest.mark.parametrize("value", [True, "4096", 4096.5, float("nan"), float("inf"), [4096], {"a": 1}])
def test_sizes_must_be_whole_numbers(value):
    error = refused({**LLAMA, "hidden_size": value})
    assert (error.message_id, error.place.key) == ("models.key_number", "hidden_size")


@pytest.mark.parametrize("value", [0, -1, 10**30])
def test_sizes_must_be_in_range(value):
    assert refused({**LLAMA, "num_hidden_layers": value}).message_id == "models.key_range"


@pytest.mark.parametrize(
    ("config", "message_id"),
    [
        ({**LLAMA, "num_attention_heads": 30}, "models.not_multiple"),
        ({**LLAMA, "num_key_value_heads": 5}, "models.not_multiple"),
        ({**LLAMA, "tie_word_embeddings": "yes"}, "models.key_flag"),
        ({**LLAMA, "n_layer": 16}, "models.key_conflict"),
        ({**LLAMA, "layer_types": ["full_attention"]}, "models.key_list_length"),
        ({**LLAMA, "layer_types": "full"}, "models.key_list"),
        ({**LLAMA, "num_local_experts": 8}, "models.unread_key"),
        ({**LLAMA, "mamba_d_state": 16}, "models.unread_key"),
        ({**MOE, "num_experts_per_tok": 9}, "models.topk"),
        ({**MOE, "mlp_only_layers": [32]}, "models.key_layer"),
        ({**MOE, "mlp_only_layers": [[1]]}, "models.key_layer"),
        ({**LLAMA, "model_type": 5}, "models.key_word"),
    ],
)
def test_rules(config, message_id):
    assert refused(config).message_id == message_id


def test_unknown_family_is_never_guessed():
    error = refused({**LLAMA, "model_type": "lama"})
    assert isinstance(error, UnknownNameError)
    assert "llama" in error.suggestions


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({**LLAMA, "model_type": "jamba", "attn_layer_period": 8, "attn_layer_offset": 4}, "28 of 32 layers are of the kind Mamba"),
        ({**LLAMA, "model_type": "nemotron_h", "hybrid_override_pattern": "M-M*"}, "2 of 4 layers are of the kind Mamba-2"),
        ({**LLAMA, "model_type": "mamba2"}, "32 of 32 layers are of the kind Mamba-2"),
        ({**LLAMA, "model_type": "falcon_h1"}, "parallel Mamba-2 and attention"),
        ({**LLAMA, "model_type": "qwen3_next"}, "24 of 32 layers are of the kind linear attention"),
        ({**LLAMA, "model_type": "minimax", "attn_type_list": [0, 0, 0, 1] * 8}, "24 of 32 layers are of the kind linear attention"),
        ({**LLAMA, "model_type": "qwen3", "layer_types": ["retention", "full_attention"] * 16}, "16 of 32 layers are of the kind retention"),
        ({**LLAMA, "model_type": "t5"}, "t5 is an encoder"),
    ],
)
def test_other_layers_are_refused_by_name_and_number(config, words):
    error = refused(config)
    assert isinstance(error, UnsupportedError)
    assert words in str(error)


def test_place_is_carried_on():
    error = refused({**LLAMA, "hidden_size": 0}, Place("scenario.yaml", line=4, key="model"))
    assert str(error.place) == "scenario.yaml:4 [model.hidden_size]"


@pytest.mark.parametrize(
    ("text", "message_id", "line", "column"),
    [
        ("", "json.empty", None, None),
        (" \n\t", "json.empty", None, None),
        ('{\n "a": 1,\n}', "json.trailing_comma", 2, 8),
        ('{"a": [1, 2,]}', "json.trailing_comma", 1, 12),
        ('{\n "a": 1', "json.end", 2, 8),
        ('{\n // note\n "a": 1}', "json.comment", 2, 2),
        ("{'a': 1}", "json.syntax", 1, 2),
        ("[1]", "json.not_object", 1, None),
        ("null", "json.not_object", 1, None),
        ('{\n"a": 1,\n"a": 2}', "json.duplicate", 3, None),
        ("[" * 100_000, "json.depth", None, None),
    ],
)
def test_json_errors_name_line_and_column(text, message_id, line, column):
    with pytest.raises(InputError) as error:
        parse_json(text, "x.json")
    assert (error.value.message_id, error.value.place.line, error.value.place.column) == (message_id, line, column)
    assert "x.json" in messages.render_error(error.value, "zh")


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "binary.json").write_bytes(b'{\n"a": \xff}')
    for name, message_id, line in (("none.json", "json.missing", None), ("", "json.directory", None), ("binary.json", "json.encoding", 2)):
        with pytest.raises(InputError) as error:
            read_config(tmp_path / name)
        assert (error.value.message_id, error.value.place.line) == (message_id, line)


def test_folder_of_a_checkpoint_and_byte_order_mark(tmp_path):
    folder = tmp_path / "My-Model"
    folder.mkdir()
    (folder / "config.json").write_text("\ufeff" + json.dumps(LLAMA), encoding="utf-8")
    spec = read_config(folder)
    assert (spec.id, spec.layers) == ("My-Model", 32)


def test_line_of_the_key_inside_the_text_part(tmp_path):
    path = tmp_path / "x.json"
    inner = {**LLAMA, "model_type": "gemma3_text", "num_attention_heads": "8"}
    path.write_text(json.dumps({"model_type": "gemma3", "vision_config": {"num_attention_heads": 1}, "text_config": inner}, indent=1))
    with pytest.raises(InputError) as error:
        read_config(path)
    line = path.read_text().split("\n")[error.value.place.line - 1]
    assert '"8"' in line


def test_infinity_in_a_key_that_nobody_needs(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps({**LLAMA, "time_step_limit": [0.0, float("inf")]}))
    assert read_config(path).layers == 32


def attempt(function, value):
    try:
        return function(value), None
    except InputError as error:
        return None, error


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from([10**400, "llama", 0]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@given(st.sampled_from(sorted(BASES)), st.data())
def test_no_configuration_gives_anything_else_than_a_model_or_an_input_error(base, data):
    config = dict(BASES[base])
    inner = config["text_config"] = dict(config["text_config"]) if base == "text" else {}
    target = inner if base == "text" else config
    if base != "text":
        del config["text_config"]
    keys = [*target, "head_dim", "layer_types", "moe_layer_freq", "attn_type_list", "tie_word_embeddings", "text_config", "n_shared_experts"]
    for key in data.draw(st.lists(st.sampled_from(keys), min_size=1, max_size=3)):
        target[key] = data.draw(JUNK)
    spec, error = attempt(model_from_mapping, config)
    if error is None:
        assert spec.layers > 0
        assert spec.hidden > 0
    else:
        assert "\n" in str(error)
        assert messages.render_error(error, "zh")


@given(st.text(max_size=40) | st.sampled_from(["{", '{"a"', '{"a":1}', "NaN", '{"a": NaN}']))
def test_no_text_gives_anything_else_than_an_object_or_an_input_error(text):
    parsed, error = attempt(parse_json, text)
    assert isinstance(parsed.data, dict) if error is None else "\n" in str(error)

"""From a file or a mapping to a ``ModelSpec``: which family reads it, and what must not be left unread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tierspan.formats.hf_config import dense, experts, foreign, gemma, gpt, latent, refused
from tierspan.formats.hf_config.defaults import with_class_defaults
from tierspan.formats.hf_config.keys import Keys
from tierspan.formats.hf_config.unread import unread_keys
from tierspan.formats.json_text import read_json
from tierspan.quantities.errors import InputError, Place, UnknownNameError, UnsupportedError
from tierspan.specs.model import ModelSpec

Family = Callable[[Keys], ModelSpec]
FAMILIES: dict[str, Family] = {
    **dict.fromkeys(dense.LLAMA_LIKE, dense.llama_like),
    **dict.fromkeys(("gemma", "gemma2", "gemma3_text"), gemma.gemma),
    **dict.fromkeys(("gpt2", "gpt_bigcode"), gpt.gpt2),
    "gpt_neox": gpt.gpt_neox,
    "gptj": gpt.gptj,
    "opt": gpt.opt,
    "bloom": gpt.bloom,
    **dict.fromkeys(("falcon", "refinedweb", "refinedwebmodel"), gpt.falcon),
    "mpt": gpt.mpt,
    "phi": gpt.phi,
    "chatglm": dense.chatglm,
    "stablelm": gpt.stablelm,
    **dict.fromkeys(("mixtral", "phimoe", "olmoe", "granitemoe"), experts.mixtral),
    **dict.fromkeys(("qwen2_moe", "qwen3_moe", "qwen3_vl_moe_text"), experts.qwen_moe),
    **dict.fromkeys(("glm4_moe", "dots1", "deepseek"), experts.shared_moe),
    "gpt_oss": experts.gpt_oss,
    "minimax_m2": experts.minimax_m2,
    "llama4_text": experts.llama4,
    **dict.fromkeys(("deepseek_v2", "deepseek_v3", "deepseek_v32", "kimi_k2", "glm_moe_dsa"), latent.deepseek),
}
_TEXT_PARTS = ("text_config", "llm_config", "language_config")


def read_config(path: str | Path) -> ModelSpec:
    """Read a ``config.json``, or the one inside a folder of a checkpoint.

    Raises:
        InputError: the file cannot be read, a key is missing or breaks a rule (named with file, line, key, value).
        UnknownNameError: nobody knows the ``model_type``.
        UnsupportedError: a kind of layer that is not modelled, by name and number.
    """
    path = Path(path)
    if path.is_dir() and (path / "config.json").is_file():
        path = path / "config.json"
    document = read_json(path)
    name = path.parent.name if path.stem == "config" and path.parent.name else path.stem
    spec = _read(document.data, lambda key, under="": document.place(key, under))
    return replace(spec, id=name, name=name, source=str(path))


def model_from_mapping(mapping: Mapping[str, Any], place: Place | None = None) -> ModelSpec:
    """As ``read_config``, from a mapping that was read elsewhere; ``place`` is where it stands."""
    at = place or Place()
    prefix = at.key + "." if at.key else ""

    def locate(key: str, under: str = "") -> Place:
        return Place(at.file, at.line, at.column, prefix + (f"{under}.{key}" if under else key))

    spec = _read(mapping, locate)
    name = str(mapping.get("_name_or_path") or mapping.get("model_type") or "inline")
    return replace(spec, id=name, name=name, source=at.file)


def _read(data: Mapping[str, Any], locate: Callable[..., Place]) -> ModelSpec:
    outer = Keys(data, locate)
    part = next((name for name in _TEXT_PARTS if isinstance(data.get(name), dict)), None)
    apart = ("text_part",) if any(data.get(name) for name in ("vision_config", "audio_config")) else ()
    if part is None or outer.has("num_hidden_layers"):
        spec = _text_model(outer)
        return replace(spec, partial=spec.partial + apart)
    inner: dict[str, Any] = dict(data[part])
    if inner.get("tie_word_embeddings") is None and data.get("tie_word_embeddings") is not None:
        inner["tie_word_embeddings"] = data["tie_word_embeddings"]
    if not inner.get("model_type") and isinstance(outer_family := data.get("model_type"), str):
        inner["model_type"] = f"{outer_family}_text" if f"{outer_family}_text" in FAMILIES else outer_family
    spec = _text_model(Keys(inner, lambda key: locate(key, part)))
    return replace(spec, partial=spec.partial + apart)


def _text_model(keys: Keys) -> ModelSpec:
    if foreign.is_calculon(keys):
        return _checked(keys, foreign.calculon(keys))
    _, family = keys.raw("model_type")
    if family is not None and not isinstance(family, str):
        raise InputError("models.key_word", place=keys.locate("model_type"), key="model_type", value=family)
    if not family:
        if foreign.is_megatron(keys):
            return _checked(keys, foreign.megatron(keys))
        raise keys.missing("model_type")
    keys.data, filled = with_class_defaults({**keys.data, "model_type": family.casefold()})
    if keys.family in refused.FAMILIES:
        raise refused.refuse(keys)
    reader = FAMILIES.get(keys.family)
    if reader is None:
        if any(name in keys.data for name in ("hybrid_override_pattern", "layers_block_type", "attn_type_list")):
            raise refused.refuse(keys)
        raise UnknownNameError("models.unknown_family", family, FAMILIES, place=keys.locate("model_type"))
    spec = _checked(keys, reader(keys))
    return replace(spec, partial=(*spec.partial, "class_defaults")) if filled else spec


def _checked(keys: Keys, spec: ModelSpec) -> ModelSpec:
    for key, value in unread_keys(keys):
        raise UnsupportedError("models.unread_key", place=keys.locate(key), key=key, value=str(value)[:60], family=keys.family or "?")
    return spec

"""The model of one measured run, from the architecture columns of a measurement file.

Columns win; where one is blank the named model fills it, and where there is none a stated convention does, which is reported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from tierspan.quantities.errors import InputError, Place
from tierspan.specs.model import ModelSpec
from tierspan.specs.models import find_model_id, model

_PRECISE_SIZE = re.compile(r"(\d+\.\d+)\s*[gGbB]\b")
_HEAD_DIM = 128  # what nearly every large model takes; only used, and reported, where a row names neither heads nor head size
_GPT_VOCAB_OF = "gpt3-175b"  # GPT rows without a vocabulary: the padded GPT-2 vocabulary of Megatron-LM
_FIRST_DENSE = 3  # dense layers up to this many stand in front; more are interleaved and shrink with the depth


def model_from_columns(row: Mapping[str, str], place: Place | None = None) -> tuple[ModelSpec, tuple[str, ...]]:
    """The model of a row, and the fields that were assumed: given neither by the row nor by a model of the catalogue.

    Args:
        row: columns ``model, layers, hidden, heads, kv_heads, head_dim, ffn, mlp_matrices, vocab, experts, topk, moe_ffn,
            shared_experts``; blank or absent means that the source does not say. ``seq_len`` sizes learned positions,
            ``params_b`` tells whether an unnamed model ties its embeddings.
        place: file and line of the row, for errors.

    Raises:
        InputError: neither the columns nor the name tell the architecture (the error names the first missing column).
    """
    label = row.get("model", "")
    place = place or Place(key=label)
    name = find_model_id(label)
    known = model(name) if name else None
    cells = {key: _whole(row, key, place) for key in _COLUMNS}
    if known is None and cells["layers"] is None and cells["hidden"] is None:
        raise InputError("models.row_unknown", place=place, name=label)
    assumed: list[str] = []

    def take(field: str, fallback: int | None = None) -> int:
        value = cells[field]
        if value is not None:
            return value
        if known is not None:
            return int(getattr(known, field))
        if fallback is None:
            raise InputError("models.row_missing", place=place, name=label, field=field)
        assumed.append(field)
        return fallback

    if known is not None and known.experts and cells["moe_ffn"] is None and cells["ffn"] == known.moe_ffn:
        # Some files print the expert width of a MoE model in the column of the dense width.
        cells["moe_ffn"], cells["ffn"] = cells["ffn"], known.ffn
    layers, hidden = take("layers"), take("hidden")
    heads = take("heads", max(hidden // _HEAD_DIM, 1))
    kv_heads = take("kv_heads", heads)
    matrices = take("mlp_matrices", _matrices(label, cells))
    if matrices not in (2, 3):  # plain or gated: nothing else is an MLP here
        raise InputError("models.row_number", place=place, field="mlp_matrices", value=str(matrices))
    as_known = known is not None and (hidden, heads) == (known.hidden, known.heads)
    if heads > hidden:
        raise InputError("models.row_number", place=place, field="heads", value=heads, least=1)
    head_dim = cells["head_dim"] or (known.head_dim if known and as_known else hidden // heads)
    experts = cells["experts"] if cells["experts"] is not None else (known.experts if known else 0)
    positions = _whole(row, "seq_len", place) or 0
    spec = replace(
        known or _family(label, matrices),
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        v_head_dim=known.v_head_dim if known and head_dim == known.head_dim else head_dim,
        mlp_matrices=matrices,
        vocab=take("vocab", model(_GPT_VOCAB_OF).vocab if "gpt" in label.lower() else None),
    )
    if spec.learned_positions and positions:
        # A run sizes its table of learned positions to its sequences.
        spec = replace(spec, learned_positions=positions)
    if known is not None and layers != known.layers:
        spec = replace(spec, windowed_layers=round(known.windowed_layers * layers / known.layers), mtp_layers=0)
    if not experts:
        spec = replace(spec, ffn=take("ffn"), experts=0, topk=0, dense_layers=layers)
        return (spec if known else replace(spec, tied_embeddings=_tied(spec, row))), tuple(assumed)
    moe_ffn = take("moe_ffn", cells["ffn"])
    shared = cells["shared_experts"]
    dense = _dense_layers(layers, known)
    if known is None:
        assumed.append("dense_layers")
    return replace(
        spec,
        experts=experts,
        topk=take("topk"),
        moe_ffn=moe_ffn,
        shared_ffn=shared * moe_ffn if shared is not None else (known.shared_ffn if known else 0),
        dense_layers=dense,
        ffn=take("ffn", 0) if dense else 0,
    ), tuple(assumed)


_GATED = ("llama", "qwen", "mistral", "mixtral", "deepseek", "gemma", "yi", "glm")
_PLAIN = ("gpt", "bloom", "opt", "falcon", "mpt", "nemotron", "turing")
_SIZES = frozenset(("layers", "hidden", "heads", "kv_heads", "mlp_matrices", "vocab"))  # a model has at least one of each
_COLUMNS = ("layers", "hidden", "heads", "kv_heads", "head_dim", "ffn", "mlp_matrices", "vocab", "experts", "topk", "moe_ffn", "shared_experts")


def _dense_layers(layers: int, known: ModelSpec | None) -> int:
    if known is None:
        return 0
    if known.dense_layers <= _FIRST_DENSE:
        return min(known.dense_layers, layers)
    return round(known.dense_layers * layers / known.layers)


def _matrices(label: str, cells: Mapping[str, int | None]) -> int | None:
    """Plain or gated MLP where a row does not say: by the family in its label, by experts or grouped queries, else unknown."""
    name = label.casefold()
    if any(family in name for family in _GATED):
        return 3
    if any(family in name for family in _PLAIN):
        return 2
    grouped = cells["kv_heads"] is not None and cells["heads"] is not None and cells["kv_heads"] < cells["heads"]
    return 3 if grouped or cells["experts"] else None


def _tied(spec: ModelSpec, row: Mapping[str, str]) -> bool:
    """Whether the printed parameter count is met better with one embedding table than with two."""
    # A size in the name is good enough where it is precise ("nanotron llama 3.57G", not "GPT 8B").
    in_label = _PRECISE_SIZE.search(row.get("model", ""))
    try:
        printed = float(row.get("params_b") or (in_label[1] if in_label else "nan")) * 1e9
    except ValueError:
        return spec.tied_embeddings
    if not printed > 0:
        return spec.tied_embeddings
    table = spec.vocab * spec.hidden
    attention = 2 * spec.hidden * spec.head_dim * (spec.heads + spec.kv_heads)
    once = spec.layers * (attention + spec.mlp_matrices * spec.hidden * spec.ffn) + table
    return abs(once - printed) <= abs(once + table - printed)


def _family(label: str, matrices: int) -> ModelSpec:
    """A model without a catalogue row: plain MLPs come with the conventions of GPT, gated ones with those of Llama."""
    plain = matrices == 2
    return ModelSpec(
        id=label, name=label, layers=0, hidden=0, heads=0, kv_heads=0, head_dim=0, v_head_dim=0, ffn=0, mlp_matrices=matrices, vocab=0,
        dense_layers=0,
        tied_embeddings=plain, learned_positions=int(plain), qkv_bias=plain, attention_output_bias=plain, mlp_bias=plain,
        norm_params_per_width=2 if plain else 1, source="columns of the measurement",
    )  # fmt: skip


def _whole(row: Mapping[str, str], key: str, place: Place) -> int | None:
    text = (row.get(key) or "").strip()
    if not text:
        return None
    try:
        value = float(text)
        whole = int(value)
    except (ValueError, OverflowError):
        value, whole = -1.0, 0
    least = 1 if key in _SIZES else 0
    if value != whole or value < least:
        raise InputError("models.row_number", place=place, field=key, value=text, least=least)
    return whole

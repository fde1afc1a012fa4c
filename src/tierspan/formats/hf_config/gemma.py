"""Gemma 1, 2 and 3: tied embeddings, heads of their own size, windows on most layers."""

from __future__ import annotations

from tierspan.formats.hf_config.common import FFN, positions, shape, tied
from tierspan.formats.hf_config.keys import Keys
from tierspan.formats.hf_config.layers import windows
from tierspan.specs.model import ModelSpec

_GEMMA3_PATTERN = 6  # every sixth layer is global, where the file does not say


def gemma(keys: Keys) -> ModelSpec:
    """The text model of a Gemma; from the second generation on every layer has four norms, from the third one norms on queries and keys."""
    family = keys.family.removesuffix("_text")
    s = shape(keys)
    local = {"gemma2": (s.layers + 1) // 2, "gemma3": s.layers - s.layers // keys.whole("sliding_window_pattern", default=_GEMMA3_PATTERN)}
    w = windows(keys, s.layers, local.get(family, 0))
    bias = keys.flag("attention_bias")
    return ModelSpec(
        id="", name="", **s.fields(), ffn=keys.whole(*FFN), mlp_matrices=3, dense_layers=s.layers, tied_embeddings=tied(keys, True),
        norms_per_layer=2 if family == "gemma" else 4, qk_norm_params=2 * s.head_dim if family == "gemma3" else 0,
        qkv_bias=bias, attention_output_bias=bias, max_positions=positions(keys), **w.fields(),
    )  # fmt: skip

"""Families with layers that are no softmax attention: refused by the name and the number of those layers."""

from __future__ import annotations

from collections import Counter

from tierspan.formats.hf_config.common import LAYERS
from tierspan.formats.hf_config.keys import Keys
from tierspan.quantities.errors import UnsupportedError

_PATTERN = {"M": "Mamba-2"}
_NAMES = {"mamba": "Mamba-2", "linear_attention": "linear attention", "conv": "short convolution", "recurrent": "recurrent"}
_WHOLE = {
    "mamba": "Mamba", "mamba2": "Mamba-2", "falcon_mamba": "Mamba", "rwkv": "RWKV", "falcon_h1": "parallel Mamba-2 and attention",
    "zamba": "Mamba", "zamba2": "Mamba-2", "bamba": "Mamba-2", "recurrent_gemma": "recurrent", "deepseek_v4": "compressed sparse attention",
    "kimi_linear": "Kimi delta attention", "lfm2": "short convolution", "granitemoehybrid": "Mamba-2",
}  # fmt: skip
_ENCODERS = ("bert", "roberta", "t5", "mt5", "umt5", "bart", "mbart", "whisper", "deberta-v2", "albert", "electra", "modernbert", "xlm-roberta")
FAMILIES = (
    *_WHOLE,
    *_ENCODERS,
    "jamba",
    "nemotron_h",
    "qwen3_next",
    "qwen3_5_text",
    "qwen3_5_moe_text",
    "minimax",
    "minimax_text_01",
    "nemotron-nas",
)


def refuse(keys: Keys) -> UnsupportedError:
    """The error for a family that is understood and not modelled."""
    layers = keys.optional(*LAYERS) or 0
    if keys.family in _ENCODERS:
        return UnsupportedError("models.encoder", place=keys.locate("model_type"), family=keys.family)
    if keys.family == "jamba":
        period, offset = keys.whole("attn_layer_period", default=8), keys.whole("attn_layer_offset", default=4, least=0)
        attention = len(range(offset, layers, period))
        return _error(keys, "attn_layer_period", "Mamba", layers - attention, layers)
    if isinstance(pattern := keys.data.get("hybrid_override_pattern"), str):
        return _error(keys, "hybrid_override_pattern", _PATTERN["M"], pattern.count("M"), len(pattern))
    if keys.family == "nemotron-nas":
        return UnsupportedError(
            "models.layer_type", place=keys.locate("block_configs"), layer="block_configs (layers of unequal size)", count=layers, layers=layers
        )
    for key in ("layers_block_type", "layer_types", "attn_type_list"):
        listed = keys.data.get(key)
        if isinstance(listed, list) and listed:
            counts = Counter("linear_attention" if kind == 0 else str(kind) for kind in listed)
            kind, count = next(((k, n) for k, n in counts.most_common() if k in _NAMES), counts.most_common(1)[0])
            return _error(keys, key, _NAMES.get(kind, kind), count, len(listed))
    if keys.family in ("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text"):
        interval = keys.whole("full_attention_interval", default=4)
        return _error(keys, "full_attention_interval", "linear attention", layers - layers // interval, layers)
    return _error(keys, "model_type", _WHOLE.get(keys.family, "linear attention"), layers, layers)


def _error(keys: Keys, key: str, layer: str, count: int, layers: int) -> UnsupportedError:
    return UnsupportedError("models.layer_type", place=keys.locate(key), layer=layer, count=count, layers=layers)

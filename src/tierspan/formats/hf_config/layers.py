"""What differs from layer to layer: windows of attention, layers with experts, layers that are no attention at all."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from tierspan.formats.hf_config.keys import Keys
from tierspan.quantities.errors import UnsupportedError

_FULL = ("full_attention", "attention", "global")
_WINDOWED = ("sliding_attention", "chunked_attention", "local_attention", "local")


@dataclass(frozen=True, slots=True)
class Windows:
    """``layers`` of them attend to at most ``window`` tokens back (``chunked``: to their own chunk)."""

    window: int = 0
    layers: int = 0
    chunked: bool = False

    def fields(self) -> dict[str, Any]:
        """As fields of ``ModelSpec``."""
        return {"window": self.window, "windowed_layers": self.layers, "window_chunked": self.chunked} if self.layers and self.window else {}


def windows(keys: Keys, layers: int, windowed_by_default: int, window_key: str = "sliding_window") -> Windows:
    """Windowed layers: from ``layer_types`` where the file has it, else the family's rule.

    Raises:
        UnsupportedError: ``layer_types`` names a kind of layer that is no softmax attention; the error names kind and count.
    """
    window = keys.optional(window_key, least=0) or 0
    if not keys.flag("use_sliding_window", default=True):
        window = 0
    listed = keys.items("layer_types", layers)
    keys.read.update(("max_window_layers", "sliding_window_pattern"))
    if listed is None:
        return Windows(window, windowed_by_default if window else 0, window_key == "attention_chunk_size")
    counts = Counter(str(kind) for kind in listed)
    for kind, count in counts.items():
        if kind not in _FULL and kind not in _WINDOWED:
            raise UnsupportedError("models.layer_type", place=keys.locate("layer_types"), layer=kind, count=count, layers=layers)
    windowed = sum(counts[kind] for kind in _WINDOWED)
    if windowed and not window and keys.flag("use_sliding_window", default=True):
        raise keys.missing(window_key)
    return Windows(window, windowed if window else 0, bool(counts["chunked_attention"]))


def dense_layers(keys: Keys, layers: int) -> int:
    """Layers with a dense MLP in a model with experts, whichever way the family says it.

    ``first_k_dense_replace`` and ``moe_layer_freq`` (a step, or a mask with one entry a layer), ``decoder_sparse_step`` with
    ``mlp_only_layers``, ``mlp_layer_types``.
    """
    kinds = keys.items("mlp_layer_types", layers)
    if kinds is not None:
        keys.read.update(("first_k_dense_replace", "moe_layer_freq"))
        for kind in kinds:
            if kind not in ("dense", "sparse"):
                raise UnsupportedError("models.layer_type", place=keys.locate("mlp_layer_types"), layer=kind, count=kinds.count(kind), layers=layers)
        return kinds.count("dense")
    first = keys.whole("first_k_dense_replace", default=0, least=0)
    if isinstance(keys.data.get("moe_layer_freq"), list):
        mask = keys.items("moe_layer_freq", layers) or []
        return sum(1 for entry in mask if not entry)
    step = keys.whole("moe_layer_freq", "decoder_sparse_step", default=1)
    offset = 1 if keys.has("decoder_sparse_step") else 0
    only = keys.layer_numbers("mlp_only_layers", layers) or set()
    return sum(1 for i in range(layers) if i < first or (i + offset) % step or i in only)

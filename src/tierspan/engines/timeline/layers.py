"""Which layers stand where along the pipeline."""

from __future__ import annotations

import math


def layers_along(layers: float, stages: int, chunks: int = 1) -> tuple[float, ...]:
    """Layers of each of the ``stages * chunks`` places in model order, by the rule of ``laws.pipeline.stage_layers``.

    Even where the places divide the layers. Where they divide ``layers + 2``, embedding and loss fill a layer's slot each: the first and the
    last place hold one layer less (Megatron's accounting of both in the pipeline split). Else places are filled up in order and the last ones
    hold the rest.
    """
    places = stages * chunks
    if layers % places == 0:
        return (layers / places,) * places
    if (layers + 2) % places == 0 and places > 1:
        full = (layers + 2) / places
        return (full - 1, *((full,) * (places - 2)), full - 1)
    full = math.ceil(layers / places)
    return tuple(min(float(full), max(layers - full * i, 0.0)) for i in range(places))

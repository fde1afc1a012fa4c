"""Which layers stand where along the pipeline."""

from __future__ import annotations

import math


def layers_along(layers: float, stages: int, chunks: int = 1, *, ends_count: bool = True) -> tuple[float, ...]:
    """Layers of each of the ``stages * chunks`` places in model order, by the rule of ``laws.pipeline.stage_layers``.

    Even where the places divide the layers. Where they divide ``layers + 2`` and ``ends_count``, embedding and loss fill a layer's slot each:
    the first and the last place hold one layer less (Megatron's accounting of both in the pipeline split). Else places are filled up in order
    and the last ones hold the rest.
    """
    places = stages * chunks
    if layers % places == 0:
        return (layers / places,) * places
    if ends_count and (layers + 2) % places == 0 and places > 1:
        full = (layers + 2) / places
        return (full - 1, *((full,) * (places - 2)), full - 1)
    full = math.ceil(layers / places)
    return tuple(min(float(full), max(layers - full * i, 0.0)) for i in range(places))


def layers_by_cost(layers: int, head: float, stages: int) -> tuple[float, ...]:
    """Layers of each stage where blocks are dealt in order and a stage is closed once the running cost exceeds its share of the total.

    The rule of ``laws.pipeline.balanced_stage_layers``; ``head`` is the cost of the output projection in layers.
    """
    share, held, stage = (layers + head) / stages, [0.0] * stages, 0
    for dealt in range(1, layers + 1):
        held[stage] += 1.0
        if stage < stages - 1 and dealt > share * (stage + 1):
            stage += 1
    return tuple(held)

"""Which layers a pipeline stage holds, and how many micro-batches it keeps in flight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tierspan.laws import counts
from tierspan.laws.memory.constants import Value
from tierspan.laws.schedules import DUALPIPE, peak_in_flight
from tierspan.specs.arrays import ModelArrays, StrategyBatch

Array = NDArray[np.float64]
EXACT = 1e-9


@dataclass(frozen=True, slots=True)
class Stage:
    """One pipeline stage of each strategy, arrays of shape (n,).

    ``first`` and ``last`` are 0 or 1 (both where pp = 1); ``in_flight`` counts micro-batches whose activations of this stage's layers
    are kept.
    """

    dense_layers: Array
    moe_layers: Array
    first: Array
    last: Array
    in_flight: Array

    @property
    def layers(self) -> Array:
        """All layers of the stage."""
        return self.dense_layers + self.moe_layers


def full_stage_layers(m: ModelArrays, s: StrategyBatch, stage_rule: Value) -> Array:
    """Layers of the fullest stage.

    Equally: ceil(L / (pp * vpp)) * vpp. By cost, with the head as h = V * hidden / layer parameters layers: ceil((L + h) / pp), or
    floor((L + h) / pp) + 1 where the stage is closed only after its share is exceeded.
    """
    equal = np.ceil(m.layers / (s.pp * s.vpp) - EXACT) * s.vpp
    layer = np.where(m.dense_layers > 0, counts.dense_layer_parameters(m), counts.moe_layer_parameters(m))
    share = (m.layers + counts.head_parameters(m) / layer) / s.pp
    weighed = np.where(np.equal(stage_rule, 2.0), np.floor(share + EXACT) + 1.0, np.ceil(share - EXACT))
    return np.minimum(np.where(np.greater(stage_rule, 0.0), weighed, equal), m.layers)


def micro_batches_in_flight(s: StrategyBatch, index: Array) -> Array:
    """Micro-batches whose activations stage ``index`` (from 0) keeps, in units of the whole stage: :func:`laws.schedules.peak_in_flight`."""
    return peak_in_flight(s.schedule, s.pp, s.vpp, s.micro_batches, index)


def stages(m: ModelArrays, s: StrategyBatch, stage_rule: Value) -> dict[int, Stage]:
    """List the stages that can be the heaviest of any row: 0 the first, 1 the second, 2 the last.

    The first has the embedding and most in flight, the last the head and the logits. The second counts only in models that begin with
    dense layers before those with experts. Dense layers come first, as in the published models.
    """
    full = full_stage_layers(m, s, stage_rule)
    one = np.ones_like(full)
    dense = np.where(m.experts > 0, m.dense_layers, m.layers)
    mixed = (m.experts > 0) & (m.dense_layers > 0)
    # in DualPipe an outer rank holds the first stage of one copy of the model and the last stage of the other
    ends = s.schedule == DUALPIPE

    def stage(index: Array, layers: Array) -> Stage:
        dense_here = np.clip(dense - full * index, 0.0, layers)
        return Stage(
            dense_layers=dense_here,
            moe_layers=layers - dense_here,
            first=((index == 0) | (ends & (index == s.pp - 1.0))) * one,
            last=((index == s.pp - 1.0) | (ends & (index == 0))) * one,
            in_flight=micro_batches_in_flight(s, index),
        )

    last = (s.pp - 1.0) * one
    rest = np.where(last > 0, np.clip(m.layers - full * last, 0.0, full), full)
    out = {0: stage(0.0 * one, full)}
    if np.any(mixed & (s.pp > 2)):
        second = np.minimum(1.0, last)
        out[1] = stage(second, np.where(second == last, rest, full))
    if np.any(s.pp > 1):
        out[2] = stage(last, rest)
    return out

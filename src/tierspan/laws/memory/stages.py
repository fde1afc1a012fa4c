"""Which layers a pipeline stage holds, and how many micro-batches it keeps in flight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tierspan.laws import counts
from tierspan.laws.memory.constants import Value
from tierspan.laws.schedules import peak_in_flight
from tierspan.specs.arrays import ModelArrays, StrategyBatch
from tierspan.specs.strategy import SCHEDULE_CODE

Array = NDArray[np.float64]
EXACT = 1e-9
BY_COST_EXCEEDED, BY_COST_NEAREST = 2.0, 3.0


@dataclass(frozen=True, slots=True)
class Stage:
    """One pipeline stage of each strategy, arrays of shape (n,).

    ``first`` and ``last`` are 0 or 1 (both where pp = 1); ``in_flight`` counts micro-batches whose activations of this stage's layers
    are kept, ``index`` is the stage's place from 0.
    """

    dense_layers: Array
    moe_layers: Array
    first: Array
    last: Array
    in_flight: Array
    index: Array

    @property
    def layers(self) -> Array:
        """All layers of the stage."""
        return self.dense_layers + self.moe_layers


def full_stage_layers(m: ModelArrays, s: StrategyBatch, stage_rule: Value) -> Array:
    """Layers of a stage that is full; the last one holds the rest.

    Equally: ceil(L / (pp * vpp)) * vpp. By cost, with the head as h = V * hidden / layer parameters layers (norms cost nothing): ceil((L + h) / pp),
    floor((L + h) / pp) + 1 where the stage is closed only after its share is exceeded, or the nearest whole number.
    """
    equal = np.ceil(m.layers / (s.pp * s.vpp) - EXACT) * s.vpp
    layer = np.where(m.dense_layers > 0, counts.dense_layer_parameters(m), counts.moe_layer_parameters(m)) - counts.norm_parameters(m)
    share = (m.layers + counts.head_parameters(m) / layer) / s.pp
    rule = np.asarray(stage_rule)
    weighed = np.select(
        [rule == BY_COST_EXCEEDED, rule == BY_COST_NEAREST], [np.floor(share + EXACT) + 1.0, np.floor(share + 0.5 + EXACT)], np.ceil(share - EXACT)
    )
    return np.clip(np.where(rule > 0.0, weighed, equal), 1.0, m.layers)


def micro_batches_in_flight(s: StrategyBatch, index: Array) -> Array:
    """Micro-batches whose activations stage ``index`` (from 0) keeps, in units of the whole stage: :func:`laws.schedules.peak_in_flight`."""
    return peak_in_flight(s.schedule, s.pp, s.vpp, s.micro_batches, index)


def parameter_copies(s: StrategyBatch) -> Array:
    """Copies of a stage's parameters on a rank: two with DualPipe, which feeds the pipeline from both ends, else one."""
    return np.where((s.pp > 1) & (s.schedule == SCHEDULE_CODE["dualpipe"]), 2.0, 1.0)


def stage_at(m: ModelArrays, s: StrategyBatch, stage_rule: Value, index: Array) -> Stage:
    """Stage ``index`` (from 0, shape (n,), at most pp - 1) of each strategy. Dense layers come first, as in the published models."""
    full = full_stage_layers(m, s, stage_rule)
    index = np.asarray(index, dtype=np.float64) + np.zeros_like(full)
    is_last = np.equal(index, s.pp - 1.0)
    left = np.maximum(m.layers - full * index, 0.0)
    layers = np.where(is_last, left, np.minimum(left, full))
    dense = np.where(m.experts > 0, m.dense_layers, m.layers)
    dense_here = np.clip(dense - full * index, 0.0, layers)
    return Stage(
        dense_layers=dense_here,
        moe_layers=layers - dense_here,
        first=np.equal(index, 0.0).astype(np.float64),
        last=is_last.astype(np.float64),
        in_flight=micro_batches_in_flight(s, index),
        index=index,
    )


def stages(m: ModelArrays, s: StrategyBatch, stage_rule: Value) -> dict[int, Stage]:
    """List the stages that can be the heaviest of any row: 0 the first, 1 the second, 2 the last.

    The first has the embedding and most in flight, the last the head and the logits. The second counts only in models that begin with
    dense layers before those with experts. With DualPipe a rank holds a stage from either end: its layers, embedding, head and logits
    are those of both (see :func:`tierspan.laws.memory.terms.stage_terms`), and all ranks weigh about the same.
    """
    out = {0: stage_at(m, s, stage_rule, 0.0 * s.pp)}
    mixed = (m.experts > 0) & (m.dense_layers > 0)
    if np.any(mixed & (s.pp > 2)):
        out[1] = stage_at(m, s, stage_rule, np.minimum(1.0, s.pp - 1.0))
    if np.any(s.pp > 1):
        out[2] = stage_at(m, s, stage_rule, s.pp - 1.0)
    return out

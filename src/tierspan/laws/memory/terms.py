"""The memory law: bytes of the heaviest rank, by term."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from tierspan.laws import counts
from tierspan.laws.memory.activations import activation_bytes, layer_bytes_per_token
from tierspan.laws.memory.constants import MemoryConstants
from tierspan.laws.memory.stages import Stage, stages
from tierspan.laws.memory.static import stage_parameters, static_terms
from tierspan.laws.memory.transients import embedding_bytes, logit_bytes, transient_bytes
from tierspan.specs.arrays import ModelArrays, StrategyBatch

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MemoryTerms:
    """Bytes on the heaviest rank, float64 arrays of shape (n,); ``stage`` is 0 first, 1 second, 2 last.

    ``step`` is what the optimizer step needs beyond activations, logits and transients, which are gone by then; ``reserve`` and
    ``fragmentation`` are the allocator's. The sum of the terms is the reserved peak.
    """

    weights: Array
    gradients: Array
    optimizer: Array
    activations: Array
    logits: Array
    transients: Array
    communication: Array
    step: Array
    fragmentation: Array
    reserve: Array
    stage: Array

    @property
    def allocated(self) -> Array:
        """Peak of live tensors: everything but the allocator's own share."""
        return self.weights + self.gradients + self.optimizer + self.activations + self.logits + self.transients + self.communication + self.step

    @property
    def reserved(self) -> Array:
        """Peak that the framework reserves: the figure that must fit."""
        return self.allocated + self.fragmentation + self.reserve


def memory_terms(models: ModelArrays, strategies: StrategyBatch, constants: MemoryConstants) -> MemoryTerms:
    """Reserved memory of the heaviest rank by term, bytes.

    weights + gradients + optimizer + communication + max(activations + logits + transients, step), times the allocator's share on what
    comes and goes, plus a fixed reserve. First, second and last stage are evaluated and the largest total is taken row by row.

    Args:
        models: n rows or one.
        strategies: n rows or one.
        constants: scalars or shape (n,).

    Returns:
        The terms of the heaviest stage of each row; sources: Korthikanti et al. 2022 (activations), Rajbhandari et al. 2020 (sharding).

    """
    part = counts.rank_layer(models, strategies)
    per_token = layer_bytes_per_token(models, strategies, constants)
    candidates = [
        _stage_terms(models, strategies, constants, stage, index, part, per_token)
        for index, stage in stages(models, strategies, constants.stage_rule).items()
    ]
    best = candidates[0]
    for other in candidates[1:]:
        heavier = other.reserved > best.reserved
        best = MemoryTerms(**{f.name: np.where(heavier, getattr(other, f.name), getattr(best, f.name)) for f in fields(MemoryTerms)})
    return best


def _stage_terms(
    m: ModelArrays,
    s: StrategyBatch,
    c: MemoryConstants,
    stage: Stage,
    index: int,
    part: counts.RankLayer,
    per_token: tuple[Array, Array],
) -> MemoryTerms:
    static = static_terms(stage_parameters(m, s, stage, part), s, c)
    activations = activation_bytes(m, s, c, stage, per_token) + embedding_bytes(m, s, c, stage)
    logits = logit_bytes(m, s, c, stage)
    transients = transient_bytes(m, s, c)
    passing = activations + logits + transients
    step = np.maximum(static.step - passing, 0.0)
    terms = {
        "weights": static.weights,
        "gradients": static.gradients,
        "optimizer": static.optimizer,
        "activations": activations,
        "logits": logits,
        "transients": transients,
        "communication": static.communication,
        "step": step,
        "fragmentation": c.fragmentation * (passing + step),
        "reserve": np.asarray(c.reserve_bytes, dtype=np.float64),
        "stage": np.asarray(float(index)),
    }
    shape = np.broadcast_shapes(*(np.shape(v) for v in terms.values()))
    return MemoryTerms(**{name: np.broadcast_to(value, shape) for name, value in terms.items()})

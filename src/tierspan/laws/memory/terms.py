"""The memory law: bytes of the heaviest rank, by term."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from tierspan.laws import counts
from tierspan.laws.memory.activations import activation_bytes, layer_at_work_bytes, layer_bytes_per_token
from tierspan.laws.memory.constants import MemoryConstants
from tierspan.laws.memory.offload import offloaded
from tierspan.laws.memory.stages import Stage, parameter_copies, stage_at, stages
from tierspan.laws.memory.static import stage_parameters, static_terms
from tierspan.laws.memory.transients import embedding_bytes, logit_bytes, transient_bytes
from tierspan.specs.arrays import ModelArrays, StrategyBatch

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MemoryTerms:
    """Bytes on one rank, float64 arrays of shape (n,); ``stage`` is 0 first, 1 second, 2 last.

    ``step`` is what the optimizer step needs beyond activations, logits and transients, which are gone by then; ``reserve`` and
    ``fragmentation`` are the allocator's. The sum of the terms on the device is the reserved peak. The terms that begin with ``host``
    are what the rank keeps in the memory of its host instead.
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
    in_flight: Array
    layers: Array
    host_weights: Array
    host_optimizer: Array
    host_activations: Array

    @property
    def allocated(self) -> Array:
        """Peak of live tensors: everything on the device but the allocator's own share."""
        return self.weights + self.gradients + self.optimizer + self.activations + self.logits + self.transients + self.communication + self.step

    @property
    def reserved(self) -> Array:
        """Peak that the framework reserves: the figure that must fit."""
        return self.allocated + self.fragmentation + self.reserve

    @property
    def host(self) -> Array:
        """What the rank keeps in the memory of its host."""
        return self.host_weights + self.host_optimizer + self.host_activations

    def where(self, take: NDArray[np.bool_], other: MemoryTerms) -> MemoryTerms:
        """Row by row the terms of ``other`` where ``take`` holds, else these."""
        return MemoryTerms(**{f.name: np.where(take, getattr(other, f.name), getattr(self, f.name)) for f in fields(MemoryTerms)})


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
    return heaviest(terms_by_stage(models, strategies, constants))


def heaviest(by_stage: Mapping[int, MemoryTerms]) -> MemoryTerms:
    """Row by row the terms of the stage with the largest reserved peak; of :func:`terms_by_stage`."""
    first, *others = by_stage.values()
    for other in others:
        first = first.where(other.reserved > first.reserved, other)
    return first


def terms_by_stage(models: ModelArrays, strategies: StrategyBatch, constants: MemoryConstants) -> dict[int, MemoryTerms]:
    """:class:`MemoryTerms` of the stages that can be the heaviest: 0 the first, 1 the second (only where it can matter), 2 the last."""
    part = counts.rank_layer(models, strategies)
    per_token = layer_bytes_per_token(models, strategies, constants)
    return {
        key: _stage_terms(models, strategies, constants, stage, key, part, per_token)
        for key, stage in stages(models, strategies, constants.stage_rule).items()
    }


def terms_at(models: ModelArrays, strategies: StrategyBatch, constants: MemoryConstants, index: Array) -> MemoryTerms:
    """:class:`MemoryTerms` of stage ``index`` (from 0, shape (n,), below pp); ``stage`` is that index."""
    part = counts.rank_layer(models, strategies)
    per_token = layer_bytes_per_token(models, strategies, constants)
    stage = stage_at(models, strategies, constants.stage_rule, index)
    return _stage_terms(models, strategies, constants, stage, stage.index, part, per_token)


def _stage_terms(
    m: ModelArrays,
    s: StrategyBatch,
    c: MemoryConstants,
    stage: Stage,
    index: int | Array,
    part: counts.RankLayer,
    per_token: tuple[Array, Array],
) -> MemoryTerms:
    parameters = stage_parameters(m, s, stage, part)
    if np.any(parameter_copies(s) > 1.0):
        # DualPipe: the rank holds the stage at the same distance from the other end as well; its logits are then on the first rank too
        mirror = stage_at(m, s, c.stage_rule, s.pp - 1.0 - stage.index)
        parameters = parameters.plus(stage_parameters(m, s, mirror, part), parameter_copies(s) - 1.0)
        stage = replace(stage, last=np.where(parameter_copies(s) > 1.0, np.maximum(stage.last, mirror.last), stage.last))
    static = static_terms(parameters, s, c)
    kept = activation_bytes(m, s, c, stage, per_token) + embedding_bytes(m, s, c, stage)
    away = offloaded(static, parameters, kept, layer_at_work_bytes(s, stage, per_token), s, c)
    activations = kept - away.activations
    logits = logit_bytes(m, s, c, stage)
    transients = transient_bytes(m, s, c)
    passing = activations + logits + transients
    step = np.maximum(static.step - passing, 0.0)
    terms = {
        "weights": static.weights - away.weights,
        "gradients": static.gradients,
        "optimizer": static.optimizer - away.optimizer,
        "activations": activations,
        "logits": logits,
        "transients": transients,
        "communication": static.communication,
        "step": step,
        "fragmentation": c.fragmentation * (passing + step),
        "reserve": np.asarray(c.reserve_bytes, dtype=np.float64),
        "stage": np.asarray(index, dtype=np.float64),
        "in_flight": stage.in_flight,
        "layers": stage.layers,
        "host_weights": away.weights,
        "host_optimizer": away.optimizer,
        "host_activations": away.activations,
    }
    shape = np.broadcast_shapes(*(np.shape(v) for v in terms.values()))
    return MemoryTerms(**{name: np.broadcast_to(value, shape) for name, value in terms.items()})

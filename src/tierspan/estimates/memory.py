"""Memory of cases on their heaviest rank, what the accelerator offers, and the probability of running out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tierspan.estimates.cases import Case
from tierspan.estimates.memory_risk import oom_probability
from tierspan.laws.memory import MemoryConstants, MemoryTerms, memory_priors
from tierspan.laws.memory.constants import fitted_memory
from tierspan.laws.memory.terms import heaviest, terms_at, terms_by_stage
from tierspan.specs.arrays import Array, ModelArrays, StrategyBatch

REFERENCE = "megatron-core"


@dataclass(frozen=True, slots=True)
class MemoryEstimate:
    """Terms and limits, shape (n,).

    ``usable_bytes`` is left for the framework, ``oom_probability`` that the peak exceeds it, ``host_bytes`` what a rank keeps on its
    host, the largest of the stages.
    """

    terms: MemoryTerms
    usable_bytes: Array
    oom_probability: Array
    measured_stack: tuple[bool, ...]
    host_bytes: Array


def memory_stack(case: Case) -> tuple[str, bool]:
    """Key of the memory constants of a case, and whether its peaks were checked on that stack or on one with the same engine.

    Megatron-Core was checked on the SimuMax runs; its launchers share it. Every other stack takes its constants unchecked.
    """
    name = case.stack.id
    if name == "nanotron":
        return "nanotron-fixed", True
    if name == "torchtitan":
        return ("torchtitan-staged" if case.strategy.pp > 1 else "torchtitan"), True
    return REFERENCE, name in (REFERENCE, "simumax-megatron", "megatron-bridge", "nemo", "mlperf-nemo", "megatron-lm")


def estimate_memory(cases: Sequence[Case], strategies: StrategyBatch | None = None) -> MemoryEstimate:
    """Memory of each case. With ``strategies`` the plans and jobs of one case are replaced by a batch of them (candidates of a search)."""
    names = [memory_stack(c) for c in cases]
    constants = [_constants(c, name) for c, (name, _) in zip(cases, names, strict=True)]
    batch = strategies or StrategyBatch.of([(c.strategy, c.job, c.cluster.accelerators) for c in cases])
    stacked = MemoryConstants.stack(constants)
    by_stage = terms_by_stage(ModelArrays.of([c.model for c in cases]), batch, stacked)
    terms = heaviest(by_stage)
    offered = np.array([c.cluster.accelerator.memory_usable_bytes or c.cluster.accelerator.memory_bytes for c in cases])
    usable = np.maximum(offered - np.asarray(stacked.outside_bytes), 1.0)
    # measured figures of the chosen stack lie off by what left-out models showed: the peak itself is told as the law gives it
    probability = oom_probability(names, np.log(usable / terms.reserved))
    return MemoryEstimate(
        terms=terms,
        usable_bytes=np.broadcast_to(usable, terms.reserved.shape),
        oom_probability=probability,
        measured_stack=tuple(checked for _, checked in names),
        host_bytes=np.max([np.broadcast_to(found.host, terms.reserved.shape) for found in by_stage.values()], axis=0),
    )


def estimate_stages(case: Case) -> dict[str, MemoryTerms]:
    """Memory of one case on its first, middle and last stage (one entry ``only`` without a pipeline), arrays of shape (1,)."""
    constants = _constants(case, memory_stack(case)[0])
    batch = StrategyBatch.of([(case.strategy, case.job, case.cluster.accelerators)])
    pp = case.strategy.pp
    places = {"only": 0} if pp == 1 else {"first": 0, **({"middle": pp // 2} if pp > 2 else {}), "last": pp - 1}
    models = ModelArrays.of([case.model])
    return {name: terms_at(models, batch, constants, np.array([float(index)])) for name, index in places.items()}


def _constants(case: Case, name: str) -> MemoryConstants:
    found = fitted_memory().get(name, memory_priors())
    if name != REFERENCE:
        return found
    return found.with_values({"gradient_bytes": case.stack.gradient_bytes, "flash": case.stack.flash_attention})

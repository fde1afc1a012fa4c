"""Memory of cases on their heaviest rank, what the accelerator offers, and the probability of running out."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

from tierspan.estimates.cases import Case
from tierspan.laws.memory import MemoryConstants, MemoryTerms, memory_priors, memory_terms
from tierspan.laws.memory.constants import fitted_memory
from tierspan.specs.arrays import Array, ModelArrays, StrategyBatch

REFERENCE = "megatron-core"
NORMAL_MEDIAN = 0.6745
"""Median of the absolute value of a standard normal variable: turns a median error into a standard deviation."""
UNCHECKED_SPREAD = 0.1
"""Least standard deviation (log) of the peak of a stack on which the law was never checked: about that of the widest nanotron variant; assumed."""


@dataclass(frozen=True, slots=True)
class MemoryEstimate:
    """Terms and limits, shape (n,): ``usable_bytes`` is left for the framework, ``oom_probability`` that the peak exceeds it."""

    terms: MemoryTerms
    usable_bytes: Array
    oom_probability: Array
    measured_stack: tuple[bool, ...]


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


@cache
def _residuals() -> dict[str, tuple[float, float]]:
    """Middle and standard deviation of log(measured / predicted) of the peak by memory stack, from the record of the memory fit."""
    text = resources.files("tierspan.laws.memory").joinpath("fitted.json").read_text(encoding="utf-8")
    errors = json.loads(text)["errors"]
    return {
        name: (-math.log1p(float(e["peak_bias"])), float(e["peak_median_ape"]) / NORMAL_MEDIAN)
        for name, e in errors.items()
        if e.get("peak_median_ape")
    }


def estimate_memory(cases: Sequence[Case], strategies: StrategyBatch | None = None) -> MemoryEstimate:
    """Memory of each case. With ``strategies`` the plans and jobs of one case are replaced by a batch of them (candidates of a search)."""
    names = [memory_stack(c) for c in cases]
    constants = [_constants(c, name) for c, (name, _) in zip(cases, names, strict=True)]
    batch = strategies or StrategyBatch.of([(c.strategy, c.job, c.cluster.accelerators) for c in cases])
    stacked = MemoryConstants.stack(constants)
    terms = memory_terms(ModelArrays.of([c.model for c in cases]), batch, stacked)
    offered = np.array([c.cluster.accelerator.memory_usable_bytes or c.cluster.accelerator.memory_bytes for c in cases])
    usable = np.maximum(offered - np.asarray(stacked.outside_bytes), 1.0)
    known = [_residuals()[name] for name, _ in names]
    middle = np.array([m for m, _ in known])
    sigma = np.array([s if checked else max(s, UNCHECKED_SPREAD) for (_, s), (_, checked) in zip(known, names, strict=True)])
    # where the law is known to be low the probability takes that into account; the peak itself is told as the law gives it
    over = (np.log(terms.reserved / usable) + middle) / sigma
    probability = np.array([0.5 * math.erfc(-x / math.sqrt(2.0)) for x in np.ravel(over)])
    return MemoryEstimate(terms, np.broadcast_to(usable, terms.reserved.shape), probability, tuple(checked for _, checked in names))


def _constants(case: Case, name: str) -> MemoryConstants:
    found = fitted_memory().get(name, memory_priors())
    if name != REFERENCE:
        return found
    return found.with_values({"gradient_bytes": case.stack.gradient_bytes, "flash": case.stack.flash_attention})

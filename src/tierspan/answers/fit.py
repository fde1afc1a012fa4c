"""``tierspan fit``: does it fit, with what margin, and what is the least that fits."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Literal, cast

import numpy as np

from tierspan.answers.predict import MEMORY_TERMS, case_of, case_view, memory_view, plan_findings
from tierspan.answers.question import Question, by_whole_share, resized
from tierspan.answers.results import Fitting, MemoryView, StageMemory
from tierspan.estimates.cases import Case, arrays_of
from tierspan.estimates.memory import estimate_memory, estimate_stages
from tierspan.laws.validity import valid
from tierspan.quantities.findings import Finding
from tierspan.specs.arrays import ClusterArrays, ModelArrays, StrategyBatch
from tierspan.specs.profile.profile import shipped_profile
from tierspan.specs.strategy import Job, Strategy

BORDERLINE = 0.05
"""Probability of running out from which a plan that fits counts as borderline."""
MOST_DOUBLINGS = 12


def fit(question: Question) -> Fitting:
    """Memory of the plan on its heaviest rank; smallest count, largest micro-batch and sequence that fit with the same parallel sizes."""
    case = case_of(question)
    arrays = arrays_of([case], shipped_profile())
    view = memory_view(estimate_memory([case]), 0, _hosted(question))
    findings = plan_findings(question, arrays, 0)
    invalid = any(f.severity == "error" for f in findings)
    status: Literal["fits", "borderline", "does not fit", "invalid"] = "fits"
    if invalid:
        status = "invalid"
    elif not view.fits:
        status = "does not fit"
    elif view.oom_probability > BORDERLINE:
        status = "borderline"
    micro = float(np.ravel(arrays.strategies.micro_batches)[0])
    return Fitting(
        status=status,
        case=case_view(question, micro),
        memory=view,
        stages=_stages(case, view.usable_bytes),
        smallest_accelerators=_smallest_count(question),
        largest_micro_batch=_largest(question, lambda q, v: replace(q, strategy=replace(q.strategy, micro_batch=v), job=_batch(q, v)), 1, 1024),
        largest_sequence_length=_largest(question, _with_sequence, _sequence_unit(question), 4096),
        remedies=() if status == "fits" else tuple(_remedies(question, view)),
        assumptions=question.assumptions,
        findings=findings,
    )


def _hosted(q: Question) -> int:
    """Ranks that share a host."""
    return min(q.cluster.node_size, q.cluster.accelerators)


def _stages(case: Case, usable_bytes: float) -> tuple[StageMemory, ...]:
    """Memory of the first, the middle and the last stage."""
    out = []
    for name, terms in estimate_stages(case).items():
        value = {term: float(getattr(terms, term)[0]) for term in MEMORY_TERMS}
        total = float(terms.reserved[0])
        out.append(
            StageMemory(
                stage=cast("Literal['only', 'first', 'middle', 'last']", name),
                layers=float(terms.layers[0]),
                in_flight=float(terms.in_flight[0]),
                allocated_bytes=float(terms.allocated[0]),
                total_bytes=total,
                fits=total <= usable_bytes,
                terms=value,
            )
        )
    return tuple(out)


def _batch(q: Question, micro_batch: int) -> Job:
    """A global batch that the larger micro-batch divides: memory does not depend on how many micro-batches follow each other."""
    dp = max(q.cluster.accelerators // (q.strategy.tp * q.strategy.pp * q.strategy.cp), 1)
    count = max(q.job.global_batch // (dp * q.strategy.micro_batch), 1)
    return replace(q.job, global_batch=dp * micro_batch * count)


def _with_sequence(q: Question, length: int) -> Question:
    return replace(q, job=replace(q.job, sequence_length=length))


def _sequence_unit(q: Question) -> int:
    """Sequences are tried in steps of 1,024 tokens, or of what context and tensor parallelism must divide."""
    step = q.strategy.cp * q.strategy.tp
    return step * max(1024 // step, 1)


def _fits(questions: list[Question]) -> np.ndarray:
    """Which of the questions fit, in one evaluation."""
    memory = estimate_memory([case_of(q) for q in questions])
    return np.asarray(memory.terms.reserved <= memory.usable_bytes)


def _valid(questions: list[Question]) -> np.ndarray:
    """Which of the plans break no rule."""
    return valid(
        ModelArrays.of([q.model for q in questions]),
        StrategyBatch.of([(q.strategy, q.job, q.cluster.accelerators) for q in questions]),
        ClusterArrays.of([q.cluster for q in questions]),
    )


def _largest(question: Question, change: Callable[[Question, int], Question], unit: int, most: int) -> int | None:
    """The largest multiple of ``unit``, up to ``most`` of them, that fits; None where even one does not.

    Memory grows with it, so a bisection finds it.
    """
    if not _fits([change(question, unit)])[0]:
        return None
    low, high = 1, most
    if _fits([change(question, unit * most)])[0]:
        return unit * most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _fits([change(question, unit * middle)])[0] else (low, middle)
    return unit * low


def _smallest_count(question: Question) -> int | None:
    """The smallest multiple of tp * pp * cp on which the plan is valid and fits (sharded states shrink as it grows)."""
    s = question.strategy
    group = s.tp * s.pp * s.cp
    micro = 1 if by_whole_share(question) else s.micro_batch
    dps = [d for d in range(1, question.job.global_batch // micro + 1) if question.job.global_batch % (d * micro) == 0]
    reach = question.cluster.tiers[-1].domain_size or math.inf
    dps = [d for d in dps if group * d <= reach]
    candidates = [resized(replace(question, strategy=_shard(s, d)), replace(question.cluster, accelerators=group * d)) for d in dps[:512]]
    if not candidates:
        return None
    good = _valid(candidates) & _fits(candidates)
    places = np.flatnonzero(good)
    return candidates[int(places[0])].cluster.accelerators if places.size else None


def _shard(strategy: Strategy, dp: int) -> Strategy:
    group = strategy.shard_group
    return replace(strategy, shard_group=None) if group is not None and dp * strategy.cp < group else strategy


def _can_double_tp(question: Question) -> bool:
    """Whether twice the tensor parallelism stays inside the domain and divides the heads."""
    tp = question.strategy.tp * 2
    return tp <= (question.cluster.tiers[0].domain_size or tp) and question.model.heads % tp == 0


def _remedies(question: Question, view: MemoryView) -> list[Finding]:
    """Changes that make the plan fit, each tried, with the peak that follows; none that makes it break a rule."""
    s, out = question.strategy, []
    tries = {
        "fit.remedy.recompute": replace(s, recompute="full") if s.recompute != "full" else None,
        "fit.remedy.micro_batch": replace(s, micro_batch=1) if s.micro_batch > 1 else None,
        "fit.remedy.zero1": replace(s, zero=1) if s.zero == 0 else None,
        "fit.remedy.zero3": replace(s, zero=3) if s.zero < 3 and s.pp == 1 else None,
        "fit.remedy.offload": replace(s, optimizer_offload=1.0) if s.optimizer_offload < 1.0 else None,
        "fit.remedy.tp": replace(s, tp=s.tp * 2) if _can_double_tp(question) else None,
        "fit.remedy.pp": replace(s, pp=s.pp * 2) if s.pp * 2 <= question.model.layers else None,
        "fit.remedy.cp": replace(s, cp=s.cp * 2),
    }
    for name, strategy in tries.items():
        if strategy is None:
            continue
        tried = replace(question, strategy=strategy)
        if not _valid([tried])[0]:
            continue
        changed = memory_view(estimate_memory([case_of(tried)]), 0, _hosted(tried))
        if changed.total_bytes < 0.97 * view.total_bytes:
            values = {"total_gb": round(changed.total_bytes / 1e9, 1), "fits": changed.fits, "tp": strategy.tp, "pp": strategy.pp, "cp": strategy.cp}
            out.append(Finding(name, "info", values))
    return sorted(out, key=lambda f: (not f.values["fits"], f.values["total_gb"]))

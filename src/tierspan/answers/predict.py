"""``tierspan predict``: how long a step takes, what fills it tier by tier, whether it fits, and how far off such answers were."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tierspan.answers.neighbours import nearest_measurements
from tierspan.answers.pairs import pair_between
from tierspan.answers.question import Question
from tierspan.answers.results import CaseView, GroupPlacement, HostMemory, MemoryView, Prediction, Term, TierView, Traffic, TrainingView
from tierspan.answers.volumes import Volumes, volumes
from tierspan.estimates.bounds import bounds_of_case, measured_accelerator
from tierspan.estimates.cases import Case, arrays_of
from tierspan.estimates.memory import MemoryEstimate, estimate_memory
from tierspan.estimates.regimes import regime_of
from tierspan.estimates.step import Cases, StepEstimate, estimate_step, network_of
from tierspan.laws.groups import group_span
from tierspan.laws.parameters import parameter_counts
from tierspan.laws.validity import explain
from tierspan.quantities.findings import Assumption, Finding
from tierspan.specs.arrays import Array, peak
from tierspan.specs.precision import PRECISIONS
from tierspan.specs.profile.profile import Profile, shipped_profile
from tierspan.specs.stacks.stack import stack
from tierspan.specs.tier_rules import tier_findings

UNMEASURED = ("zb-h1", "zb-h2", "dualpipe")
"""Schedules that no measured run of the fit used."""
KINDS = ("tp", "cp", "ep", "pp", "dp")
STAGES = ("first", "second", "last")
MEMORY_TERMS = ("weights", "gradients", "optimizer", "activations", "logits", "transients", "communication", "step", "fragmentation", "reserve")


def predict(question: Question, *, profile: Profile | None = None, timeline: bool = False, pairs: Sequence[tuple[int, int]] = ()) -> Prediction:
    """Predict one training step; with ``timeline`` it is also played task by task; ``pairs`` of ranks are told with the tier between them.

    Raises:
        InputError: a rank of a pair is none of this cluster, or a pair names one rank twice.
    """
    found = predict_many([question], profile=profile)[0]
    if pairs:
        found = replace(found, pairs=tuple(pair_between(question, found.tiers, *pair) for pair in pairs))
    if not timeline or found.status == "invalid":
        return found
    from tierspan.answers.played import timeline_view

    return replace(found, timeline=timeline_view(question, case_of(question), found.traffic, profile or shipped_profile()))


def predict_many(questions: Sequence[Question], *, profile: Profile | None = None) -> tuple[Prediction, ...]:
    """Predict several jobs in one evaluation."""
    constants = profile or shipped_profile()
    cases = [case_of(q) for q in questions]
    arrays = arrays_of(cases, constants)
    estimate = estimate_step(arrays)
    memory = estimate_memory(cases)
    sent = volumes(arrays)
    return tuple(_answer(i, q, c, arrays, estimate, sent, memory, constants) for i, (q, c) in enumerate(zip(questions, cases, strict=True)))


def case_of(question: Question) -> Case:
    """The case behind a question."""
    return Case(question.model, question.cluster, question.job, question.strategy, stack(question.stack))


def case_view(question: Question, micro_batches: float) -> CaseView:
    """What was asked, in names and counts."""
    c, s, j = question.cluster, question.strategy, question.job
    counts = parameter_counts(question.model)
    return CaseView(
        system=c.system.id if c.system else c.accelerator.id, accelerator=c.accelerator.id, accelerators=c.accelerators, node_size=c.node_size,
        model=question.model.id, parameters_total=counts.total, parameters_active=counts.active, stack=question.stack,
        sequence_length=j.sequence_length, global_batch=j.global_batch, precision=j.precision, strategy=s,
        dp=max(c.accelerators // (s.tp * s.pp * s.cp), 1), micro_batches=micro_batches,
    )  # fmt: skip


HOST_TERMS = {"optimizer": "host_optimizer", "activations": "host_activations", "weights": "host_weights"}


def memory_view(memory: MemoryEstimate, i: int, node_size: int) -> MemoryView:
    """Memory of row i by term; ``node_size`` ranks share a host."""
    total, usable = _at(memory.terms.reserved, i), _at(memory.usable_bytes, i)
    return MemoryView(
        total_bytes=total, usable_bytes=usable, margin_bytes=usable - total, fits=total <= usable, oom_probability=_at(memory.oom_probability, i),
        heaviest_stage=STAGES[int(_at(memory.terms.stage, i))], terms={name: _at(getattr(memory.terms, name), i) for name in MEMORY_TERMS},
        allocated_bytes=_at(memory.terms.allocated, i), host=_host(memory, i, node_size),
    )  # fmt: skip


def _host(memory: MemoryEstimate, i: int, node_size: int) -> HostMemory | None:
    """Host memory that offloading takes, None without; no system of the catalogue states how much a host has."""
    rank = _at(memory.host_bytes, i)
    if rank <= 0.0:
        return None
    terms = {name: _at(getattr(memory.terms, field), i) for name, field in HOST_TERMS.items()}
    return HostMemory(terms=terms, bytes_per_rank=rank, bytes_per_node=rank * node_size)


def plan_findings(question: Question, arrays: Cases, i: int) -> tuple[Finding, ...]:
    """Rules that the plan breaks, and units that the accelerator lacks."""
    row = np.array([i])
    one = [a if a.rows == 1 else a.take(row) for a in (arrays.models, arrays.strategies, arrays.clusters)]
    found = [*explain(one[0], one[1], one[2]), *tier_findings(question.cluster)]  # type: ignore[arg-type]
    if np.isnan(peak(question.cluster, question.job.precision)):
        known = ", ".join(p for p in PRECISIONS if not np.isnan(peak(question.cluster, p)))
        values = {"accelerator": question.cluster.accelerator.name, "precision": question.job.precision, "known": known}
        found.insert(0, Finding("strategy.precision", "error", values))
    return tuple(found)


def _at(values: Array, i: int) -> float:
    return float(values[i] if values.shape[-1] > 1 else np.ravel(values)[0])


def _answer(i: int, q: Question, case: Case, arrays: Cases, e: StepEstimate, sent: Volumes, memory: MemoryEstimate, profile: Profile) -> Prediction:
    findings = plan_findings(q, arrays, i)
    invalid = any(f.severity == "error" for f in findings)
    step = float("nan") if invalid else _at(e.step_time_s, i)
    tiers = q.cluster.tiers
    traffic = {} if invalid else {(kind, t): _at(v, i) for (kind, t), v in e.traffic.items() if t < len(tiers)}
    regime = regime_of(case, _at(e.host_bound, i) > 0)
    bounds, basis = bounds_of_case(profile, case, regime)
    tokens = q.job.global_batch * q.job.sequence_length
    flops = _at(e.flops_per_step, i)
    n = q.cluster.accelerators
    power = q.cluster.accelerator.power_W
    view = memory_view(memory, i, min(q.cluster.node_size, q.cluster.accelerators))
    band = (step * bounds.low, step * bounds.high) if bounds else (float("nan"), float("nan"))
    terms = () if invalid else _terms(e, i, traffic, tiers, step)
    binds = _binds(terms)
    return Prediction(
        status="invalid" if invalid else "predicted" if view.fits else "does not fit",
        case=case_view(q, _at(e.micro_batches, i)),
        step_time_s=step, low_s=band[0], high_s=band[1],
        tokens_per_s=tokens / step, tokens_per_s_per_accelerator=tokens / step / n, mfu=flops / step / n / peak(q.cluster, q.job.precision),
        model_flops_per_step=flops, power_W=None if power is None else power * n,
        terms=terms, traffic=() if invalid else _traffic(e, sent, i, traffic, tiers), placement=() if invalid else _placement(q, arrays, i),
        tiers=_tier_views(q, arrays, i, traffic),
        binds=binds[0], binds_share=binds[1], memory=view, regime=regime, interval_basis=basis,
        assumptions=(*q.assumptions, *_own_assumptions(case, profile, memory.measured_stack[i])),
        findings=findings, sources=_sources(q), neighbours=nearest_measurements(case), profile_version=profile.version,
        training=None if q.job.tokens is None or not math.isfinite(step) else training_view(q, (step, *band)),
    )  # fmt: skip


def training_view(question: Question, step_s: tuple[float, float, float]) -> TrainingView:
    """Training on the tokens of the question; ``step_s`` is the step time with the ends of its interval."""
    tokens, n, power = question.job.tokens or 0.0, question.cluster.accelerators, question.cluster.accelerator.power_W
    steps = math.ceil(tokens / (question.job.global_batch * question.job.sequence_length))
    time, low, high = (steps * each for each in step_s)
    return TrainingView(tokens, steps, time, low, high, n * time / 3600.0, None if power is None else n * power * time)


def _terms(e: StepEstimate, i: int, traffic: dict[tuple[str, int], float], tiers: Sequence[object], step: float) -> tuple[Term, ...]:
    out = [Term(name, _at(v, i), _at(v, i) / step) for name, v in e.terms.items() if name not in KINDS]
    out += [Term(kind, v, v / step, getattr(tiers[t], "name", "")) for (kind, t), v in traffic.items()]
    return tuple(sorted((t for t in out if t.seconds > 0), key=lambda t: -t.seconds))


def _binds(terms: Sequence[Term]) -> tuple[str, float]:
    """The largest part of the step (traffic of one kind over all tiers together) and its share."""
    share = {t.name: 0.0 for t in terms}
    for t in terms:
        share[t.name] += t.share
    name = max(share, key=lambda k: share[k], default="")
    return name, share.get(name, float("nan"))


def _traffic(e: StepEstimate, sent: Volumes, i: int, traffic: dict[tuple[str, int], float], tiers: Sequence[object]) -> tuple[Traffic, ...]:
    """Traffic by kind and tier, the one that takes time first; a tier that only carries bytes of it stands without a time."""
    out = []
    for kind in KINDS:
        mine = {t: v for (k, t), v in traffic.items() if k == kind and v > 0}
        total = sum(mine.values())
        hidden = _at(e.hidden[kind], i) if kind in e.hidden else 0.0
        carried = [t for (k, t), size in sent.sent.items() if k == kind and t < len(tiers) and t not in mine and _at(size, i) > 0]
        for t in (*mine, *carried):
            seconds, size, each = mine.get(t, 0.0), sent.sent.get((kind, t)), sent.of_layer(kind, t)
            out.append(
                Traffic(
                    kind, getattr(tiers[t], "name", ""), seconds, hidden * seconds / total if total else 0.0,
                    0.0 if size is None else _at(size, i), None if each is None else _at(each, i),
                )
            )  # fmt: skip
    return tuple(out)


def _placement(q: Question, arrays: Cases, i: int) -> tuple[GroupPlacement, ...]:
    s, domain = arrays.strategies, arrays.clusters.domain_size
    sizes = {
        "tp": (s.tp, s.tp_stride), "cp": (s.cp, s.cp_stride), "ep": (s.ep, s.ep_stride), "pp": (s.pp, s.pp_stride),
        "dp": (s.dp * s.cp, np.minimum(s.cp_stride, s.dp_stride)), "shard": (s.shard_group, np.minimum(s.cp_stride, s.dp_stride)),
    }  # fmt: skip
    out = []
    for kind, (size, stride) in sizes.items():
        group = group_span(size, stride, domain)
        count = int(_at(group.size, i))
        if count <= 1 or (kind == "shard" and count >= _at(s.dp * s.cp, i)):
            continue
        tier = q.cluster.tiers[min(int(_at(group.span, i)), len(q.cluster.tiers) - 1)]
        members = group.members[0]
        out.append(GroupPlacement(kind, count, int(_at(np.broadcast_to(stride, size.shape), i)), tier.name, int(_at(members, i))))
    return tuple(out)


def _tier_views(q: Question, arrays: Cases, i: int, traffic: dict[tuple[str, int], float]) -> tuple[TierView, ...]:
    network = network_of(arrays)
    card = q.cluster.accelerator
    top = peak(q.cluster, q.job.precision)
    out = []
    for t, tier in enumerate(q.cluster.tiers):
        size = q.cluster.accelerators if tier.domain_size is None else min(tier.domain_size, q.cluster.accelerators)
        share = _at(network.bandwidth_Bps[min(t, network.tiers - 1)], i) if t < network.tiers else tier.bandwidth_Bps
        exposed = sum(v for (_, at), v in traffic.items() if at == t)
        held, rate = size * card.memory_bytes, size * top
        out.append(
            TierView(
                tier.name, tier.kind, size, tier.bandwidth_Bps, share, tier.latency_s, tier.transport, tier.memory_semantics, held, rate, exposed
            )
        )
    return tuple(out)


def _own_assumptions(case: Case, profile: Profile, memory_checked: bool) -> list[Assumption]:
    """What the model itself takes for granted in this case."""
    keys = case.keys
    out = [Assumption("placement", "aligned", "predict.aligned")]
    if not profile.known("gemm_efficiency", keys):
        value = round(profile.value("gemm_efficiency", keys), 3)
        measured = bool(keys.accelerator.achievable)
        reason = "predict.accelerator_from_ceiling" if measured else "predict.accelerator_from_prior"
        out.append(Assumption("gemm_efficiency", value, reason, {"accelerator": keys.accelerator.name, "precision": keys.precision, "value": value}))
    if not profile.known("stack_factor", keys):
        out.append(Assumption("stack", case.stack.family, "predict.stack_of_family", {"stack": case.stack.name, "family": case.stack.family}))
    if not measured_accelerator(profile, case) and profile.known("gemm_efficiency", keys):
        design = {"accelerator": keys.accelerator.name, "design": keys.accelerator.architecture}
        out.append(Assumption("accelerator", keys.accelerator.architecture, "predict.accelerator_of_design", design))
    if case.model.attention_sinks and not case.stack.fuses_sinks:
        out.append(Assumption("attention", "scores written", "predict.sinks_unfused", {"stack": case.stack.name}))
    if case.strategy.schedule in UNMEASURED:
        out.append(Assumption("schedule", case.strategy.schedule, "predict.schedule_unmeasured"))
    if not memory_checked:
        out.append(Assumption("memory", "megatron-core", "predict.memory_of_reference", {"stack": case.stack.name}))
    return out


def _sources(q: Question) -> tuple[str, ...]:
    """Where the figures of the cluster and the model were read."""
    facts = [*q.cluster.accelerator.facts, *(f for t in q.cluster.tiers for f in t.facts)]
    used = [f.source.reference for f in facts if f.used]
    return tuple(dict.fromkeys([*used, *([q.model.source] if q.model.source else [])]))

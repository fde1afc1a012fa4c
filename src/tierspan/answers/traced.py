"""``predict --trace``: the step played task by task, as a trace with one rank for each pipeline stage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tierspan.answers.predict import case_of, plan_findings
from tierspan.answers.question import Question
from tierspan.engines.timeline import Schedule, Task, Timeline, make_schedule
from tierspan.engines.timeline import Span as PlayedSpan
from tierspan.engines.timeline.layers import layers_along, layers_by_cost
from tierspan.estimates.cases import arrays_of
from tierspan.estimates.layer import Cases
from tierspan.estimates.timeline import estimate_timeline
from tierspan.laws.counts import dense_layer_parameters, head_parameters
from tierspan.quantities.errors import InputError
from tierspan.specs.arrays import Array
from tierspan.specs.hardware import Tier
from tierspan.specs.profile.profile import Profile, shipped_profile
from tierspan.specs.trace import Arrow, Counter, Pass, PassKind, Span, SpanKind, Stream, Trace, TraceRank

COMPUTE, HOST, FIRST_TIER = 0, 1, 2
_PASS: dict[str, PassKind] = {"F": "forward", "B": "input_gradient", "W": "weight_gradient"}
_INSIDE: dict[str, SpanKind] = {"tp": "tp", "cp": "cp", "ep": "ep"}


def trace(question: Question, *, profile: Profile | None = None) -> Trace:
    """Play one step of ``question`` and keep everything that ran.

    Args:
        question: what runs where, and how it is cut.
        profile: constants; the shipped ones where none are given.

    Raises:
        InputError: the plan cannot run, or has no schedule (micro-batches that are no whole number).
    """
    constants = profile or shipped_profile()
    case = case_of(question)
    cases = arrays_of([case], constants)
    broken = [finding.id for finding in plan_findings(question, cases, 0) if finding.severity == "error"]
    if broken:
        raise InputError("trace.invalid", rules=", ".join(broken))
    found = estimate_timeline(case, constants, record=True)
    played, s, b = found.timeline, question.strategy, cases.strategies
    schedule = make_schedule(s.schedule, s.pp, round(float(b.micro_batches[0])), s.vpp)
    ranks = _ranks(schedule, played, round(float(b.pp_stride[0])), _layers_along(cases))
    spans = _spans(played, ranks, len(question.cluster.tiers))
    return Trace(
        system=question.cluster.system.id if question.cluster.system else question.cluster.accelerator.id, model=question.model.id,
        stack=question.stack, precision=question.job.precision, sequence_length=question.job.sequence_length,
        global_batch=question.job.global_batch, accelerators=question.cluster.accelerators, strategy=s, schedule=played.schedule,
        dp=round(float(b.dp[0])), micro_batches=schedule.micro_batches, profile_version=constants.version,
        makespan_s=played.makespan_s, step_time_s=found.step_time_s, outside_s=found.outside_s, bubble_s=played.bubble_s,
        ranks=ranks, streams=_streams(question.cluster.tiers), spans=spans, arrows=_arrows(schedule, ranks, spans),
        counters=tuple(_in_flight(rank.rank, spans, schedule.chunk_share) for rank in ranks),
    )  # fmt: skip


def _streams(tiers: Sequence[Tier]) -> tuple[Stream, ...]:
    own = (Stream(COMPUTE, "compute", "compute"), Stream(HOST, "host", "host"))
    return (*own, *(Stream(FIRST_TIER + i, "tier", tier.name) for i, tier in enumerate(tiers)))


def _layers_along(cases: Cases) -> tuple[float, ...]:
    """Layers of every place in model order, as the timeline deals them (prediction heads included)."""
    m, s = cases.models, cases.strategies
    layers, stages = _first(m.layers + m.mtp_layers), round(_first(s.pp))
    if _first(cases.stacks.balances_stages) > 0 and stages > 1:
        return layers_by_cost(round(layers), _first(head_parameters(m) / dense_layer_parameters(m)), stages)
    return layers_along(layers, stages, round(_first(s.vpp)), ends_count=_first(m.mtp_layers) == 0)


def _ranks(schedule: Schedule, played: Timeline, stride: int, along: Sequence[float]) -> tuple[TraceRank, ...]:
    """The rank 0 of every other group stands for a stage."""
    first = [round(sum(along[:i])) for i in range(len(along))]
    chunks = max(chunk for _, chunk in schedule.position) + 1
    out = []
    for stage in range(schedule.stages):
        places = [schedule.position[stage, chunk][1] for chunk in range(chunks)]
        layers = tuple((first[i], first[i] + round(along[i]) - 1) if along[i] > 0 else None for i in places)
        out.append(TraceRank(stage * stride, stage, layers, played.stage_end_s[stage]))
    return tuple(out)


def _spans(played: Timeline, ranks: Sequence[TraceRank], tiers: int) -> tuple[Span, ...]:
    out = [span for rank in ranks for one in played.stages[rank.stage] for span in _spans_of(one, rank.rank, tiers)]
    return tuple(sorted(out, key=lambda x: (x.rank, x.stream, x.start_s, -x.end_s, x.kind)))


def _spans_of(one: PlayedSpan, rank: int, tiers: int) -> Iterator[Span]:
    """The span of a stage; a block that sends forward and backward sends two messages."""
    name, _, number = one.stream.partition(" ")
    stream = FIRST_TIER + min(int(number), tiers - 1) if name == "tier" else HOST if name == "host" else COMPUTE

    def made(kind: SpanKind, tasks: Iterable[Task], share: float = 1.0) -> Span:
        return Span(rank, stream, one.start_s, one.end_s, kind, _passes(tasks), one.chunk, one.exposed_s * share)

    if one.kind == "block":
        passes = _passes(one.tasks)
        yield made("pair" if len(passes) > 1 else passes[0].kind, one.tasks)
    elif one.kind == "send":
        for task in one.tasks:
            yield made("activation_send" if task.kind == "F" else "gradient_send", (task,), 1.0 / len(one.tasks))
    elif one.kind == "inside":
        yield made(_INSIDE[one.traffic], one.tasks)
    elif one.kind == "gather":
        yield made("parameter_gather", one.tasks)
    elif one.kind == "reduce":
        yield made("gradient_reduce", one.tasks)
    else:
        yield made(one.kind, one.tasks)


def _passes(tasks: Iterable[Task]) -> tuple[Pass, ...]:
    """Gradients of input and weight of the same micro-batch, one after the other, are one backward pass."""
    out: list[Pass] = []
    for task in tasks:
        if task.kind == "W" and out and out[-1] == Pass("input_gradient", task.micro_batch, task.chunk):
            out[-1] = Pass("backward", task.micro_batch, task.chunk)
        else:
            out.append(Pass(_PASS[task.kind], task.micro_batch, task.chunk))
    return tuple(out)


def _arrows(schedule: Schedule, ranks: Sequence[TraceRank], spans: Sequence[Span]) -> tuple[Arrow, ...]:
    """Every result that leaves its stage, from its send to the task that waited for it."""
    stage_of = {rank.rank: rank.stage for rank in ranks}
    ran: dict[tuple[int, bool, int, int], int] = {}
    sent: dict[tuple[int, bool, int, int], int] = {}
    for index, span in enumerate(spans):
        where = ran if span.stream == COMPUTE else sent if span.kind in ("activation_send", "gradient_send") else None
        for one in span.passes if where is not None else ():
            if one.kind != "weight_gradient":
                where[stage_of[span.rank], one.kind == "forward", one.micro_batch, one.chunk] = index  # type: ignore[index]
    out = []
    for (stage, ahead, micro_batch, chunk), index in ran.items():
        route, i = schedule.position[stage, chunk]
        other = i + 1 if ahead else i - 1
        if not 0 <= other < len(schedule.routes[route]) or schedule.routes[route][other][0] == stage:
            continue
        to_stage, to_chunk = schedule.routes[route][other]
        source = sent.get((stage, ahead, micro_batch, chunk), index)
        out.append(Arrow("activation" if ahead else "gradient", micro_batch, source, ran[to_stage, ahead, micro_batch, to_chunk]))
    return tuple(sorted(out, key=lambda arrow: (spans[arrow.source].start_s, arrow.source, arrow.target)))


def _in_flight(rank: int, spans: Iterable[Span], chunk_share: float) -> Counter:
    """Micro-batches whose activations a stage keeps: from the start of the forward pass until the gradient of the weight is there."""
    changes: dict[float, int] = {0.0: 0}
    for span in spans:
        if span.rank != rank or span.stream != COMPUTE:
            continue
        for one in span.passes:
            if one.kind == "forward":
                changes[span.start_s] = changes.get(span.start_s, 0) + 1
            elif one.kind in ("backward", "weight_gradient"):
                changes[span.end_s] = changes.get(span.end_s, 0) - 1
    held, points = 0, []
    for at in sorted(changes):
        held += changes[at]
        points.append((at, held * chunk_share))
    return Counter(rank, "in_flight", tuple(points))


def _first(values: Array) -> float:
    return float(values.flat[0])

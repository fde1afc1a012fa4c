"""One case on the timeline engine: the same times and traffic of a layer as the closed form, put together by playing the schedule."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tierspan.engines.timeline import Bulk, ChunkWork, Inside, Piece, Send, Timeline, Work, make_schedule, play
from tierspan.engines.timeline.layers import layers_along, layers_by_cost
from tierspan.estimates.cases import Case, arrays_of
from tierspan.estimates.exchange import BulkTraffic, bulk_traffic, sends_held
from tierspan.estimates.layer import Cases, Pieces, forward_share, layer_passes, logits_passes, pieces_of
from tierspan.estimates.step import estimate_step
from tierspan.laws.counts import dense_layer_parameters, head_parameters
from tierspan.laws.groups import GroupSpan
from tierspan.quantities.errors import InputError
from tierspan.specs.arrays import Array
from tierspan.specs.profile.constants import Constants
from tierspan.specs.profile.profile import Profile


@dataclass(frozen=True, slots=True)
class TimelineEstimate:
    """A step by both methods, seconds.

    ``step_time_s`` is that of the timeline with what lies outside a pipeline (``outside_s``: constant, waits and stragglers) as in the closed form;
    ``difference`` is ``step_time_s / closed_form_s - 1``.
    """

    step_time_s: float
    closed_form_s: float
    difference: float
    outside_s: float
    timeline: Timeline


def estimate_timeline(case: Case, profile: Profile | Constants, *, contention: float = 1.0, record: bool = False) -> TimelineEstimate:
    """Play one step of ``case``.

    Args:
        case: a valid plan (see ``laws.validity``).
        profile: constants, as for ``estimate_step``.
        contention: compute takes so many times as long while traffic runs beside it; the closed form knows none, so 1 compares like with like.
        record: keep the spans of every stage.

    Raises:
        InputError: the plan has no schedule (micro-batches that are no whole number, sizes that the schedule does not take).
    """
    cases = arrays_of([case], profile)
    estimate = estimate_step(cases)
    closed = float(estimate.step_time_s[0])
    micro_batches = float(cases.strategies.micro_batches[0])
    if abs(micro_batches - round(micro_batches)) > 1e-9:
        raise InputError("timeline.count", field="micro_batches", value=micro_batches)
    s = case.strategy
    schedule = make_schedule(s.schedule, s.pp, round(micro_batches), s.vpp)
    played = play(schedule, step_work(case, cases, contention), record=record)
    constants = cases.constants
    nodes = max(case.cluster.accelerators / case.cluster.node_size, 1.0)
    inside = played.step_s + _first(constants.step_constant_s) + _first(estimate.terms["wait"])
    step = inside * (1.0 + _first(constants.jitter) * float(np.log2(nodes)))
    return TimelineEstimate(step, closed, step / closed - 1.0, step - played.step_s, played)


def step_work(case: Case, cases: Cases, contention: float = 1.0) -> Work:
    """What the engine plays for row 0 of ``cases``, which is ``case``."""
    s = case.strategy
    # the engine hides the traffic of overlapped pairs itself
    pieces = pieces_of(cases, relieve=False)
    bulk = bulk_traffic(cases, pieces.network, pieces.stages)
    heaviest = max(_first(pieces.stages.heaviest), 1e-9)
    along = _along(cases, pieces)
    layer = _layer(cases, pieces)
    head = [_first(value) for value in logits_passes(pieces).parts]
    transfers = _transfers(cases, bulk)
    places = [_chunk(n, n / heaviest, layer, head if i == len(along) - 1 else None, transfers) for i, n in enumerate(along)]
    rows: list[tuple[int, ...]]
    if s.schedule == "dualpipe" and s.pp > 1:
        rows = [(i, s.pp - 1 - i) for i in range(s.pp)]
    else:
        rows = [tuple(range(i, len(along), s.pp)) for i in range(s.pp)]
    ends = [_first(bulk.optimizer_s) * sum(along[i] for i in row) / heaviest for row in rows]
    if s.schedule == "dualpipe" and s.pp > 1:
        ends = [end / 2.0 for end in ends]  # the copies share the optimizer's work as replicas do
    send = Send(_first(bulk.send), _tier(bulk.pp, cases), _first(sends_held(cases))) if s.pp > 1 else Send()
    return Work(tuple(tuple(places[i] for i in row) for row in rows), send, tuple(ends), contention=contention)


def _along(cases: Cases, pieces: Pieces) -> tuple[float, ...]:
    """Layers of every place in model order, as the stack deals them (see ``estimates.layer``)."""
    m, s, layers = cases.models, cases.strategies, _first(pieces.layers)
    stages, chunks = int(_first(s.pp)), int(_first(s.vpp))
    if _first(cases.stacks.balances_stages) > 0 and stages > 1:
        return layers_by_cost(round(layers), _first(head_parameters(m) / dense_layer_parameters(m)), stages)
    return layers_along(layers, stages, chunks, ends_count=_first(m.mtp_layers) == 0)


class _Layer(NamedTuple):
    """Compute seconds of the three passes of a layer, and its traffic forward and backward."""

    compute: tuple[float, float, float]
    forward: tuple[Inside, ...]
    backward: tuple[Inside, ...]


def _layer(cases: Cases, pieces: Pieces) -> _Layer:
    recompute = cases.strategies.recompute
    passes = [_first(value) for value in layer_passes(cases, pieces).parts]
    forward, backward = [], []
    hidden = {kind: _first(value) for kind, value in pieces.traffic.hidden.items()}
    for kind, tier, seconds in pieces.traffic.by_tier:
        shown = _first(seconds)
        if shown <= 0:
            continue
        ahead = float(forward_share(kind, recompute)[0])
        beside = hidden.get(kind, 0.0)
        forward.append(Inside(kind, tier, shown * ahead, beside * ahead))
        backward.append(Inside(kind, tier, shown * (1.0 - ahead), beside * (1.0 - ahead)))
    # launches stretch the whole layer, traffic included; what is traffic keeps its own time, the rest counts as compute
    f = max(passes[0] - sum(x.exposed_s for x in forward), 0.0)
    b = max(passes[1] - sum(x.exposed_s for x in backward), 0.0)
    return _Layer((f, b, passes[2]), tuple(forward), tuple(backward))


class _Transfers(NamedTuple):
    """Parameters and gradients of the heaviest stage."""

    first: tuple[Bulk, ...]
    gather: Bulk | None
    scatter: Bulk | None
    reduce: tuple[Bulk, ...]


def _transfers(cases: Cases, bulk: BulkTraffic) -> _Transfers:
    s, k = cases.strategies, cases.constants
    shard, whole, experts = (_tier(group, cases) for group in (bulk.shard, bulk.whole, bulk.expert_group))
    grads_overlap, params_overlap = _first(s.overlap_grad_reduce) > 0, _first(s.overlap_param_gather) > 0
    least = _first(k.dp_exposed)

    def made(cost: Array, tier: int, overlaps: bool, least: float) -> tuple[Bulk, ...]:
        seconds = _first(cost)
        shown = least if overlaps else 1.0
        return (Bulk((1.0 - shown) * seconds, tier, exposed_s=shown * seconds),) if seconds > 0 else ()

    many = _first(s.dp * s.cp) > 1
    zero = _first(s.zero)
    if zero == 3:
        fsdp = _first(k.fsdp_exposed)
        gather = made(bulk.gather / 2.0, shard, params_overlap, fsdp)
        scatter = made(bulk.scatter, shard, params_overlap, fsdp)
        across = made(bulk.across, whole, grads_overlap, least) if many else ()
        return _Transfers((), gather[0] if gather else None, scatter[0] if scatter else None, across)
    over_all = zero == 0 or _first(bulk.across) > _first(bulk.inside)
    grads = made(bulk.grads, whole if over_all else shard, grads_overlap, least) if many else ()
    params = made(bulk.params, shard, params_overlap, least) if many else ()
    expert_grads = made(bulk.expert_grads, experts, grads_overlap, least)
    expert_params = made(bulk.expert_params, experts, params_overlap, least)
    if zero == 2 and grads:
        return _Transfers((*params, *expert_params), None, grads[0], expert_grads)
    return _Transfers((*params, *expert_params), None, None, (*grads, *expert_grads))


def _chunk(layers: float, share: float, layer: _Layer, head: list[float] | None, transfers: _Transfers) -> ChunkWork:
    """``layers`` layers, ``share`` of the heaviest stage's parameters, and the output layer where the chunk is the last of the model."""
    f, b, w = (layers * seconds + (head[i] if head else 0.0) for i, seconds in enumerate(layer.compute))

    def inside(parts: tuple[Inside, ...]) -> tuple[Inside, ...]:
        return tuple(replace(x, exposed_s=layers * x.exposed_s, hidden_s=layers * x.hidden_s) for x in parts)

    def part(bulk: Bulk) -> Bulk:
        return replace(bulk, seconds=share * bulk.seconds, exposed_s=share * bulk.exposed_s, parts=max(round(layers), 1))

    return ChunkWork(
        Piece(f, inside(layer.forward)), Piece(b, inside(layer.backward)), Piece(w),
        first=tuple(part(x) for x in transfers.first), gather=part(transfers.gather) if transfers.gather else None,
        scatter=part(transfers.scatter) if transfers.scatter else None, reduce=tuple(part(x) for x in transfers.reduce),
    )  # fmt: skip


def _first(values: Array) -> float:
    return float(np.ravel(values)[0])


def _tier(group: GroupSpan, cases: Cases) -> int:
    return min(int(_first(group.span)), cases.tiers - 1)

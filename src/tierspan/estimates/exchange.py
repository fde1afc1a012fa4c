"""Traffic of a step: what each kind of parallelism sends, on which tier it runs, and how much of it compute hides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tierspan.laws.collectives import Network, all_reduce_s, all_to_all_s, gather_s, ring_latency_s, send_s
from tierspan.laws.counts import embedding_parameters, expert_replicas, rank_layer
from tierspan.laws.groups import GroupSpan, group_span
from tierspan.laws.pipeline import StageLayers
from tierspan.specs.arrays import Array
from tierspan.specs.strategy import OF_STACK

if TYPE_CHECKING:
    from tierspan.estimates.layer import Cases

Parts = tuple[tuple[str, int, Array], ...]


@dataclass(frozen=True, slots=True)
class LayerExchange:
    """Exposed traffic of one layer and micro-batch in s; a full recompute sends the forward part once more, which is counted."""

    exposed: Array
    by_tier: Parts
    hidden: dict[str, Array]


@dataclass(frozen=True, slots=True)
class StepExchange:
    """Traffic once a step (pipeline sends, gradients, parameters) in s, and the optimizer."""

    by_tier: Parts
    hidden: dict[str, Array]
    optimizer_s: Array


def on_tiers(kind: str, seconds: Array, group: GroupSpan, tiers: int) -> Parts:
    """Book the time of a collective on the tier that its group spans."""
    return tuple((kind, t, seconds * group.on_tier(t)) for t in range(tiers))


def layer_exchange(cases: Cases, network: Network, moe_share: Array) -> LayerExchange:
    """Tensor, context and expert parallel traffic of one layer and micro-batch, forward and backward."""
    m, s, k, domain = cases.models, cases.strategies, cases.constants, cases.clusters.domain_size
    tokens = s.micro_batch * s.sequence_length / s.cp
    tp = group_span(s.tp, s.tp_stride, domain)
    activation = 2.0 * tokens * m.hidden
    # two pairs a layer forward and two backward; with sequence parallelism the backward gathers once more for the weight gradient
    pair = np.where(s.sp > 0, 2.0 * gather_s(activation, tp, network), all_reduce_s(activation, tp, network))
    mlp_split = np.where(s.etp < s.tp, 1.0 - moe_share, 1.0)
    pairs = np.where(s.tp > 1, 1.0 + mlp_split, 0.0)
    left = k.tp_exposed * np.where(s.overlap_tp > 0, k.tp_overlap_left, 1.0)
    again = np.where(s.recompute == 2, 1.0, 0.0)
    tp_all = (2.0 + again) * pairs * pair
    # Where a collective leaves the domain its ranks wait for the slowest at every domain crossed. It is sent in chunks: the best cut of V bytes
    # over a path with wait a takes (sqrt(V / B) + sqrt(a))^2, so that the wait costs a + 2 sqrt(a V / B) beyond the wire.
    wait = np.maximum(s.tp / tp.members[0] - 1.0, 0.0) * k.rank_skew_s
    calls = np.where(s.sp > 0, 2.0, 1.0)
    tp_seconds = left * tp_all + (2.0 + again) * pairs * calls * (
        k.tp_call_s * (1.0 - cases.stacks.host_driven) + wait + 2.0 * np.sqrt(wait * pair / calls)
    )
    parts = on_tiers("tp", tp_seconds, tp, network.tiers)
    hidden = {"tp": (1.0 - left) * tp_all}
    exposed = tp_seconds

    if np.any(s.cp > 1):
        cp = group_span(s.cp, s.cp_stride, domain)
        width = np.where(m.kv_lora_rank > 0, m.kv_lora_rank + m.rope_head_dim, np.maximum(m.kv_heads / s.tp, 1.0) * (m.head_dim + m.v_head_dim))
        # keys and values go once round forward; backward they go round again with their gradients
        one_way = gather_s(2.0 * tokens * s.cp * width, cp, network)
        cp_all = np.where(s.cp > 1, (3.0 + again) * one_way, 0.0)
        cp_seconds = k.cp_exposed * cp_all
        parts += on_tiers("cp", cp_seconds, cp, network.tiers)
        hidden["cp"] = cp_all - cp_seconds
        exposed = exposed + cp_seconds

    if np.any((s.ep > 1) & (m.experts > 0)):
        ep = group_span(s.ep, s.ep_stride, domain)
        # the busiest rank receives so many times the mean, and sends as much back
        rows = tokens / s.tp * m.topk * m.hidden * s.expert_imbalance
        once = np.where(s.dispatcher == OF_STACK, cases.stacks.dispatch_once, s.dispatcher) > 0
        send = all_to_all_s(rows * cases.stacks.dispatch_bytes, ep, network)
        back = all_to_all_s(rows * 2.0, ep, network)
        active = np.where((s.ep > 1) & (m.experts > 0), moe_share, 0.0)
        slowest = np.zeros_like(active)
        binding = np.zeros_like(active)
        times = []
        for t in range(network.tiers):
            # such a dispatcher sends a token once to a remote domain, and inside it once to each rank, however many of its experts live there
            places = np.maximum(s.ep / ep.inner_members(t), 1.0)
            reached = places * (1.0 - (1.0 - 1.0 / places) ** np.maximum(m.topk, 1.0))
            share = np.where(once, np.minimum(reached / np.maximum(m.topk, 1.0), 1.0), 1.0)
            times.append((2.0 + again) * share * (send[t] + back[t]) * active)
            binding = np.where(times[-1] > slowest, float(t), binding)
            slowest = np.maximum(slowest, times[-1])
        for t in range(network.tiers):
            value = k.ep_exposed * np.where(binding == t, slowest, 0.0)
            parts += (("ep", t, value),)
        hidden["ep"] = slowest * (1.0 - k.ep_exposed)
        exposed = exposed + k.ep_exposed * slowest
    return LayerExchange(exposed, parts, hidden)


def buckets(elements: Array, cases: Cases, ranks: Array) -> Array:
    """Number of collectives that a stack cuts ``elements`` parameters into."""
    size = np.maximum(cases.stacks.bucket_elements, cases.stacks.bucket_elements_per_rank * ranks)
    return np.maximum(np.ceil(elements / size), 1.0)


@dataclass(frozen=True, slots=True)
class BulkTraffic:
    """What parameters and gradients of the heaviest rank cost in s before any overlap, shape (n,), and the groups they run in.

    ``grads`` (``inside`` the sharding group and ``across`` groups, staged) and ``params`` once a step, experts apart; ``gather`` and
    ``scatter`` are those of ZeRO-3, each time; ``send`` is one message between stages.
    """

    send: Array
    pp: GroupSpan
    grads: Array
    inside: Array
    across: Array
    params: Array
    expert_grads: Array
    expert_params: Array
    gather: Array
    scatter: Array
    shard: GroupSpan
    whole: GroupSpan
    expert_group: GroupSpan
    optimizer_s: Array


def bulk_traffic(cases: Cases, network: Network, stages: StageLayers) -> BulkTraffic:
    """Cost of every message and collective of parameters and gradients, before any of it overlaps."""
    m, s, k, domain = cases.models, cases.strategies, cases.constants, cases.clusters.domain_size
    tokens = s.micro_batch * s.sequence_length / s.cp
    pp = group_span(s.pp, s.pp_stride, domain)
    # tensor-parallel ranks share the send: each moves its part (scatter and gather, Narayanan et al. 2021 section 4.1)
    send = send_s(2.0 * tokens * m.hidden / s.tp, pp, network)

    dense, expert = rank_parameters(cases, stages)
    trained = np.where(s.lora > 0, k.lora_share, 1.0)
    group_size = s.dp * s.cp
    shard = group_span(np.minimum(s.shard_group, group_size), np.minimum(s.cp_stride, s.dp_stride), domain)
    replicas = group_span(group_size / shard.size, np.minimum(s.cp_stride, s.dp_stride) * shard.size, domain)
    whole = group_span(group_size, np.minimum(s.cp_stride, s.dp_stride), domain)
    expert_size = expert_replicas(s)
    expert_group = group_span(expert_size, s.ep_stride * s.ep, domain)

    bulk = replace(network, latency_s=network.latency_s * k.bulk_latency)

    def reduce_scatter(elements: Array, group: GroupSpan) -> Array:
        extra = (buckets(elements, cases, group.size) - 1.0) * ring_latency_s(group, bulk)
        return gather_s(elements * cases.stacks.gradient_bytes, group, bulk) + extra

    one_by_one = stages.heaviest * cases.stacks.gathered_tensors

    def gather(elements: Array, group: GroupSpan) -> Array:
        in_buckets = (buckets(elements, cases, group.size) - 1.0) * ring_latency_s(group, bulk)
        return gather_s(elements * 2.0, group, bulk) + np.where(one_by_one > 0, one_by_one * ring_latency_s(group, network), in_buckets)

    plain = all_reduce_s(dense * cases.stacks.gradient_bytes, whole, bulk)
    across = trained * np.where(replicas.size > 1, all_reduce_s(dense / shard.size * cases.stacks.gradient_bytes, replicas, bulk), 0.0)
    in_shard = np.where(shard.size > 1, 1.0, 0.0)
    # the reduction inside the sharding group and the one across groups run on different links, bucket after bucket: the slower one shows
    inside = trained * in_shard * reduce_scatter(dense, shard)
    staged = np.maximum(inside, across) + np.minimum(inside, across) / buckets(dense, cases, shard.size)
    grads = np.where(s.zero == 0, plain * trained, staged)
    params = np.where(s.zero == 0, 0.0, in_shard * gather(dense, shard)) * trained
    expert_active = np.where((expert > 0) & (expert_size > 1), trained, 0.0)
    expert_grads = expert_active * np.where(
        s.zero == 0, all_reduce_s(expert * cases.stacks.gradient_bytes, expert_group, bulk), reduce_scatter(np.maximum(expert, 1.0), expert_group)
    )
    expert_params = expert_active * np.where(s.zero == 0, 0.0, gather(np.maximum(expert, 1.0), expert_group))
    gathers = gather(dense + expert, shard) * 2.0 * in_shard
    scatters = trained * reduce_scatter(dense + expert, shard) * in_shard
    held = dense * trained / np.where(s.zero > 0, shard.size, 1.0) + expert * trained / np.where(
        s.zero > 0, np.maximum(np.minimum(expert_size, shard.size), 1.0), 1.0
    )
    bandwidth = cases.clusters.memory_bandwidth_Bps * k.memory_efficiency
    return BulkTraffic(
        send, pp, grads, inside, across, params, expert_grads, expert_params, gathers, scatters, shard, whole, expert_group,
        held * k.optimizer_bytes / bandwidth,
    )  # fmt: skip


def sends_held(cases: Cases) -> Array:
    """Share of a message between stages that holds up the sender, shape (n,)."""
    k = cases.constants
    return np.minimum(k.pp_exposed * np.where(cases.strategies.overlap_p2p > 0, 1.0, k.p2p_unoverlapped), 1.0)


def step_exchange(
    cases: Cases, network: Network, micro_batches: Array, stages: StageLayers, layer_forward: Array, layer_backward: Array
) -> StepExchange:
    """Pipeline sends, gradient reduction, parameter gathers and the optimizer of one step on the heaviest rank."""
    s, k, tiers = cases.strategies, cases.constants, network.tiers
    bulk = bulk_traffic(cases, network, stages)
    grads, params, across = bulk.grads, bulk.params, bulk.across
    sends = np.where(s.pp > 1, 2.0 * s.vpp * micro_batches * sends_held(cases) + 2.0 * (s.pp - 1.0), 0.0)
    parts = on_tiers("pp", sends * bulk.send, bulk.pp, tiers)
    hidden = {"pp": np.where(s.pp > 1, 2.0 * s.vpp * micro_batches + 2.0 * (s.pp - 1.0) - sends, 0.0) * bulk.send}

    fully = s.zero == 3
    work_f, work_b = stages.heaviest * layer_forward, stages.heaviest * layer_backward
    repeats = np.where(s.zero == 2, micro_batches, 1.0)

    def exposed_of(cost: Array, window: Array, overlapped: Array, least: Array) -> Array:
        return np.where(overlapped > 0, least * cost + np.maximum((1.0 - least) * cost - window, 0.0), cost)

    early = np.where(s.zero == 2, 0.0, np.minimum(s.pp, micro_batches) * (s.vpp - 1.0))

    def exposed_once(cost: Array, window: Array, overlapped: Array, least: Array) -> Array:
        """With chunks, all but one are done a group of micro-batches early: only the last chunk's part, or what the group does not cover, shows."""
        rest, chunk = (1.0 - least) * cost, window / s.vpp
        shown = np.maximum(np.maximum(rest / s.vpp - chunk, rest - chunk - early * chunk), 0.0)
        return np.where(overlapped > 0, least * cost + shown, cost)

    once_g = exposed_once(grads * repeats, work_b * repeats, s.overlap_grad_reduce, k.dp_exposed)
    once_p = exposed_once(params, work_f, s.overlap_param_gather, k.dp_exposed)
    # the two groups share the window of the last backward pass: experts come after the dense part
    expert_g = exposed_of(bulk.expert_grads, np.maximum(work_b - grads, 0.0), s.overlap_grad_reduce, k.dp_exposed)
    expert_p = exposed_of(bulk.expert_params, np.maximum(work_f - params, 0.0), s.overlap_param_gather, k.dp_exposed)
    gathers = bulk.gather + bulk.scatter
    per_micro = exposed_of(gathers, work_f + work_b, s.overlap_param_gather, k.fsdp_exposed)
    last = exposed_once(across, work_b, s.overlap_grad_reduce, k.dp_exposed)
    # what stays inside the sharding group runs on its tier; gradients are booked where the slower of their two stages runs
    in_groups = np.where(fully, micro_batches * per_micro, once_p + np.where(across > bulk.inside, 0.0, once_g))
    over_all = np.where(fully, last, np.where((across > bulk.inside) | (s.zero == 0), once_g, 0.0))
    in_groups = np.where(s.zero == 0, once_p, in_groups)
    total = np.where(fully, micro_batches * gathers + across, grads * repeats + params)
    many = np.where(s.dp * s.cp > 1, 1.0, 0.0)
    parts += on_tiers("dp", many * in_groups, bulk.shard, tiers)
    parts += on_tiers("dp", many * over_all, bulk.whole, tiers)
    parts += on_tiers("dp", np.where(fully, 0.0, expert_g + expert_p), bulk.expert_group, tiers)
    hidden["dp"] = many * (total - in_groups - over_all) + np.where(fully, 0.0, bulk.expert_grads + bulk.expert_params - expert_g - expert_p)
    return StepExchange(parts, hidden, bulk.optimizer_s)


def rank_parameters(cases: Cases, stages: StageLayers) -> tuple[Array, Array]:
    """Parameters on the heaviest rank apart from ZeRO: (all but routed experts, routed experts)."""
    m = cases.models
    moe = 1.0 - m.dense_layers / m.layers
    layer = rank_layer(m, cases.strategies)
    dense = stages.heaviest * (layer.attention + (1.0 - moe) * layer.dense_mlp + moe * layer.moe_shared)
    return dense + embedding_parameters(m) / cases.strategies.tp, stages.heaviest * moe * layer.experts

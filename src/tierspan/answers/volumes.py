"""What a rank sends in a step, by kind of parallelism and by tier: bytes beside the seconds.

The convention is that of payload volume: a rank's share of every collective, whatever algorithm carries it. For ``V`` bytes in a group of ``n``
an all-gather or a reduce-scatter sends ``(n - 1)/n V`` and an all-reduce, counted as the two of them, ``2 (n - 1)/n V``; an all-to-all sends
all that is not meant for the rank itself; a send is a send (Thakur, Rabenseifner, Gropp 2005; Rajbhandari et al. 2020, section 7, for ZeRO).
Headers, retries and what a switch that reduces saves are not in it. The plans and messages are those that ``estimates.exchange`` times.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tierspan.estimates.exchange import rank_parameters
from tierspan.estimates.layer import Cases, pieces_of
from tierspan.laws.counts import expert_replicas
from tierspan.laws.groups import GroupSpan, group_span
from tierspan.laws.schedules import model_copies
from tierspan.specs.arrays import Array
from tierspan.specs.strategy import OF_STACK

_OF_A_LAYER = ("tp", "cp", "ep")


@dataclass(frozen=True, slots=True)
class Volumes:
    """Bytes that a rank sends in a step, by (kind, tier index), shape (n,) each.

    Of ``layer_visits`` (layers of the mean stage x micro-batches) each sends the same tensor, context and expert parallel bytes.
    """

    sent: dict[tuple[str, int], Array]
    layer_visits: Array

    def of_layer(self, kind: str, tier: int) -> Array | None:
        """Bytes of one layer and micro-batch, forward and backward; None for traffic that is not a layer's."""
        return self.sent[kind, tier] / self.layer_visits if kind in _OF_A_LAYER else None


def volumes(cases: Cases) -> Volumes:
    """Bytes that a rank sends in a step, for every row at once.

    TP, CP and EP are those of a rank of the mean stage, with expert imbalance of the busiest one; PP of a stage between two others; DP of
    the rank with the most parameters. Kinds that a plan does not have are zero.

    - TP: two exchanges of the activations (``2 T h`` bytes) a layer in each direction, one in a MoE layer whose experts are whole on a rank; each
      an all-reduce or, with sequence parallelism, an all-gather and a reduce-scatter. The gather that some stacks repeat for the weight
      gradient is not counted. A full recompute sends the forward part once more.
    - CP: keys and values gathered once forward and twice backward (they return with their gradients).
    - EP: dispatch and combine, forward and backward, of ``k`` copies of a token (fewer where the dispatcher sends one to a domain).
    - PP: activations forward and their gradients backward, each tensor-parallel rank its part, for every chunk and micro-batch.
    - DP: an all-reduce of the gradients (ZeRO 0); reduce-scatter of the gradients and all-gather of the parameters (ZeRO 1; ZeRO 2 reduces
      in each micro-batch); two gathers and a reduce-scatter in each micro-batch (ZeRO 3); with smaller sharding groups an all-reduce across.
    """
    m, s, domain = cases.models, cases.strategies, cases.clusters.domain_size
    pieces = pieces_of(cases, relieve=False)
    visits = pieces.micro_batches * pieces.layers / s.pp
    tokens = s.micro_batch * s.sequence_length / s.cp
    again = np.where(s.recompute == 2, 1.0, 0.0)
    sent: dict[tuple[str, int], Array] = {}

    def book(kind: str, size: Array, group: GroupSpan) -> None:
        for t in range(cases.tiers):
            sent[kind, t] = sent.get((kind, t), 0.0) + size * ring_share(group, t)

    tp = group_span(s.tp, s.tp_stride, domain)
    pairs = np.where(s.etp < s.tp, 2.0 - pieces.moe_share, 2.0)
    book("tp", visits * (2.0 + again) * pairs * both_ways(2.0 * tokens * m.hidden, tp), tp)

    cp = group_span(s.cp, s.cp_stride, domain)
    width = np.where(m.kv_lora_rank > 0, m.kv_lora_rank + m.rope_head_dim, np.maximum(m.kv_heads / s.tp, 1.0) * (m.head_dim + m.v_head_dim))
    book("cp", visits * (3.0 + again) * one_way(2.0 * tokens * s.cp * width, cp), cp)

    for t, size in enumerate(_expert_bytes(cases, tokens)):
        sent["ep", t] = visits * pieces.moe_share * (2.0 + again) * size

    pp = group_span(s.pp, s.pp_stride, domain)
    book("pp", np.where(s.pp > 1, 2.0 * s.vpp * pieces.micro_batches * 2.0 * tokens * m.hidden / s.tp, 0.0), pp)

    stages = replace(pieces.stages, heaviest=pieces.stages.heaviest * model_copies(s.schedule))
    dense, expert = rank_parameters(cases, stages)
    for size, group in _data_parallel(cases, dense, expert, pieces.micro_batches):
        book("dp", size, group)
    return Volumes(sent, visits)


def one_way(size: Array, group: GroupSpan) -> Array:
    """Bytes a rank sends in an all-gather or reduce-scatter of ``size`` bytes (the whole): ``(n - 1)/n x size``."""
    return size * (group.size - 1.0) / group.size


def both_ways(size: Array, group: GroupSpan) -> Array:
    """Bytes a rank sends in an all-reduce of ``size`` bytes, counted as reduce-scatter and all-gather."""
    return 2.0 * one_way(size, group)


def ring_share(group: GroupSpan, tier: int) -> Array:
    """Part of a ring's bytes that runs on a tier, 0 to 1, shape (n,): rings on all rails leave a domain of k members once in k steps.

    The parts of all tiers add up to 1.
    """
    crossing = 1.0 / group.inner_members(tier)
    within = np.where(group.span > tier, 1.0 / group.members[tier], 0.0)
    return np.where(group.span >= tier, crossing - within, 0.0)


def _expert_bytes(cases: Cases, tokens: Array) -> list[Array]:
    """Dispatch and combine of one MoE layer and micro-batch by tier, one direction; zero without experts on several ranks."""
    m, s = cases.models, cases.strategies
    group = group_span(s.ep, s.ep_stride, cases.clusters.domain_size)
    rows = tokens / s.tp * m.topk * m.hidden * s.expert_imbalance
    once = np.where(s.dispatcher == OF_STACK, cases.stacks.dispatch_once, s.dispatcher) > 0
    out = []
    for t in range(cases.tiers):
        inner = group.inner_members(t)
        places = np.maximum(s.ep / inner, 1.0)
        reached = places * (1.0 - (1.0 - 1.0 / places) ** np.maximum(m.topk, 1.0))
        copies = np.where(once, np.minimum(reached / np.maximum(m.topk, 1.0), 1.0), 1.0)
        crosses = np.where(group.span >= t, (group.members[t] - inner) / group.size, 0.0)
        out.append(np.where(m.experts > 0, rows * (cases.stacks.dispatch_bytes + 2.0) * copies * crosses, 0.0))
    return out


def _data_parallel(cases: Cases, dense: Array, expert: Array, micro_batches: Array) -> list[tuple[Array, GroupSpan]]:
    """Bytes of gradients and parameters in a step, each with the group that exchanges them."""
    s, domain, wire = cases.strategies, cases.clusters.domain_size, cases.stacks.gradient_bytes
    stride = np.minimum(s.cp_stride, s.dp_stride)
    ranks = s.dp * s.cp
    whole = group_span(ranks, stride, domain)
    shard = group_span(np.minimum(s.shard_group, ranks), stride, domain)
    across = group_span(ranks / shard.size, stride * shard.size, domain)
    experts = group_span(expert_replicas(s), s.ep_stride * s.ep, domain)
    trained = np.where(s.lora > 0, cases.constants.lora_share, 1.0)
    repeats = np.where(s.zero == 2, micro_batches, 1.0)
    none, fully = s.zero == 0, s.zero == 3

    plain = np.where(none, both_ways(dense * wire, whole), 0.0)
    held = dense + np.where(fully, expert, 0.0)
    reduced = one_way(held * wire, shard) * np.where(fully, micro_batches, repeats)
    gathered = one_way(held * 2.0, shard) * np.where(fully, 2.0 * micro_batches / trained, 1.0)
    rest = both_ways(dense / shard.size * wire, across) * repeats
    mine = np.where(none, both_ways(expert * wire, experts), one_way(expert * (wire + 2.0), experts))
    return [
        (trained * plain, whole),
        (trained * np.where(none, 0.0, reduced + gathered), shard),
        (trained * np.where(none, 0.0, rest), across),
        (trained * np.where(fully, 0.0, mine), experts),
    ]

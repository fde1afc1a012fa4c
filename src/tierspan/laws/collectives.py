"""Time of collectives on the tiers, first version: ring, tree, in-switch reduction, all-to-all by tier, point to point.

Volumes and times follow Thakur, Rabenseifner, Gropp (2005), "Optimization of Collective Communication Operations in MPICH": a ring moves
``(g - 1) / g`` of the data once for all-gather and reduce-scatter and twice for all-reduce. On tiers, a ring that leaves a domain runs on all
rails: with ``k`` members inside the inner domain it crosses the outer tier at ``k`` times the bandwidth of one accelerator, and is
held by the slowest tier it touches. Latency adds one hop of the tier for every step taken on it (a ring enters each inner domain once).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tierspan.laws.groups import GroupSpan
from tierspan.specs.arrays import MAX_TIERS, Array


@dataclass(frozen=True, slots=True)
class Network:
    """What collectives see of a cluster; fields of tiers have shape (tiers, n).

    ``bandwidth_Bps`` is achievable, per direction and accelerator; ``in_switch_share`` and ``ring_decay`` are constants of shape (n,).
    """

    bandwidth_Bps: Array
    pair_bandwidth_Bps: Array
    latency_s: Array
    in_network_reduction: Array
    in_switch_share: Array
    ring_decay: Array
    tree_share: Array
    tiers: int = MAX_TIERS


def ring_bandwidth_Bps(group: GroupSpan, network: Network) -> Array:
    """Bandwidth of a ring per rank: the smallest, over the tiers it touches, of inner members x bandwidth; shape (n,).

    In a mesh a rank reaches each peer of its domain over the links of that pair alone: ``members - 1`` pairs at most.
    """
    in_mesh = network.pair_bandwidth_Bps[0] * np.maximum(group.members[0] - 1.0, 1.0)
    rate: Array = np.minimum(network.bandwidth_Bps[0], in_mesh)
    for t in range(1, network.tiers):
        crossing = group.inner_members(t) * network.bandwidth_Bps[t]
        rate = np.where(group.span >= t, np.minimum(rate, crossing), rate)
    return rate


def ring_latency_s(group: GroupSpan, network: Network) -> Array:
    """Latency of one trip round the ring: ``(g - 1)`` steps, of which each tier takes those that cross its inner domains; shape (n,)."""
    total = np.zeros_like(group.size)
    above = np.zeros_like(group.size)
    for t in range(network.tiers - 1, -1, -1):
        # steps of the ring that cross domains of the tier below, less those already counted on the tiers above
        crossings = np.where(group.span >= t, np.ceil(group.size / group.inner_members(t)) - 1.0, 0.0)
        total = total + (crossings - above) * network.latency_s[t]
        above = crossings
    return total


def tree_latency_s(group: GroupSpan, network: Network) -> Array:
    """Depth of a tree over the tiers: a chain inside the innermost domain, log2 of the domains above; shape (n,)."""
    total: Array = np.minimum(group.members[0] - 1.0, 1.0 + np.log2(np.maximum(group.members[0], 1.0))) * network.latency_s[0]
    for t in range(1, network.tiers):
        domains = np.where(group.span >= t, group.members[t] / group.members[t - 1], 1.0)
        total = total + np.ceil(np.log2(np.maximum(domains, 1.0))) * network.latency_s[t]
    return total


def gather_s(bytes_total: Array, group: GroupSpan, network: Network) -> Array:
    """All-gather or reduce-scatter of ``bytes_total`` (the whole, as after the gather) in s: ``V (g-1)/g / bandwidth + latency``.

    The faster of a ring and of parallel aggregated trees, which have a latency of logarithmic depth and ``tree_share`` of the rate.

    Over many domains either loses ``ring_decay`` of its rate with each doubling of the domains (chunks shrink, every link waits for the
    slowest); an all-reduce does not, it runs as a tree there.
    """
    g = group.size
    domains = np.ceil(g / group.members[0])
    slower = 1.0 + network.ring_decay * np.log2(domains)
    wire = bytes_total * (g - 1.0) / g / ring_bandwidth_Bps(group, network) * slower
    faster: Array = np.minimum(wire + ring_latency_s(group, network), wire / network.tree_share + tree_latency_s(group, network))
    return faster


def all_reduce_s(bytes_total: Array, group: GroupSpan, network: Network) -> Array:
    """All-reduce of ``bytes_total`` per rank in s: the faster of ring and double tree, or the switch where it reduces.

    In-switch reduction (NVLS) sends the data once and receives it once, so a rank moves ``V (g+1)/g`` in place of ``2 V (g-1)/g``; it pays from
    about eight ranks on. A double tree moves ``2 V`` at ring rate and pays only the depth in latency.
    """
    g = group.size
    rate = ring_bandwidth_Bps(group, network)
    ring = 2.0 * bytes_total * (g - 1.0) / g / rate + 2.0 * ring_latency_s(group, network)
    tree = 2.0 * bytes_total / rate + 2.0 * tree_latency_s(group, network)
    best = np.minimum(ring, tree)
    in_switch = bytes_total * (g + 1.0) / g / (rate * network.in_switch_share) + 2.0 * network.latency_s[0]
    usable = (network.in_network_reduction[0] > 0) & (group.span == 0) & (g >= 6)
    return np.where(g > 1, np.where(usable, np.minimum(best, in_switch), best), 0.0)


def all_to_all_s(bytes_sent: Array, group: GroupSpan, network: Network) -> tuple[Array, ...]:
    """Uniform all-to-all, one time per tier (they run side by side): ``bytes_sent`` is what a rank sends to all members, itself included.

    Of ``g`` equal parts, ``members[t] - members[t-1]`` cross tier ``t``; each rank sends on its own port. The step takes the slowest tier.
    Latency: one hop a peer group on the outermost tier plus one per tier (peers are served in parallel channels).
    """
    g = group.size
    out = []
    for t in range(network.tiers):
        inner = group.inner_members(t)
        share = np.where(group.span >= t, (group.members[t] - inner) / g, 0.0)
        wire = np.where(
            t == 0,
            np.minimum(network.bandwidth_Bps[0], network.pair_bandwidth_Bps[0] * np.maximum(group.members[0] - 1.0, 1.0)),
            network.bandwidth_Bps[t],
        )
        out.append(
            np.where(share > 0, bytes_sent * share / wire + network.latency_s[t] * (1.0 + np.log2(np.maximum(group.members[t] / inner, 1.0))), 0.0)
        )
    return tuple(out)


def send_s(bytes_sent: Array, group: GroupSpan, network: Network) -> Array:
    """Point-to-point send to the next rank of the group in s, on the slowest tier that the group spans."""
    rate = np.zeros_like(group.size)
    latency = np.zeros_like(group.size)
    for t in range(network.tiers):
        here = group.on_tier(t)
        rate = rate + here * np.where(t == 0, network.pair_bandwidth_Bps[0], network.bandwidth_Bps[t])
        latency = latency + here * network.latency_s[t]
    return np.where(group.size > 1, bytes_sent / rate + latency, 0.0)

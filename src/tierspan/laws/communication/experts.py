"""Dispatch and combine of expert parallelism over two tiers."""

from __future__ import annotations

import numpy as np

from tierspan.laws.communication.base import Array


def low_latency_s(
    token_bytes: Array, tokens: Array, topk: Array, ranks: Array, members: Array, up_Bps: Array, net_Bps: Array, start_s: Array
) -> Array:
    """One low-latency dispatch or combine in s: every copy goes straight from its token's rank to its expert's rank.

    t = start + max(V (k-1)/n / up, V (n-k)/n / net), V = tokens x topk x bytes of a token, k ranks of the n in one domain, experts drawn evenly.
    Rates are achieved ones in bytes/s. The two tiers work at once.
    """
    volume = tokens * topk * token_bytes
    inside = volume * (members - 1.0) / ranks / up_Bps
    across = volume * (ranks - members) / ranks / np.maximum(net_Bps, 1.0)
    total: Array = start_s + np.maximum(inside, across * (ranks > members))
    return total


def domains_hit(topk: Array, domains: Array, limit: Array) -> Array:
    """Expected number of distinct domains among ``topk`` evenly drawn experts: D (1 - (1 - 1/D)^topk), at most ``limit`` (group-limited gating)."""
    expected = domains * (1.0 - (1.0 - 1.0 / domains) ** topk)
    least: Array = np.minimum(expected, np.minimum(limit, domains))
    return least


def normal_s(
    token_bytes: Array, tokens: Array, topk: Array, limit: Array, ranks: Array, members: Array, up_Bps: Array, net_Bps: Array, start_s: Array
) -> Array:
    """One normal (high-throughput) dispatch or combine in s: a token crosses to each domain once and is copied inside it.

    Network: tokens x (domains hit - the own one's share) x bytes; scale-up: tokens x copies inside x bytes. Both are
    pipelined over the same cores: they join as the root of the sum of squares, between the slower one and the sum.
    """
    domains = ranks / members
    hit = domains_hit(topk, domains, limit)
    across = tokens * hit * (domains - 1.0) / domains * token_bytes / np.maximum(net_Bps, 1.0)
    spread = domains_hit(topk, ranks, ranks)
    inside = tokens * spread * (members - 1.0) / members * token_bytes / up_Bps
    total: Array = start_s + np.hypot(inside, across * (domains > 1))
    return total

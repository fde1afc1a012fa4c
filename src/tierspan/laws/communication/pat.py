"""Parallel aggregated trees: all_gather and reduce_scatter in a logarithmic number of crossings, one rank a domain (NCCL 2.23)."""

from __future__ import annotations

from tierspan.laws.communication.base import Setting, Walk, log2_steps


def pat(operation: str, s: Setting) -> Walk:
    """Hops ceil(log2 N), bytes (n-1)/n S; only with one rank in each domain."""
    valid = (s.members == 1) & (s.groups > 1) & (operation in ("all_gather", "reduce_scatter"))
    return Walk(s.ranks * 0.0, log2_steps(s.groups), s.size_bytes * 0.0, s.size_bytes * (s.ranks - 1.0) / s.ranks, valid)

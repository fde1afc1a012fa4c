"""Recursive doubling: partners at distance 1, 2, 4 ... exchange what they have (Thakur, Rabenseifner, Gropp 2005)."""

from __future__ import annotations

from tierspan.laws.communication.base import Setting, Walk, log2_steps

ROUNDS = {"all_reduce": 2.0, "all_gather": 1.0, "reduce_scatter": 1.0}


def recursive_doubling(operation: str, s: Setting) -> Walk:
    """Rounds times ceil(log2 n) hops; the exchanges inside a domain are those at distances below its members.

    Bytes: inside rounds (k-1)/k of what a domain's members hold, across rounds (N-1)/N S (each rank sends over its own NIC).
    """
    rounds = ROUNDS.get(operation, 1.0)
    inside = log2_steps(s.members)
    valid = (s.ranks > 1) & (operation in ROUNDS)
    return Walk(
        rounds * inside,
        rounds * (log2_steps(s.ranks) - inside) * (s.groups > 1),
        rounds * s.size_bytes * (s.members - 1.0) / s.ranks,
        rounds * s.size_bytes * (s.ranks - s.members) / s.ranks,
        valid,
    )

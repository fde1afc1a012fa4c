"""Ring: bandwidth-optimal, as many hops as ranks (Patarasuk and Yuan 2009)."""

from __future__ import annotations

from tierspan.laws.communication.base import Setting, Walk, yes

ROUNDS = {"all_reduce": 2.0, "all_gather": 1.0, "reduce_scatter": 1.0}


def ring(operation: str, s: Setting) -> Walk:
    """all_reduce goes round twice, all_gather and reduce_scatter once, broadcast and reduce once and whole.

    Bytes of a rank: rounds (n-1)/n S, or S for broadcast and reduce. A domain has one ring per NIC, each carries its part, so the network of a
    rank carries 1/members of it: a ring that crosses domains runs at min(scale-up, members x NIC). Hops: rounds (n-1), of which rounds (N-1) cross.
    """
    rounds = ROUNDS.get(operation, 1.0)
    total = rounds * (s.ranks - 1.0)
    net_hops = rounds * (s.groups - 1.0)
    sent = s.size_bytes * (total / s.ranks if operation in ROUNDS else (s.ranks > 1))
    return Walk(total - net_hops, net_hops, sent * (s.members > 1), sent / s.members * (s.groups > 1), yes(s))

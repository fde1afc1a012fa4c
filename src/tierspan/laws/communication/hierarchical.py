"""Hierarchical: reduce-scatter in the domain, the operation across domains rail by rail, gather in the domain."""

from __future__ import annotations

import numpy as np

from tierspan.laws.communication.base import Setting, Walk

ROUNDS = {"all_reduce": 2.0, "all_gather": 1.0, "reduce_scatter": 1.0}


def hierarchical(operation: str, s: Setting) -> Walk:
    """Hops: one inside (two for all_reduce), rounds (N-1) on the rail.

    Bytes inside: rounds (k-1)/k S; across: rounds (N-1)/N S/k a rail. all_gather and reduce_scatter move the same parts in one round.
    """
    rounds = ROUNDS.get(operation, 1.0)
    valid = (s.groups > 1) & (s.members > 1) & (operation in ROUNDS)
    return Walk(
        np.where(s.members > 1, rounds, 0.0),
        rounds * (s.groups - 1.0),
        rounds * s.size_bytes * (s.members - 1.0) / s.members,
        rounds * s.size_bytes * (s.groups - 1.0) / s.groups / s.members,
        valid,
    )

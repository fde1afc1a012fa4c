"""Direct exchange among all ranks of a domain: one shot (all to all peers) or two (scatter, then gather); loads and stores, no steps to wait for."""

from __future__ import annotations

import numpy as np

from tierspan.laws.communication.base import Setting, Walk


def one_shot(operation: str, s: Setting) -> Walk:
    """Every rank sends all it has to every peer: one hop, (n-1) S for all_reduce, (n-1)/n S for all_gather."""
    share = (s.ranks - 1.0) if operation == "all_reduce" else (s.ranks - 1.0) / s.ranks
    valid = (s.ranks > 1) & (operation in ("all_reduce", "all_gather", "broadcast"))
    local, remote = (s.members - 1.0) / (s.ranks - 1.0 + (s.ranks == 1)), (s.ranks - s.members) / (s.ranks - 1.0 + (s.ranks == 1))
    sent = s.size_bytes * share
    return Walk(np.where((s.members > 1), 1.0, 0.0), np.where((s.groups > 1), 1.0, 0.0), sent * local, sent * remote, valid)


def two_shot(operation: str, s: Setting) -> Walk:
    """Scatter the parts to their owners, which reduce and send the sums back: two hops, 2 (n-1)/n S; over domains through S/k a NIC."""
    valid = (s.ranks > 1) & (operation == "all_reduce")
    return Walk(
        np.where((s.members > 1), 2.0, 0.0),
        np.where((s.groups > 1), 2.0, 0.0),
        2.0 * s.size_bytes * (s.members - 1.0) / s.members,
        2.0 * s.size_bytes * (s.groups - 1.0) / s.groups / s.members,
        valid,
    )

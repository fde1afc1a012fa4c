"""Double binary tree between domains, a chain inside (Sanders, Speck, Traeff 2009; as NCCL builds it)."""

from __future__ import annotations

import numpy as np

from tierspan.laws.communication.base import Array, Setting, Walk, log2_steps


def crossing_bytes(s: Setting) -> Array:
    """Bytes that a NIC of the busiest domain sends in an all_reduce over a double tree: min(2, N/2) S / members.

    Every edge of a tree carries half of S each way. Among four domains or more one has three edges in one tree and one in the other, among
    three at most three edges in all, among two one in each: an exchange of S, half of what a ring sends, and two domains show more than their NICs.
    """
    total: Array = np.minimum(2.0, s.groups / 2.0) * s.size_bytes / s.members * (s.groups > 1)
    return total


def tree(operation: str, s: Setting) -> Walk:
    """all_reduce up and down the tree: hops 2 ((k-1) + ceil(log2 N)) with k members and N domains.

    A link of the chain carries S up and S down, a rank inside sends 2 S (S where there are only two); for the network see ``crossing_bytes``.
    """
    both = np.where(s.members > 2, 2.0, 1.0) * (s.members > 1)
    valid = np.broadcast_to(np.asarray(operation == "all_reduce"), np.broadcast(s.size_bytes, s.ranks).shape) & (s.ranks > 1)
    return Walk(2.0 * (s.members - 1.0), 2.0 * log2_steps(s.groups), s.size_bytes * both, crossing_bytes(s), valid)

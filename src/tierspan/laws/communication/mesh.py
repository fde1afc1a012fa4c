"""What the members present can use of a domain whose links join pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tierspan.laws.communication.base import Array


def reachable_Bps(line_Bps: Array, pair_Bps: Array, members: Array) -> Array:
    """Rate of a rank among ``members`` of a full mesh: min(line, (members - 1) x pair), bytes/s; a switch gives the line to any pair (pair = line).

    Two of eight accelerators of a mesh have one link of seven between them.
    """
    rate: Array = np.minimum(line_Bps, np.maximum(members - 1.0, 1.0) * pair_Bps)
    return rate


def rings_of(links: Sequence[Sequence[int]], members: int) -> int:
    """Rings among the first ``members`` of a partial mesh: the fewest links that a member has to the others, since a ring takes one in and one out.

    Args:
        links: number of links between accelerators i and j, shape (n, n), symmetric.
        members: accelerators that take part, in the order of the table.
    """
    table: NDArray[np.int64] = np.asarray(links, dtype=np.int64)[:members, :members]
    return int(table.sum(axis=1).min())

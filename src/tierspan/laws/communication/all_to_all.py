"""all_to_all: every rank has a part for every rank; uniform or uneven."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tierspan.laws.communication.base import Array, Setting, Walk, log2_steps


def all_to_all(operation: str, s: Setting) -> Walk:
    """Uniform: (k-1)/n S stays in the domain, (n-k)/n S goes over the rank's own NIC.

    Peers inside are served one after the other (k-1 hops); the sends across leave together and wait for each other log2 N times.
    Therefore two domains never show a busbw above N/(N-1) x NIC: busbw = (n-1)/n S / t and t >= (n-k)/n S / NIC.
    """
    valid = (s.ranks > 1) & (operation in ("all_to_all", "gather", "scatter"))
    part = s.size_bytes / s.ranks
    return Walk(s.members - 1.0, log2_steps(s.groups), part * (s.members - 1.0), part * (s.ranks - s.members), valid)


def uneven_bytes(matrix: ArrayLike, members: int) -> tuple[float, float]:
    """Bytes that bind an uneven all_to_all: (inside the domain, across), the largest row or column of each part.

    Args:
        matrix: bytes that rank i sends to rank j, shape (n, n); the diagonal stays at home.
        members: ranks in one scale-up domain; consecutive ranks share one.

    A rank cannot finish before it has sent its row nor before it has received its column; both directions run at once.
    """
    sent: Array = np.asarray(matrix, dtype=np.float64)
    domain = np.arange(sent.shape[0]) // members
    same = domain[:, None] == domain[None, :]
    off = ~np.eye(sent.shape[0], dtype=bool)
    inside, across = np.where(same & off, sent, 0.0), np.where(~same, sent, 0.0)
    return _busiest(inside), _busiest(across)


def cross_rail_share(members: float) -> float:
    """Share of the traffic between domains that changes the rail when NICs of equal number form rails: (k-1)/k for random peers."""
    return (members - 1.0) / members


def _busiest(part: Array) -> float:
    return float(max(part.sum(axis=0).max(), part.sum(axis=1).max()))

"""Point to point: a send with its receive, an RDMA write or read, a stream of them."""

from __future__ import annotations

import numpy as np

from tierspan.laws.communication.base import Array, Setting, Walk


def send_recv(operation: str, s: Setting) -> Walk:
    """Each rank sends S to its neighbour: one hop and S bytes over the innermost tier that joins them."""
    valid = np.asarray(s.ranks > 1) & (operation in ("send_recv", "point_to_point"))
    inside = s.members > 1
    return Walk(
        np.where(inside, 1.0, 0.0),
        np.where((s.groups > 1), 1.0, 0.0),
        s.size_bytes * inside,
        s.size_bytes * (s.groups > 1) / np.where(inside, s.members, 1.0),
        valid,
    )


def stream_s(size_bytes: Array, line_Bps: Array, message_s: Array) -> Array:
    """Time a message of a stream: the slower of the message rate and the wire, t = ((1/rate)^4 + (S/B)^4)^(1/4) in s.

    A NIC overlaps posting with sending, so the two do not add; the power joins the two regimes without a corner.
    """
    total: Array = (message_s**4 + (size_bytes / line_Bps) ** 4) ** 0.25
    return total

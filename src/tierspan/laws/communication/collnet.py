"""Reduction in the network's switches (CollNet, SHARP): every domain sends its sum once and gets the result once."""

from __future__ import annotations

import numpy as np

from tierspan.laws.communication.base import Setting, Walk


def collnet(operation: str, s: Setting) -> Walk:
    """all_reduce: in the domain a reduce-scatter and a gather among members (in the switch where it reduces), S/k over each NIC, one crossing.

    Bytes in the domain: 2 (k-1)/k S, or (1 + 1/k) S where the scale-up switch reduces.
    """
    inside = (s.in_switch > 0) * (1.0 + 1.0 / s.members) + (s.in_switch == 0) * 2.0 * (s.members - 1.0) / s.members
    valid = (s.in_network > 0) & (s.groups > 1) & (operation == "all_reduce")
    return Walk(
        np.where((s.members > 1), 2.0, 0.0),
        np.where((s.groups > 1), 2.0, 0.0),
        s.size_bytes * inside * (s.members > 1),
        s.size_bytes / s.members,
        valid,
    )

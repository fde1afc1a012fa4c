"""What every algorithm is told and what it answers.

An algorithm is known by four counts per rank: hops inside a domain and between domains, bytes over the scale-up link and bytes over the network.
Protocols and transports give them their price, the same way for every algorithm (``protocols.price``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a collective runs; one entry a row, shape (n,) or (1,).

    ``size_bytes`` counts as nccl-tests does: the whole buffer of all_reduce, broadcast, reduce and send/recv, the gathered buffer of all_gather, the
    buffer before reduce_scatter, and of all_to_all all that one rank sends, its own part included. ``members`` ranks of the group stand in one
    scale-up domain, ``groups`` domains take part. Line rates are per rank and direction in bytes/s; ``up_Bps`` is what the members present can use
    (``mesh.reachable_Bps``). ``in_switch`` and ``in_network`` say (0 or 1) whether the scale-up switch and the network reduce. ``channels``
    limits the channels of a ring (infinite: the library's usual number).
    """

    size_bytes: Array
    ranks: Array
    members: Array
    groups: Array
    up_Bps: Array
    net_Bps: Array
    in_switch: Array
    in_network: Array
    channels: Array

    def take(self, rows: NDArray[np.int64] | Mask) -> Setting:
        """The rows at ``rows``."""
        return Setting(**{f.name: _picked(getattr(self, f.name), rows) for f in fields(self)})


@dataclass(frozen=True, slots=True)
class Walk:
    """Counts of one algorithm per rank: hops one after the other, bytes that the busiest rank sends over each tier, whether it can run there."""

    up_hops: Array
    net_hops: Array
    up_bytes: Array
    net_bytes: Array
    valid: Mask


Law = Callable[[str, Setting], Walk]


def log2_steps(count: Array) -> Array:
    """Steps of a binary exchange among ``count``: ceil(log2(count)), 0 for one."""
    steps: Array = np.ceil(np.log2(np.maximum(count, 1.0)) - 1e-9)
    return steps


def yes(setting: Setting) -> Mask:
    """True for every row."""
    return np.ones(np.broadcast(setting.size_bytes, setting.ranks).shape, dtype=bool)


def _picked(value: Array, rows: NDArray[np.int64] | Mask) -> Array:
    return value if value.shape[-1] == 1 else value[rows]

"""Which algorithm and protocol run: the cheapest that can, as the libraries choose, or the one that is forced."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tierspan.laws.communication.all_to_all import all_to_all
from tierspan.laws.communication.base import Array, Law, Mask, Setting, Walk
from tierspan.laws.communication.collnet import collnet
from tierspan.laws.communication.direct import one_shot, two_shot
from tierspan.laws.communication.hierarchical import hierarchical
from tierspan.laws.communication.nvls import nvls, nvls_tree
from tierspan.laws.communication.pat import pat
from tierspan.laws.communication.point_to_point import send_recv
from tierspan.laws.communication.protocols import PROTOCOLS, Constants, Price, price
from tierspan.laws.communication.recursive_doubling import recursive_doubling
from tierspan.laws.communication.ring import ring
from tierspan.laws.communication.tree import tree

LAWS: dict[str, Law] = {
    "ring": ring, "tree": tree, "nvls": nvls, "nvls_tree": nvls_tree, "collnet": collnet, "pat": pat, "recursive_doubling": recursive_doubling,
    "one_shot": one_shot, "two_shot": two_shot, "hierarchical": hierarchical, "all_to_all": all_to_all, "send_recv": send_recv,
}  # fmt: skip
ALGORITHMS = tuple(LAWS)
SIMPLE_ONLY = frozenset({"nvls", "nvls_tree", "collnet", "pat", "all_to_all", "send_recv", "hierarchical"})

LIBRARY_CHOICE: dict[str, tuple[str, ...]] = {
    "all_reduce": ("ring", "tree", "nvls", "nvls_tree", "collnet"),
    "all_gather": ("ring", "pat"),
    "reduce_scatter": ("ring", "pat"),
    "broadcast": ("ring",),
    "reduce": ("ring",),
    "all_to_all": ("all_to_all",),
    "gather": ("all_to_all",),
    "scatter": ("all_to_all",),
    "send_recv": ("send_recv",),
    "point_to_point": ("send_recv",),
}
"""What the libraries choose from; the others are taken only when they are forced."""


def candidates(operation: str) -> tuple[tuple[str, str], ...]:
    """(algorithm, protocol) that can be asked for an operation, the library's own choice first."""
    usual = LIBRARY_CHOICE[operation]
    others = tuple(a for a in ALGORITHMS if a not in usual and a not in ("all_to_all", "send_recv"))
    return tuple((a, p) for a in (*usual, *others) for p in (("Simple",) if a in SIMPLE_ONLY else PROTOCOLS))


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen candidate of each row (position in ``candidates``; -1 where none can run) with its price."""

    index: NDArray[np.int64]
    time_s: Array
    latency_s: Array
    wire_s: Array
    up_bound: Mask


def choose(operation: str, s: Setting, c: Constants, allowed: dict[tuple[str, str], Mask]) -> Choice:
    """Price every candidate that some row allows and take each row's cheapest valid one.

    Args:
        operation: canonical name.
        s: settings, n rows.
        c: constants of the rows.
        allowed: for a candidate the rows that may use it; a candidate that is absent is not priced.
    """
    rows = s.size_bytes.shape[0]
    best = Choice(np.full(rows, -1, dtype=np.int64), np.full(rows, np.inf), np.full(rows, np.nan), np.full(rows, np.nan), np.zeros(rows, dtype=bool))
    walks: dict[str, Walk] = {}
    for number, (algorithm, protocol) in enumerate(candidates(operation)):
        mask = allowed.get((algorithm, protocol))
        if mask is None or not mask.any():
            continue
        if algorithm not in walks:
            walks[algorithm] = LAWS[algorithm](operation, s)
        told = price(algorithm, protocol, walks[algorithm], s, c)
        better = mask & walks[algorithm].valid & (told.time_s < best.time_s)
        if algorithm == "nvls":
            better &= gain_over_ring(s, c) >= c.nvls_least_gain
        best = _merged(best, better, number, told)
    return best


def gain_over_ring(s: Setting, c: Constants) -> Array:
    """Gain in busbw of a reduction in the switch over that of a ring for large messages; the library wants ``nvls_least_gain`` of it."""
    gain: Array = 2.0 * (s.ranks - 1.0) / (s.ranks + 1.0) * c.nvls_share / c.up_share
    return gain


def _merged(best: Choice, better: Mask, number: int, told: Price) -> Choice:
    return Choice(
        np.where(better, number, best.index),
        np.where(better, told.time_s, best.time_s),
        np.where(better, told.latency_s, best.latency_s),
        np.where(better, told.wire_s, best.wire_s),
        np.where(better, told.up_bound, best.up_bound),
    )

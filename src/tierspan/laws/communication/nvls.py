"""Reduction in the scale-up switch (NVLink SHARP), alone or below a tree between domains."""

from __future__ import annotations

from tierspan.laws.communication.base import Setting, Walk, log2_steps
from tierspan.laws.communication.tree import crossing_bytes


def nvls(operation: str, s: Setting) -> Walk:
    """all_reduce of one domain in its switch: a rank's data are read once and its reduced part is written once to all.

    Bytes of a rank: S (read by the switch) + S/n (its part, multicast). algbw = rate / (1 + 1/n), hence the gain over a ring,
    (2 (n-1)/n) / (1 + 1/n), grows with the ranks. Two hops whatever the size of the domain.
    """
    valid = (s.in_switch > 0) & (s.groups == 1) & (s.ranks > 2) & (operation == "all_reduce")
    return Walk(s.ranks * 0.0 + 1.0, s.ranks * 0.0, s.size_bytes * (1.0 + 1.0 / s.ranks), s.size_bytes * 0.0, valid)


def nvls_tree(operation: str, s: Setting) -> Walk:
    """The same inside each domain and a double tree between them: 2 ceil(log2 N) crossings, ``tree.crossing_bytes`` a NIC."""
    valid = (s.in_switch > 0) & (s.groups > 1) & (s.members > 2) & (operation == "all_reduce")
    return Walk(s.ranks * 0.0 + 1.0, 2.0 * log2_steps(s.groups), s.size_bytes * (1.0 + 1.0 / s.members), crossing_bytes(s), valid)

"""Where a group of ranks stands on the tiers.

A group of ``size`` ranks that stand ``stride`` apart in rank order covers ``size * stride`` consecutive ranks. Ranks fill domains in order and
jobs are assumed to be placed so that a group straddles a domain only where it does not fit (aligned placement; reported as an assumption).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tierspan.specs.arrays import MAX_TIERS, Array


@dataclass(frozen=True, slots=True)
class GroupSpan:
    """A group on the tiers.

    ``members`` (MAX_TIERS, n): ranks inside one domain of each tier; ``span`` (n,): index of the innermost tier that holds them all.
    """

    size: Array
    members: Array
    span: Array

    def on_tier(self, tier: int) -> Array:
        """1.0 where the group spans exactly ``tier``, else 0.0; shape (n,)."""
        here: Array = (self.span == tier).astype(np.float64)
        return here

    def inner_members(self, tier: int) -> Array:
        """Ranks of the group inside one domain of the tier below ``tier`` (1 below the innermost); shape (n,)."""
        inner: Array = self.members[tier - 1] if tier else np.ones_like(self.size)
        return inner


def group_span(size: Array, stride: Array, domain_size: Array) -> GroupSpan:
    """Members in a domain of each tier and the tier that the group spans.

    Args:
        size: ranks in the group, shape (n,).
        stride: distance in rank order between neighbours, shape (n,).
        domain_size: accelerators a domain, shape (MAX_TIERS, n), innermost first, the last infinite.
    """
    size, stride = np.broadcast_arrays(np.maximum(size, 1.0), np.maximum(stride, 1.0))
    members = np.clip(np.floor(domain_size / stride), 1.0, size)
    span = np.minimum((members < size).sum(axis=0), MAX_TIERS - 1).astype(np.float64)
    return GroupSpan(size=size, members=members, span=span)

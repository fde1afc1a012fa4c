"""Collectives on clusters: time with interval, fitted constants, cross-validation by source page."""

from tierspan.estimates.communication.cases import CollectiveCase
from tierspan.estimates.communication.estimate import CollectiveEstimate, estimate_collectives

__all__ = ["CollectiveCase", "CollectiveEstimate", "estimate_collectives"]

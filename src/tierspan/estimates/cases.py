"""From typed objects to the arrays that a step is estimated on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tierspan.estimates.layer import Cases
from tierspan.specs.arrays import ClusterArrays, ModelArrays, StrategyBatch
from tierspan.specs.hardware import Cluster
from tierspan.specs.model import ModelSpec
from tierspan.specs.profile.constants import Constants
from tierspan.specs.profile.profile import Keys, Profile
from tierspan.specs.stacks.stack import Stack, StackArrays
from tierspan.specs.strategy import Job, Strategy


@dataclass(frozen=True, slots=True)
class Case:
    """One training job: what runs, where, how it is cut, and the software that runs it."""

    model: ModelSpec
    cluster: Cluster
    job: Job
    strategy: Strategy
    stack: Stack

    @property
    def keys(self) -> Keys:
        """What the constants of this case are looked up by."""
        outer = self.cluster.tiers[min(1, len(self.cluster.tiers) - 1)]
        return Keys(self.cluster.accelerator, self.job.precision, self.stack, self.cluster.tiers[0].transport, outer.transport)


def arrays_of(cases: Sequence[Case], profile: Profile | Constants) -> Cases:
    """Stack cases, one row each, with the constants of ``profile`` (or constants already gathered)."""
    constants = profile if isinstance(profile, Constants) else profile.gather([c.keys for c in cases])
    return Cases(
        models=ModelArrays.of([c.model for c in cases]),
        clusters=ClusterArrays.of([c.cluster for c in cases]),
        strategies=StrategyBatch.of([(c.strategy, c.job, c.cluster.accelerators) for c in cases]),
        stacks=StackArrays.of([c.stack for c in cases]),
        constants=constants,
    )

"""Families of statements: one file for each kind of figure."""

from tierspan.answers.audit.trial.base import Family
from tierspan.answers.audit.trial.families.bandwidth import FAMILIES as BANDWIDTH
from tierspan.answers.audit.trial.families.compute import FAMILIES as COMPUTE
from tierspan.answers.audit.trial.families.counts import FAMILIES as COUNTS
from tierspan.answers.audit.trial.families.memory import FAMILIES as MEMORY
from tierspan.answers.audit.trial.families.network import FAMILIES as NETWORK
from tierspan.answers.audit.trial.families.power import FAMILIES as POWER
from tierspan.answers.audit.trial.families.systems import FAMILIES as SYSTEMS
from tierspan.answers.audit.trial.families.time import FAMILIES as TIME

FAMILIES: tuple[Family, ...] = (*BANDWIDTH, *COMPUTE, *MEMORY, *SYSTEMS, *NETWORK, *POWER, *TIME, *COUNTS)

__all__ = ["FAMILIES"]

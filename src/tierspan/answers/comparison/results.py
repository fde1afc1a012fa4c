"""Typed results of ``compare``: a log against what the laws expect. SI: bytes, s, bytes/s per direction and accelerator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tierspan.quantities.display import Shown
from tierspan.quantities.findings import Assumption

Verdict = Literal["normal", "slow", "broken", "not comparable"]
RowState = Literal["normal", "faster", "slow", "broken", "not comparable"]
SCHEMA_VERSION = "1"


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One measured size beside the expectation; ``None`` where the log or the model has no figure.

    ``ratio`` is measured over expected busbw (over algbw or time where an operation has no busbw): above 1 is faster. ``run`` counts
    the runs of the answer from 0, ``line`` is the line of the log.
    """

    run: int
    operation: str
    size_bytes: float
    time_s: float | None
    algbw_Bps: float | None
    busbw_Bps: float | None
    expected_time_s: float | None
    expected_busbw_Bps: float | None
    low_busbw_Bps: float | None
    high_busbw_Bps: float | None
    ratio: float | None
    state: RowState
    decides: bool = False
    in_place: bool | None = None
    wrong: int | None = None
    algorithm: str = ""
    protocol: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Cause:
    """A likely cause with its evidence and the next command to try; ``tier`` is ``reading``, ``scale-up``, ``scale-out`` or ``software``.

    ``values`` fill the texts ``compare.cause.<id>``, ``.evidence`` and ``.next``; ``points`` order causes and mean nothing else.
    """

    id: str
    tier: str
    text: str
    evidence: str
    next: str
    points: float = 0.0
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SettingView:
    """What was run and on what, as taken for the expectation: ``None`` or "" where nothing says it."""

    operation: str
    ranks: int | None
    nodes: int | None
    ranks_per_node: int | None
    accelerator: str
    system: str
    tier: str
    transport: str
    nic_Bps: float | None
    algorithm: str
    protocol: str
    nvls: bool | None
    tier_kind: str = ""
    tier_transport: str = ""


@dataclass(frozen=True, slots=True)
class Rates:
    """Rates side by side at the sizes that decide.

    ``line_Bps`` is what the deciding tier carries per accelerator and direction, ``effective_Bps`` what the model expects of it for very
    large messages (busbw); ``algbw_Bps`` and ``busbw_Bps`` are the measured medians.
    """

    line_Bps: float | None
    effective_Bps: float | None
    algbw_Bps: float | None
    busbw_Bps: float | None
    expected_Bps: float | None
    low_Bps: float | None
    high_Bps: float | None
    unit: Literal["busbw", "algbw"] = "busbw"


@dataclass(frozen=True, slots=True)
class MissingFact:
    """What nobody said and the comparison needs: ``flag`` is the option to add."""

    name: str
    flag: str


@dataclass(frozen=True, slots=True)
class RunComparison:
    """One run of a log (one operation): its setting, verdict and the band that decided it.

    ``margin`` is measured over the low edge of the band at the sizes that decide: below 1 is slow, below one half broken.
    """

    title: str
    tool: str
    file: str
    line: int | None
    verdict: Verdict
    setting: SettingView
    rates: Rates
    decided_from_bytes: float | None
    decided_to_bytes: float | None
    ratio: float | None
    margin: float | None
    wrong_rows: int
    missing: tuple[MissingFact, ...]
    reason: str
    causes: tuple[Cause, ...]
    notes: tuple[Cause, ...]
    assumptions: tuple[Assumption, ...]


@dataclass(frozen=True, slots=True)
class UnreadLine:
    """A line of the log that could not be used, and why."""

    file: str
    line: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Change:
    """Two logs against each other at one size: ``ratio`` is second over first (rate), above 1 where the second is faster."""

    operation: str
    size_bytes: float
    first_Bps: float
    second_Bps: float
    ratio: float


@dataclass(frozen=True, slots=True)
class StepTimes:
    """Measured training steps of a log: median, spread (80 % of the steps) and the steps that stand out (above 1.5 times the median)."""

    file: str
    steps: int
    median_s: float
    low_s: float
    high_s: float
    outliers: tuple[int, ...]


@dataclass(frozen=True, slots=True, repr=False)
class CompareAnswer(Shown):
    """Answer of ``compare``: the verdict is that of the worst run; ``rows`` are those of all runs."""

    verdict: Verdict
    rows: tuple[ComparedRow, ...]
    causes: tuple[Cause, ...]
    unread: tuple[UnreadLine, ...]
    assumptions: tuple[Assumption, ...]
    cluster: str
    runs: tuple[RunComparison, ...]
    notes: tuple[Cause, ...] = ()
    changes: tuple[Change, ...] = ()
    changed: str = ""
    steps: tuple[StepTimes, ...] = ()
    profile_version: str = ""
    schema_version: str = field(default=SCHEMA_VERSION)

"""What ``audit`` answers with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tierspan.quantities.display import Shown
from tierspan.quantities.findings import Finding
from tierspan.specs.reading import Reading, Reason

if TYPE_CHECKING:
    from tierspan.answers.audit.printed import PrintedAudit

SCHEMA_VERSION = "1"
Light = Literal["pass", "derate", "fail", "unknown"]


@dataclass(frozen=True, slots=True)
class Question:
    """Something to ask the seller: the message ``reason``, and the readings (line, text) that it is about."""

    reason: Reason
    line: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence with figures, computed again.

    ``arithmetic`` are messages in the order of the computation; ``verdict`` unanswerable where an input is missing, which the last one names.
    """

    text: str
    line: int
    kind: str
    verdict: Literal["confirmed", "refuted", "unanswerable"]
    arithmetic: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One of the four steps of reading a sheet: what it found, as messages; ``light`` the worst of them."""

    name: Literal["tier and domain", "bandwidth basis", "latency premise", "topology and room"]
    light: Light
    told: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class RoomCheck:
    """One line of the room against the site file: what is needed, what there is, SI units."""

    name: str
    needed: float | None
    available: float | None
    unit: str
    light: Light
    told: Reason


@dataclass(frozen=True, slots=True, repr=False)
class Audit(Shown):
    """Answer of ``audit``: every figure as read, what is wrong, claims, the four steps, and what to ask the seller."""

    files: tuple[str, ...]
    readings: tuple[Reading, ...]
    findings: tuple[Finding, ...]
    claims: tuple[Claim, ...] = ()
    steps: tuple[Step, ...] = ()
    room: tuple[RoomCheck, ...] = ()
    questions: tuple[Question, ...] = ()
    corrections: Mapping[str, str] = field(default_factory=dict)
    schema_version: str = field(default=SCHEMA_VERSION)

    @property
    def report(self) -> PrintedAudit:
        """What ``--json`` prints, with its words in English."""
        from tierspan.answers.audit.printed import printed

        return printed(self, "en")

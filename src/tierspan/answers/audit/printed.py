"""An audit as programs get it: flat objects with the texts of one language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tierspan.answers.audit.result import SCHEMA_VERSION, Audit
from tierspan.quantities.findings import Finding
from tierspan.quantities.messages import fill, has
from tierspan.specs.reading import Reading, Reason


@dataclass(frozen=True, slots=True)
class PrintedAlternative:
    """Another meaning: value on the basis, factor to it, the fields that differ, and when it would hold."""

    value_si: float
    unit_si: str
    factor: float
    changes: Mapping[str, str]
    why: str


@dataclass(frozen=True, slots=True)
class PrintedReading:
    """A figure: as written, as read, the value used; see ``specs.reading.Reading``."""

    text: str
    file: str
    line: int
    status: str
    alternatives: tuple[PrintedAlternative, ...]
    quantity: str
    label: str
    subject: str
    tier: str
    direction: str
    scope: str
    density: str
    precision: str
    latency_basis: str
    peak: str
    bound: str
    count: float
    printed_si: float
    value_si: float
    unit_si: str
    factor: float
    why: tuple[str, ...]
    catalog_id: str


@dataclass(frozen=True, slots=True)
class PrintedFinding:
    """Something that is wrong, misleading or to be asked, with its reason and what to do."""

    id: str
    severity: str
    file: str
    line: int
    text: str
    why: str
    remedy: str


@dataclass(frozen=True, slots=True)
class PrintedClaim:
    """A sentence computed again."""

    text: str
    line: int
    kind: str
    verdict: str
    arithmetic: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PrintedStep:
    """One of the four steps."""

    name: str
    light: str
    told: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PrintedRoomCheck:
    """One line of the room."""

    name: str
    needed: float | None
    available: float | None
    unit: str
    light: str
    told: str


@dataclass(frozen=True, slots=True)
class PrintedAudit:
    """What ``tierspan audit --json`` prints."""

    files: tuple[str, ...]
    readings: tuple[PrintedReading, ...]
    findings: tuple[PrintedFinding, ...]
    claims: tuple[PrintedClaim, ...]
    steps: tuple[PrintedStep, ...]
    room: tuple[PrintedRoomCheck, ...]
    questions: tuple[str, ...]
    schema_version: str = field(default=SCHEMA_VERSION)


def printed(audit: Audit, lang: str) -> PrintedAudit:
    """The audit with its texts in ``lang``."""
    return PrintedAudit(
        audit.files,
        tuple(_reading(r, lang) for r in audit.readings),
        tuple(_finding(f, lang) for f in audit.findings),
        tuple(PrintedClaim(c.text, c.line, c.kind, c.verdict, tuple(told(r, lang) for r in c.arithmetic)) for c in audit.claims),
        tuple(PrintedStep(s.name, s.light, tuple(told(r, lang) for r in s.told)) for s in audit.steps),
        tuple(PrintedRoomCheck(r.name, r.needed, r.available, r.unit, r.light, told(r.told, lang)) for r in audit.room),
        tuple(told(q.reason, lang) for q in audit.questions),
    )


def told(reason: Reason, lang: str) -> str:
    """The text of a reason."""
    return fill(reason.id, lang, reason.values)


def _reading(r: Reading, lang: str) -> PrintedReading:
    others = tuple(PrintedAlternative(a.value_si, a.unit_si, a.factor, dict(a.changes), told(a.reason, lang)) for a in r.alternatives)
    return PrintedReading(
        r.text, r.file, r.line, r.status, others, r.quantity, r.label, r.subject, r.tier, r.direction, r.scope, r.density, r.precision,
        r.latency_basis, r.peak, r.bound, r.count, r.printed_si, r.value_si, r.unit_si, r.factor, tuple(told(x, lang) for x in r.reasons),
        r.catalog_id,
    )  # fmt: skip


def _finding(f: Finding, lang: str) -> PrintedFinding:
    def text(part: str) -> str:
        return fill(f"{f.id}{part}", lang, f.values) if has(f"{f.id}{part}") else ""

    return PrintedFinding(f.id, f.severity, f.place.file or "", f.place.line or 0, fill(f.id, lang, f.values), text(".why"), text(".remedy"))

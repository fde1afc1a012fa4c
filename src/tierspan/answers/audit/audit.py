"""``tierspan audit``: figures of sheets read, checked by rules, claims computed again, four steps, the room, questions for the seller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tierspan.answers.audit.claims import claims_of
from tierspan.answers.audit.questions import questions_of
from tierspan.answers.audit.result import Audit
from tierspan.answers.audit.room import room_of
from tierspan.answers.audit.rules import rules
from tierspan.answers.audit.rules.base import Sheet
from tierspan.answers.audit.steps import steps_of
from tierspan.formats.figures import read_figures
from tierspan.specs.reading import Reading
from tierspan.specs.sheet import SheetDocument

if TYPE_CHECKING:
    from tierspan.formats.site import Site

_GRAVEST = ("error", "warning", "question", "info")


def audit(documents: Sequence[SheetDocument], *, site: Site | None = None, corrections: Mapping[str, str] | None = None) -> Audit:
    """Read and check sheets.

    Args:
        documents: what ``formats.sheets`` read.
        site: the room that the machine is to stand in.
        corrections: place of a figure (see ``place_of``) -> index of the alternative that holds, counted from 1; 0 keeps the reading.
    """
    given = dict(corrections or {})
    readings = tuple(_corrected(reading, given) for reading in read_figures(documents))
    sheet = Sheet(tuple(documents), readings)
    found = [finding for document in documents for finding in document.findings]
    found += [finding for rule in rules() for finding in rule.find(sheet)]
    findings = tuple(sorted(found, key=lambda f: (_GRAVEST.index(f.severity), f.place.file or "", f.place.line or 0)))
    claims = claims_of(documents, readings)
    room = room_of(readings, site)
    steps = steps_of(readings, findings, claims, room)
    return Audit(
        files=tuple(d.name for d in documents), readings=readings, findings=findings, claims=tuple(claims), steps=tuple(steps), room=tuple(room),
        questions=tuple(questions_of(readings, findings)), corrections=given,
    )  # fmt: skip


def place_of(reading: Reading) -> str:
    """The name of a figure in a file of corrections: file, line, and the figure as written."""
    return f"{reading.file}:{reading.line}:{reading.column}:{reading.text}"


def _corrected(reading: Reading, corrections: Mapping[str, str]) -> Reading:
    chosen = corrections.get(place_of(reading))
    if chosen is None or not chosen.isdigit() or int(chosen) > len(reading.alternatives):
        return reading
    if chosen == "0":
        return replace(reading, status="certain", alternatives=())
    other = reading.alternatives[int(chosen) - 1]
    changed = replace(reading, status="certain", value_si=other.value_si, factor=other.factor, reasons=(other.reason,), alternatives=())
    return replace(changed, **dict(other.changes))  # type: ignore[arg-type]

"""What rules about labels share: the words around a figure, what the catalogue says of its part, and a rule made of one function."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tierspan.answers.audit.rules.base import Sheet
from tierspan.formats.figures.basis import Meaning, link_meanings, memory_meanings, peak_meanings, settled
from tierspan.formats.figures.known import Part, near, part
from tierspan.quantities.errors import Place
from tierspan.quantities.findings import Finding, Severity
from tierspan.quantities.number_text import normalise
from tierspan.quantities.printing import format_quantity
from tierspan.specs.catalog.tables import rows_by_id
from tierspan.specs.reading import Reading
from tierspan.specs.sheet import SheetLine

SENTENCE: Final = re.compile(r"[;；。!！?？]|\.\s|\.$")
_TAKEN: Final = frozenset(
    f"audit.read.{name}"
    for name in ("both_known", "each_known", "nvlink_headline", "pcie_both", "pcie_each", "switch_each", "switch_both", "port_rate")
)
"""Reasons of a reading whose direction the sheet does not state."""
CLAUSE: Final = re.compile(r"[,，、;；。|（(）)]|\.\s|\.$")


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing found: the figure it is about, or else a place; ``values`` fill the messages."""

    values: Mapping[str, object] = field(default_factory=dict)
    reading: Reading | None = None
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """A rule of one function; ``look`` returns what it finds."""

    id: str
    severity: Severity
    sources: tuple[str, ...]
    look: Callable[[Sheet], Iterable[Hit]]

    def find(self, sheet: Sheet) -> Iterator[Finding]:
        """The findings, each with the text and the place of its figure."""
        for hit in self.look(sheet):
            r = hit.reading
            place = hit.place or (Place(r.file, r.line, r.column + 1) if r is not None else Place())
            text = {"text": r.text} if r is not None else {}
            yield Finding(self.id, self.severity, {**text, **hit.values}, place)


@dataclass(frozen=True, slots=True)
class Around:
    """Words around a figure.

    ``before`` and ``after`` are what stands in its cell or line; ``clause`` and ``sentence`` the piece with the figure in it;
    ``heads`` the heads of row, column and section; ``line`` all of the line.
    """

    before: str
    after: str
    clause: str
    sentence: str
    heads: str
    line: str

    @property
    def close(self) -> str:
        """The clause with the heads of its row and column."""
        return f"{self.heads} {self.clause}"

    @property
    def wide(self) -> str:
        """The sentence with the heads of its row, column and section."""
        return f"{self.heads} {self.sentence}"


class Surroundings:
    """The words around every figure of a sheet."""

    def __init__(self, sheet: Sheet) -> None:
        self._lines: dict[tuple[str, int], list[SheetLine]] = {}
        for document in sheet.documents:
            for line in document.lines:
                self._lines.setdefault((document.name, line.number), []).append(line)

    def of(self, reading: Reading) -> Around:
        """The words around this figure; empty where its line is not at hand."""
        found = self._lines.get((reading.file, reading.line), [])
        for line in found:
            for index, cell in enumerate(line.cells or (line.text,)):
                if _stands(cell, reading):
                    return _around(line, cell, index, reading)
        line = found[0] if found else SheetLine(reading.line, "")
        return _around(line, line.text, 0, reading)


def _stands(cell: str, reading: Reading) -> bool:
    start = reading.column
    return normalise(cell[start : start + len(reading.text)]).strip() == normalise(reading.text).strip()


def _around(line: SheetLine, cell: str, index: int, reading: Reading) -> Around:
    start, end = reading.column, reading.column + len(reading.text)
    before, after = cell[:start], cell[end:]
    head = line.heads[index] if index < len(line.heads) else ""
    row = line.cells[0] if line.cells and index else ""
    heads = " ".join(piece for piece in (line.section, head, row) if piece)
    middle = cell[start:end]
    return Around(
        before, after, _piece(before, middle, after, CLAUSE), _piece(before, middle, after, SENTENCE), heads, line.text,
    )  # fmt: skip


def _piece(before: str, middle: str, after: str, ends: re.Pattern[str]) -> str:
    first = [match.end() for match in ends.finditer(before)]
    last = ends.search(after)
    return before[first[-1] if first else 0 :] + middle + (after[: last.start()] if last else after)


def part_of(reading: Reading) -> Part | None:
    """What the catalogue says of the part that a figure is about."""
    if not reading.catalog_id:
        return None
    return part("system" if reading.catalog_id in rows_by_id("systems") else "accelerator", reading.catalog_id)


def name_of(known: Part) -> str:
    """The name of a part, without what the catalogue adds in brackets."""
    table = rows_by_id("systems" if known.is_system else "accelerators")
    return table[known.id]["name"].split(" (")[0]


def meanings(reading: Reading, known: Part) -> Sequence[Meaning]:
    """What a figure of this kind can mean for this part."""
    match reading.quantity:
        case "compute rate":
            return tuple(peak_meanings(known))
        case "memory":
            return tuple(memory_meanings(known, known.memory_bytes))
        case "memory bandwidth":
            return tuple(memory_meanings(known, known.memory_bandwidth_Bps))
        case "bandwidth" if known.scale_up_Bps == known.scale_up_Bps:
            return tuple(link_meanings(known))
    return ()


def explained(reading: Reading, known: Part) -> bool:
    """Whether the catalogue prints this figure for this part, with everything that the sheet says of it."""
    return settled(reading, meanings(reading, known), known) is not None


def stated_direction(reading: Reading) -> str:
    """The direction that the sheet states; "" where it was taken from the catalogue or from a convention."""
    return "" if any(reason.id in _TAKEN for reason in reading.reasons) else reading.direction


def printed_by(reading: Reading, known: Part, **wanted: str) -> Meaning | None:
    """A meaning that prints this figure and has these fields, whatever else the sheet says of it."""
    for m in meanings(reading, known):
        if near(reading.printed_si, m.prints) and all(getattr(m, key) == value for key, value in wanted.items()):
            return m
    return None


def shown(value_si: float, unit: str, *, bits: bool = False) -> str:
    """A quantity as messages show it."""
    return format_quantity(value_si, unit, digits=4, bits=bits)


def pairs(listed: Sequence[Reading]) -> Iterator[tuple[Reading, Reading]]:
    """Neighbours and all further pairs of one line or one small group (at most 12 figures)."""
    for i, first in enumerate(listed[:12]):
        for second in listed[i + 1 : 12]:
            yield first, second


def by_line(listed: Iterable[Reading]) -> Mapping[tuple[str, int], list[Reading]]:
    """Figures by the line that they stand in."""
    found: dict[tuple[str, int], list[Reading]] = {}
    for r in listed:
        found.setdefault((r.file, r.line), []).append(r)
    return found

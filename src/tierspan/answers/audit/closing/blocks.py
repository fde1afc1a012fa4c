"""Figures that stand together: of one thing, in one paragraph, table or section."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tierspan.answers.audit.rules.base import Sheet
from tierspan.formats.figures.known import Part, part
from tierspan.specs.catalog.tables import rows_by_id
from tierspan.specs.catalog.things import system_ids
from tierspan.specs.reading import Reading


@dataclass(frozen=True, slots=True)
class Block:
    """Readings of one thing that stand together; ``text`` is all of their lines."""

    readings: tuple[Reading, ...]
    text: str = ""

    def of(self, *quantities: str) -> list[Reading]:
        """The figures of these kinds."""
        return [r for r in self.readings if r.quantity in quantities]

    def counted(self, *nouns: str) -> list[Reading]:
        """Counts of these things, each once where the same number is repeated."""
        found: dict[float, Reading] = {}
        for r in self.readings:
            if r.quantity == "count" and r.noun in nouns and r.count == 1:
                found.setdefault(r.printed_si, r)
        return list(found.values())

    def lines(self) -> Iterator[tuple[Reading, ...]]:
        """The figures line by line."""
        for number in dict.fromkeys((r.file, r.line) for r in self.readings):
            yield tuple(r for r in self.readings if (r.file, r.line) == number)


def part_of(reading: Reading) -> Part | None:
    """The part of the catalogue that the figure is about."""
    if not reading.catalog_id:
        return None
    return part("system" if reading.catalog_id in system_ids() else "accelerator", reading.catalog_id)


def name_of(known: Part) -> str:
    """The part as a sheet would print it, without what the catalogue adds in brackets."""
    table = "systems" if known.is_system else "accelerators"
    return rows_by_id(table)[known.id]["name"].split(" (")[0] if known.id in rows_by_id(table) else known.id


def blocks(sheet: Sheet) -> Iterator[Block]:
    """Paragraphs, tables and sections, apart where the thing that they are about changes."""
    paragraphs: dict[tuple[str, int], tuple[int, str]] = {}
    texts: dict[tuple[str, int], str] = {}
    for document in sheet.documents:
        number, last = 0, None
        for line in document.lines:
            apart = last is not None and line.number - last.number > (2 if line.cells and last.cells else 1)
            if apart or not line.text.strip() or (last is not None and line.section != last.section):
                number += 1
            last = line
            paragraphs.setdefault((document.name, line.number), (number, line.section))
            before = texts.get((document.name, line.number))
            texts[document.name, line.number] = f"{before}\n{line.text}" if before else line.text
    groups: dict[tuple[str, int, str], list[tuple[int, Reading]]] = {}
    for order, r in enumerate(sheet.readings):
        known = part_of(r)
        paragraph, _ = paragraphs.get((r.file, r.line), (0, ""))
        groups.setdefault((r.file, paragraph, known.accelerator_id if known else ""), []).append((order, r))
    for key in [k for k in groups if not k[2]]:
        # figures before the first name belong to the thing that is named in the same place, if there is one
        others = [k for k in groups if k[:2] == key[:2] and k[2]]
        if len(others) == 1:
            groups[others[0]] += groups.pop(key)
    for found in groups.values():
        readings = [r for _, r in sorted(found, key=lambda pair: pair[0])]
        yield Block(tuple(readings), "\n".join(texts.get(k, "") for k in dict.fromkeys((r.file, r.line) for r in readings)))

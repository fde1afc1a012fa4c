"""A sheet as people have it, before anything in it is understood: lines, and cells where there is a table."""

from __future__ import annotations

from dataclasses import dataclass

from tierspan.quantities.findings import Finding


@dataclass(frozen=True, slots=True)
class SheetLine:
    """One line of a document, or one row of a table.

    ``number`` counts from 1 in the file as the reader sees it. ``text`` is the line itself; of a table row its cells joined by `` | ``.
    ``cells`` and ``heads`` are as long as each other: a cell and the head of its column ("" where there is none). ``section`` names what the line
    stands under: a heading, a worksheet, a path of keys, "" at the top. ``page`` is the page of a PDF, 0 elsewhere.
    """

    number: int
    text: str
    cells: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    section: str = ""
    page: int = 0


@dataclass(frozen=True, slots=True)
class SheetDocument:
    """A document with its lines.

    ``kind``: text, markdown, csv, xlsx, yaml, json, mlperf-system, html or pdf; ``encoding`` as it was read. ``findings`` are what the reader has to
    tell: a formula without a value, hidden characters, an encoding that was guessed, a cell that a spreadsheet would run.
    """

    name: str
    kind: str
    lines: tuple[SheetLine, ...]
    encoding: str = "utf-8"
    findings: tuple[Finding, ...] = ()

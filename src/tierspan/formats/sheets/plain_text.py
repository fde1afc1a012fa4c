"""Pasted text: lines as they are, and tables where neighbouring lines fall into columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from unicodedata import east_asian_width

from tierspan.formats.sheets.grid import Row, grid_lines, has_figure
from tierspan.specs.sheet import SheetLine

_CELL = re.compile(r"[^\t\s]+(?:[ \u00a0\u3000](?![ \u00a0\t])[^\t\s]+)*")
_SENTENCE_END = re.compile(r"[.!?。！？]$")


@dataclass(frozen=True, slots=True)
class _Columns:
    """A line in columns: its cells, and where each begins and ends on the screen."""

    number: int
    raw: str
    cells: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    tabbed: bool


def plain_lines(lines: Iterable[tuple[int, str]], page: int = 0, section: str = "") -> list[SheetLine]:
    """Lines of a text, given with their numbers; two and more neighbouring lines with columns are the rows of a table."""
    found: list[SheetLine] = []
    block: list[_Columns] = []
    for number, raw in lines:
        columns = _columns(number, raw)
        if block and (columns is None or columns.tabbed != block[-1].tabbed):
            found += _closed(block, page, section)
            block = []
        if columns:
            block.append(columns)
        elif raw.strip():
            found.append(SheetLine(number, raw.strip(), section=section, page=page))
    return found + _closed(block, page, section)


def _columns(number: int, raw: str) -> _Columns | None:
    """A line that tabs or two and more spaces part; none where they only part sentences."""
    text = raw.strip()
    tabbed = "\t" in text
    if not tabbed and "  " not in text and "\u00a0" not in text:
        return None
    if tabbed:
        cells = tuple(cell.strip() for cell in raw.rstrip().split("\t"))
        return _Columns(number, text, cells, (), tabbed=True) if sum(map(bool, cells)) > 1 else None
    matches = list(_CELL.finditer(raw))
    cells = tuple(match[0] for match in matches)
    if len(cells) < 2 or any(_SENTENCE_END.search(cell) and len(cell) > 20 for cell in cells[:-1]):
        return None
    widths = list(accumulate((2 if east_asian_width(char) in "WF" else 1 for char in raw), initial=0)) if not raw.isascii() else range(len(raw) + 1)
    return _Columns(number, text, cells, tuple((widths[match.start()], widths[match.end()]) for match in matches), tabbed=False)


def _closed(block: Sequence[_Columns], page: int, section: str) -> list[SheetLine]:
    if len(block) < 2:
        return [SheetLine(line.number, line.raw, section=section, page=page) for line in block]
    rows = [line.cells for line in block]
    headed = block[0].tabbed
    if not headed and not any(has_figure(cell) for cell in block[0].cells):
        # Cells belong under the heads that they stand under on the screen.
        widest = max(block, key=lambda line: len(line.cells))
        fitted = [_fitted(line, widest) for line in block]
        if headed := all(fitted):
            rows = [cells or () for cells in fitted]
    return grid_lines((Row(line.number, cells, page=page) for line, cells in zip(block, rows, strict=True)), section, headed=headed)


def _fitted(line: _Columns, widest: _Columns) -> tuple[str, ...] | None:
    """The cells of a line in the columns of the widest one, by where they stand; ``None`` if two fall into one column or none is near."""
    if len(line.cells) == len(widest.cells):
        return line.cells
    cells = [""] * len(widest.cells)
    for cell, (start, end) in zip(line.cells, line.spans, strict=True):
        overlaps = [min(end, right) - max(start, left) for left, right in widest.spans]
        best = max(range(len(overlaps)), key=lambda at: overlaps[at])
        if overlaps[best] <= -3 or cells[best]:
            return None
        cells[best] = cell
    return tuple(cells)

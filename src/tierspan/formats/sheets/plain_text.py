"""Pasted text: lines as they are, and tables where neighbouring lines fall into columns."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tierspan.formats.sheets.grid import Row, grid_lines
from tierspan.specs.sheet import SheetLine

_GAP = re.compile(r"[ \u00a0\u3000]*\t[ \t\u00a0\u3000]*|[ \u00a0]{2,}")
_SENTENCE_END = re.compile(r"[.!?。！？]$")


def column_cells(line: str) -> tuple[str, ...]:
    """The cells of a line that tabs or two and more spaces part; one cell where they do not, or where they only part sentences."""
    cells = tuple(_GAP.split(line.strip()))
    return (line.strip(),) if any(_SENTENCE_END.search(cell) and len(cell) > 20 for cell in cells[:-1]) else cells


def plain_lines(lines: Sequence[str], page: int = 0, first_number: int = 1, section: str = "") -> list[SheetLine]:
    """Lines of a text; two and more neighbouring lines with columns are the rows of a table."""
    found: list[SheetLine] = []
    block: list[Row] = []

    def close() -> None:
        if len(block) > 1:
            found.extend(grid_lines(block, section))
        else:
            found.extend(SheetLine(row.number, raw_of[row.number], section=section, page=page) for row in block)
        block.clear()

    raw_of: dict[int, str] = {}
    for number, raw in enumerate(lines, first_number):
        cells = column_cells(raw)
        if len(cells) > 1:
            raw_of[number] = raw.strip()
            block.append(Row(number, cells, page=page))
            continue
        close()
        if raw.strip():
            found.append(SheetLine(number, raw.strip(), section=section, page=page))
    close()
    return found

"""CSV, TSV and their kin. The separator is found by counting: the one that gives most rows the same number of cells."""

from __future__ import annotations

import csv
import re
from collections import Counter
from itertools import pairwise
from typing import Final

from tierspan.formats.sheets.grid import Row, grid_lines
from tierspan.quantities.errors import Place
from tierspan.quantities.findings import Finding
from tierspan.specs.sheet import SheetLine

SEPARATORS: Final = ("\t", ";", "|", ",")
_THOUSANDS = re.compile(r"(?<![\w,])\d{1,3}(?:,\d{3})+(?!\d)")
_QUOTED = re.compile(r'"[^"\n]*"')


def separator_of(text: str, *, sure: bool = False) -> str:
    """The separator of a table, "" where the text is none.

    Args:
        text: the whole text.
        sure: it is known to be a table (by its suffix); else a comma must not look like one of a sentence or of a number.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    best, best_share = "", 0.0
    for separator in SEPARATORS:
        counts = Counter(len(row) for row in _parsed(text, separator) if any(cell.strip() for cell in row))
        rows = sum(counts.values())
        widths = {width: count for width, count in counts.items() if width > 1}
        if not widths or (rows < 2 and not sure):
            continue
        share = max(widths.values()) / rows
        if not sure and (share < 1 or (separator in ",|;" and not _plain(lines, separator))):
            continue
        if share > best_share + 1e-9:
            best, best_share = separator, share
    return best


def _plain(lines: list[str], separator: str) -> bool:
    """Whether the separator stands as in a table: not followed by a space as in a sentence, and not inside numbers."""
    bare = [_QUOTED.sub('""', line) for line in lines]
    if separator == "," and any(_THOUSANDS.search(line) for line in bare):
        return False
    # "Leaf; Spine" and "a | b" are how people write lists.
    return sum(line.count(separator + " ") for line in bare) < 0.2 * sum(line.count(separator) for line in bare)


def _parsed(text: str, separator: str) -> list[list[str]]:
    try:
        return list(csv.reader(text.split("\n"), delimiter=separator))
    except csv.Error:
        return []


def delimited_lines(text: str, separator: str, name: str) -> tuple[list[SheetLine], list[Finding]]:
    """Lines of a table of text; a thousands separator that split a figure is healed where the heads show it."""
    rows: list[Row] = []
    findings: list[Finding] = []
    reader = csv.reader((line + "\n" for line in text.split("\n")), delimiter=separator)
    start = 1
    width = 0
    for cells in reader:
        found = tuple(" ".join(cell.split()) if "\n" in cell else cell.strip() for cell in cells)
        if separator == "," and width and len(found) > width:
            found = _healed(found, width)
            if len(found) == width:
                findings.append(Finding("sheet.thousands_joined", "info", {"count": width}, Place(name, start)))
        loose = bool(width and any(found[width:]))
        if loose and len(findings) < 100:
            findings.append(Finding("sheet.row_long", "warning", {"count": len(found), "heads": width}, Place(name, start)))
        width = width or (len(found) if sum(bool(cell) for cell in found) > 1 else 0)
        rows.append(Row(start, found, loose=loose))
        start = reader.line_num + 1
    return grid_lines(rows), findings


def _healed(cells: tuple[str, ...], width: int) -> tuple[str, ...]:
    """Cells with ``1`` and ``979 TFLOPS`` joined to ``1,979 TFLOPS``, if exactly the surplus can be joined."""
    joints = [i for i, (left, right) in enumerate(pairwise(cells)) if re.search(r"(?:^|\D)\d{1,3}$", left) and re.match(r"\d{3}(?!\d)", right)]
    if len(joints) != len(cells) - width:
        return cells
    joined: list[str] = []
    for i, cell in enumerate(cells):
        if i - 1 in joints:
            joined[-1] += "," + cell
        else:
            joined.append(cell)
    return tuple(joined)

"""Rows of cells to lines with heads: what is a head, what is a title between rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from tierspan.specs.sheet import SheetLine

_NUMBER = r"[\d０-９]+(?:[.,，．][\d０-９]+)*"
_FIGURE = re.compile(rf"^[\s(（~≈约<>≤≥＜＞±+\-−–￥¥$€£]*{_NUMBER}")
_NAME = re.compile(r"^(?:\d{3}(?:B\d?|C|PR|DT|A\d?)\b|(?:19|20)\d\d(?:年|[-/]|\s*Q\d|\s*$)|\d+(?:-[A-Za-z]{3}|(?:st|nd|rd|th)\b))")


@dataclass(frozen=True, slots=True)
class Row:
    """A row as it stands: its number in the file and its cells.

    ``spans``: a cell of it spans several columns. ``loose``: it is not known which head a cell of it stands under.
    """

    number: int
    cells: tuple[str, ...]
    spans: bool = False
    page: int = 0
    loose: bool = False


def has_figure(cell: str) -> bool:
    """Whether a cell holds a value rather than a name: it begins with a number that is no name (910B, 2024)."""
    return bool(_FIGURE.match(cell)) and not _NAME.match(cell)


def row_line(number: int, cells: Sequence[str], heads: Sequence[str], section: str = "", page: int = 0) -> SheetLine:
    """A row of a table; heads are cut or filled to the number of cells."""
    fitting = tuple(heads[: len(cells)]) + ("",) * (len(cells) - len(heads))
    return SheetLine(number, " | ".join(cells), tuple(cells), fitting, section, page)


def grid_lines(rows: Iterable[Row], section: str = "", *, headed: bool = True) -> list[SheetLine]:
    """Lines of rows; an empty row ends a table, a lone text between rows is the section of what follows.

    Args:
        rows: the rows.
        section: what all of them stand under.
        headed: whether a first row without figures holds the heads.
    """
    lines: list[SheetLine] = []
    heads: tuple[str, ...] = ()
    under = section
    for block in _blocks(rows):
        width = max(len(_trimmed(row.cells)) for row in block)
        if len(block) == 1 and headed and _is_caption(title := _title(block[0])):
            under = f"{section} / {title}" if section else title
            heads = ()
            lines.append(SheetLine(block[0].number, title, section=section, page=block[0].page))
            continue
        first = 0
        while first < len(block) and width > 1 and (title := _title(block[first])):
            under = f"{section} / {title}" if section else title
            lines.append(SheetLine(block[first].number, title, section=section, page=block[first].page))
            first += 1
        found, body = _heads(block[first:]) if headed else ((), ((), block[first:]))
        # A table goes on below an empty row as long as it is as wide.
        if found or width != len(heads):
            heads = found
        lines += [row_line(row.number, row.cells, (), under, row.page) for row in body[0]]
        lines += _body(body[1], heads, under, section)
    return lines


def _body(rows: Sequence[Row], heads: tuple[str, ...], under: str, section: str) -> list[SheetLine]:
    lines = []
    for row in rows:
        cells = _trimmed(row.cells)
        title = _title(row) if len(heads) > 1 else ""
        if title:
            under = f"{section} / {title}" if section else title
        if len(cells) == 1:
            lines.append(SheetLine(row.number, cells[0], section=under, page=row.page))
        else:
            whole = cells if len(cells) >= len(heads) else (*cells, *[""] * (len(heads) - len(cells)))
            lines.append(row_line(row.number, whole, () if row.loose else heads, under, row.page))
    return lines


def _blocks(rows: Iterable[Row]) -> list[list[Row]]:
    blocks: list[list[Row]] = [[]]
    for row in rows:
        if any(cell for cell in row.cells):
            blocks[-1].append(row)
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if block]


def _trimmed(cells: tuple[str, ...]) -> tuple[str, ...]:
    """Without empty cells at the end."""
    end = len(cells)
    while end and not cells[end - 1]:
        end -= 1
    return cells[:end]


def _title(row: Row) -> str:
    """The text of a row whose only cell is its first, if that is no figure."""
    filled = [cell for cell in row.cells if cell]
    return filled[0] if len(filled) == 1 and row.cells[0] and not has_figure(filled[0]) else ""


def _is_caption(title: str) -> bool:
    """Whether a text that stands alone names what follows, rather than being a sentence or a footnote."""
    return 0 < len(title) <= 80 and title[0] not in "*†‡※(（-–•" and title[-1] not in ".。;；,，"


def _heads(rows: Sequence[Row]) -> tuple[tuple[str, ...], tuple[Sequence[Row], Sequence[Row]]]:
    """The heads of a block, its head rows and the rest. A head row has no figure; below one with merged cells stands a second."""
    if len(rows) < 2 or not _is_head(rows[0]):
        return (), ((), rows)
    if rows[0].spans and len(rows) > 2 and _is_head(rows[1]):
        pairs = zip_longest(rows[0].cells, rows[1].cells, fillvalue="")
        return tuple(upper if lower in ("", upper) else f"{upper} / {lower}" if upper else lower for upper, lower in pairs), (rows[:2], rows[2:])
    return rows[0].cells, (rows[:1], rows[1:])


def _is_head(row: Row) -> bool:
    return sum(bool(cell) for cell in row.cells) > 1 and not any(has_figure(cell) for cell in row.cells)

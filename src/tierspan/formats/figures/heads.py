"""Units that stand in the head of a table, or in a column of their own, for cells that hold only a number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from tierspan.quantities.errors import InputError
from tierspan.quantities.units import parse_quantity

_UNIT_HEAD: Final = re.compile(r"\s*(?:units?|单位|計量單位|计量单位)\s*[:：]?\s*", re.IGNORECASE)
_BRACKETS: Final = re.compile(r"[(（\[【]\s*([^()（）\[\]【】]{1,24}?)\s*[)）\]】]")
_LAST_WORD: Final = re.compile(r"[,，/|]\s*([^\s,，]{1,16})\s*$|\s([^\s]{1,12})\s*$|_([A-Za-z%/]{1,8})\s*$")


def unit_cell(cells: Sequence[str], heads: Sequence[str]) -> str:
    """The text of the cell under a head "Unit", "" where there is none."""
    return next((cell for cell, head in zip(cells, heads, strict=False) if _UNIT_HEAD.fullmatch(head)), "")


def with_unit(number: str, column: str, row: str, unit: str) -> str:
    """A bare number with the unit that its unit cell, the head of its column or the head of its row gives; "" where none does."""
    for candidate in _candidates(column, row, unit):
        text = f"{number.strip()} {candidate}"
        try:
            read = parse_quantity(text)
        except InputError:
            continue
        if read.unit != "1" or candidate == "%":
            return text
    return ""


def _candidates(column: str, row: str, unit: str) -> Iterator[str]:
    if unit.strip():
        yield unit.strip()
    for head in (column, row):
        yield from (match[1] for match in _BRACKETS.finditer(head))
    for head in (column, row):
        found = _LAST_WORD.search(_BRACKETS.sub("", head).strip())
        if found:
            yield next(group for group in found.groups() if group)

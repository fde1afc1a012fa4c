"""Tables of counts with percentages: each row's share of the total against the share that is printed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tierspan.answers.audit.claims.amounts import amounts_of
from tierspan.answers.audit.claims.base import number, shown, told
from tierspan.answers.audit.result import Claim
from tierspan.specs.sheet import SheetDocument, SheetLine

_COUNT_HEAD: Final = re.compile(r"count|number|events?|interruptions?|failures?|times|数量|次数|个数|台数|件数", re.IGNORECASE)
_SHARE_HEAD: Final = re.compile(r"%|percent|share|proportion|占比|比例|百分比", re.IGNORECASE)
_TOTAL: Final = re.compile(r"^\s*\**\s*(?:grand\s+)?(?:total|sum|all|合计|总计|总数|共计)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Row:
    """A row with a count and a percentage (None where it has only the count)."""

    line: SheetLine
    count: float
    share: float | None
    step: float


def shares_of(document: SheetDocument) -> Iterator[Claim]:
    """Rows whose percentage is not their count over the total: that of the row of totals, else the sum of all rows.

    A table that closes yields one confirmed claim, one that does not a refuted claim for each wrong row.
    """
    for rows, total, where in _tables(document):
        if total <= 0:
            continue
        wrong = [row for row in rows if row.share is not None and abs(row.count / total - row.share) > max(0.51 * row.step, 0.0006)]
        listed = wrong or [row for row in rows if row.share is not None][:1]
        for row in listed:
            line = told("shares.line", count=number(row.count), total=number(total), share=shown(row.count / total, "%"))
            said = told("ratio.said", said=shown(row.share or 0.0, "%"))
            basis = told(f"shares.{where}", total=number(total))
            arithmetic = (basis, line, said) if wrong else (basis, line, told("shares.all", rows=len(rows)))
            yield Claim(row.line.text.strip(), row.line.number, "shares of a table", "refuted" if wrong else "confirmed", arithmetic)


def _tables(document: SheetDocument) -> Iterator[tuple[list[_Row], float, str]]:
    group: list[_Row] = []
    heads: tuple[str, ...] = ()
    total = 0.0
    for line in (*document.lines, SheetLine(0, "")):
        columns = _columns(line.heads) if line.cells else None
        if columns is None or line.heads != heads:
            if len([row for row in group if row.share is not None]) >= 3:
                yield group, total or sum(row.count for row in group), "total" if total else "sum"
            group, heads, total = [], line.heads, 0.0
        if columns is None:
            continue
        row = _row(line, *columns)
        if row is None:
            continue
        if _TOTAL.match(line.cells[0]):
            total = row.count
        else:
            group.append(row)


def _columns(heads: tuple[str, ...]) -> tuple[int, int] | None:
    share = next((i for i, head in enumerate(heads) if _SHARE_HEAD.search(head)), None)
    count = next((i for i, head in enumerate(heads) if i != share and _COUNT_HEAD.search(head)), None)
    return (count, share) if count is not None and share is not None else None


def _row(line: SheetLine, count: int, share: int) -> _Row | None:
    if max(count, share) >= len(line.cells):
        return None
    counts, shares = amounts_of(line.cells[count]), amounts_of(line.cells[share])
    if len(counts) != 1 or counts[0].unit != "1":
        return None
    if not shares:
        return _Row(line, counts[0].value, None, 0.0)
    per_cent = shares[0].unit == "%"
    return _Row(line, counts[0].value, shares[0].value / (1.0 if per_cent else 100.0), shares[0].step / (1.0 if per_cent else 100.0))

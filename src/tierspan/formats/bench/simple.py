"""Tables of one timing a row: what nearly every tool but nccl-tests prints. Rows are checked here, whatever the tool."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from tierspan.formats.bench.base import Left, Printed, factor_fits, rate_fits
from tierspan.formats.bench.context import Gathered, with_facts
from tierspan.formats.bench.deduce import Shape, deduce
from tierspan.quantities.errors import Place
from tierspan.specs.benchmark import BenchmarkContext, CollectiveLog, CollectiveSample, busbw_factor

PER_RANK_INPUT = ("all_gather", "gather")
"""Operations whose bus bandwidth is (n - 1) times the rate of a rank's own input."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A row as read, SI; what the tool does not print is ``None``."""

    line: int
    text: str
    size: float
    time: Printed | None
    algbw: Printed | None
    busbw: Printed | None
    dtype: str = ""
    wrong: int | None = None


@dataclass(slots=True)
class Table:
    """One run while it is read."""

    tool: str
    operation: str
    rows: list[Measured] = field(default_factory=list)
    left: Left = field(default_factory=Left)
    facts: Gathered = field(default_factory=Gathered)
    first: int = 0
    title: str = ""
    average_Bps: float | None = None
    size_basis: str = "total"
    declared: int | None = None
    library: str = ""

    def log(self, source: str) -> CollectiveLog:
        """Check every row and make the log; rows that break a rule go to ``unread``."""
        ranks, factors = self._ranks()
        samples: list[CollectiveSample] = []
        for row in self.rows:
            if reason := _refusal(row, factors):
                self.left.add(row.line, row.text, reason, **({"factor": round(factors[0], 4)} if reason == "bench.row_factor" else {}))
                continue
            samples.append(
                CollectiveSample(
                    operation=self.operation,
                    size_bytes=row.size,
                    time_s=row.time.value if row.time else None,
                    algbw_Bps=row.algbw.value if row.algbw else None,
                    busbw_Bps=row.busbw.value if row.busbw else None,
                    dtype=row.dtype,
                    wrong=row.wrong,
                    line=row.line,
                )
            )
        context: BenchmarkContext = with_facts(self.facts.context(ranks), library=self.library)
        return CollectiveLog(
            tool=self.tool,
            samples=tuple(samples),
            context=context,
            size_basis=self.size_basis,
            average_busbw_Bps=self.average_Bps,
            unread=tuple(sorted(self.left.found, key=lambda u: u.line)),
            place=Place(source, line=self.first or None),
            title=self.title,
        )

    def _ranks(self) -> tuple[int | None, tuple[float, ...]]:
        declared = self.declared or self.facts.declared_ranks()
        pairs = [(row.algbw, row.busbw) for row in self.rows if row.algbw and row.busbw and row.size > 0]
        if not pairs or not self.operation:
            return declared, ()
        if self.size_basis == "per rank" and self.operation in PER_RANK_INPUT:
            nearest = [(max(round(b.value / a.value), 1), a, b) for a, b in pairs if a.value > 0]
            votes = [n for n, a, b in nearest if factor_fits(a, b, float(n))]
            if votes:
                others = max(sorted(set(votes)), key=votes.count)
                return others + 1, (float(others),)
            # no row fits any number of ranks: all are refused, and what the log declares stands
            return declared, (float(nearest[0][0]),) if nearest else ()
        shapes = [Shape(1, None, "", None, ((a, b),), ()) for a, b in pairs]
        found = deduce(shapes, named=[self.operation], columns=(), declared=declared, least=self.facts.least_ranks())
        if busbw_factor(self.operation, 2) is None:
            return declared, ()
        return found.ranks, found.factors


def _refusal(row: Measured, factors: Sequence[float]) -> str:
    parts = [part for part in (row.time, row.algbw, row.busbw) if part is not None]
    if not parts or any(part.value < 0 for part in parts) or (row.time is not None and row.time.value <= 0):
        return "bench.row_values"
    if row.time is not None and row.algbw is not None and not rate_fits(row.size, row.time, row.algbw):
        return "bench.row_rate"
    if row.algbw is not None and row.busbw is not None and factors and not any(factor_fits(row.algbw, row.busbw, f) for f in factors):
        return "bench.row_factor"
    return ""


def cells(text: str) -> list[str]:
    """Split a line into cells: at bars where it has them, else at white space."""
    if "|" in text:
        return [cell.strip() for cell in text.strip().strip("|").split("|")]
    return text.split()


def is_rule(text: str) -> bool:
    """Whether a line is only a rule of a table."""
    return bool(text) and not re.search(r"[^\s|:+=-]", text)


def logs_of(tables: Iterable[Table], source: str, keep: Callable[[Table], bool] = lambda t: bool(t.rows or t.left.found)) -> list[CollectiveLog]:
    """Make the logs of the tables that hold anything."""
    return [table.log(source) for table in tables if keep(table)]

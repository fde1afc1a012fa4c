"""DeepEP: lines of its tests and the tables of its documentation, for dispatch and combine, normal and low-latency kernels.

DeepEP prints a rate and a time; the size is their product, since its rate is made by dividing the one by the other. Its RDMA
bandwidth is logical: it counts traffic that stays in the node. Lines without a time give a rate only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tierspan.formats.bench.base import Left, Printed, Tool, printed
from tierspan.formats.bench.lines import LogText
from tierspan.formats.bench.simple import cells, is_rule
from tierspan.quantities.errors import Place
from tierspan.specs.benchmark import BenchmarkContext, CollectiveLog, CollectiveSample, StatedRate

NAME = "DeepEP"

_LOW = re.compile(r"\b(Dispatch|Combine) bandwidth: (\S+) GB/s, avg_t=(\S+) us")
_BOTH = re.compile(r"Dispatch \+ combine bandwidth:")
_RANK = re.compile(r"\[rank (\d+)\]")
_BEST = re.compile(r"\[tuning\] Best (dispatch|combine)\s*(?:\((\w+)\))?:?(.*)$")
_RATES = re.compile(r"([\d.]+) GB/s \((RDMA|NVL)\)")
_TIMES = (
    re.compile(r"\bt: ([\d.]+) us"),
    re.compile(r"transmit: ([\d.]+) us"),
    re.compile(r"[\d.]+ \+ ([\d.]+) us"),
    re.compile(r"\(NVL\), ([\d.]+) us"),
)
_TABLE_RATE = re.compile(r"([\d.]+) ?GB/s(?: \((\w+)\))?")
_TABLE_TIME = re.compile(r"([\d.]+) ?us\b")


@dataclass(slots=True)
class _Run:
    title: str
    first: int
    ranks: int | None = None
    samples: list[CollectiveSample] = field(default_factory=list)
    rates: list[StatedRate] = field(default_factory=list)
    left: Left = field(default_factory=Left)
    seen: set[int] = field(default_factory=set)


def _is_header(text: str) -> bool:
    return "|" in text and {"Dispatch #EP", "Combine #EP"} <= set(cells(text))


def recognise(log: LogText) -> bool:
    """Whether the log holds a line or a table of DeepEP."""
    return any(_LOW.search(line.text) or _BOTH.search(line.text) or _BEST.search(line.text) or _is_header(line.text) for line in log.lines)


def read(log: LogText, source: str) -> list[CollectiveLog]:
    """Read all of it: one log for the low-latency lines, one for the best normal kernels, one for each row of a table."""
    runs: dict[str, _Run] = {}
    columns: list[str] = []
    for line in log.lines:
        text = line.text
        if _is_header(text):
            columns = cells(text)
        elif columns and "|" in text:
            if not is_rule(text):
                _table_row(runs, line.number, text, columns)
        elif _LOW.search(text):
            run = runs.setdefault("low latency", _Run("low latency", line.number))
            if rank := _RANK.search(text):
                run.seen.add(int(rank[1]))
            for operation, rate, time in _LOW.findall(text):
                _sample(run, line.number, text, operation.lower(), printed(rate, 1e9), printed(time.rstrip(",|"), 1e-6))
        elif match := _BEST.search(text):
            run = runs.setdefault("normal kernels", _Run("normal kernels", line.number))
            _best_row(run, line.number, text, match)
        elif text:
            columns = []
    for run in runs.values():
        # Every rank prints: a full set of them tells how many there are.
        if len(run.seen) > 1 and run.seen == set(range(len(run.seen))):
            run.ranks = len(run.seen)
    return [_log(run, source) for run in runs.values() if run.samples or run.rates or run.left.found]


def _sample(run: _Run, number: int, text: str, operation: str, rate: Printed | None, time: Printed | None, dtype: str = "") -> None:
    if rate is None or time is None or time.value <= 0 or rate.value < 0:
        run.left.add(number, text, "bench.row_values")
        return
    size = float(round(rate.value * time.value))
    run.samples.append(CollectiveSample(operation, size, time.value, rate.value, None, dtype=dtype, line=number))


def _best_row(run: _Run, number: int, text: str, match: re.Match[str]) -> None:
    operation, dtype, rest = match[1], (match[2] or "").lower(), match[3]
    rates = [(printed(value, 1e9), scope) for value, scope in _RATES.findall(rest)]
    rates = [(rate, scope) for rate, scope in rates if rate and rate.value > 0]
    if not rates:
        run.left.add(number, text, "bench.row_cut")
        return
    rate = rates[0][0]
    time = next((found for pattern in _TIMES if (found := pattern.search(rest))), None)
    if time is not None and rate is not None:
        _sample(run, number, text, operation, rate, printed(time[1], 1e-6), dtype)
        rates = rates[1:]
    run.rates += [StatedRate(operation, r.value, s, dtype, number) for r, s in rates if r]


def _table_row(runs: dict[str, _Run], number: int, text: str, columns: list[str]) -> None:
    values = cells(text)
    if len(values) != len(columns):
        runs.setdefault("table", _Run("table", number)).left.add(number, text, "bench.row_cut")
        return
    for operation in ("dispatch", "combine"):
        start = columns.index(f"{operation.capitalize()} #EP")
        stop = columns.index("Combine #EP") if operation == "dispatch" and columns.index("Combine #EP") > start else len(columns)
        count = re.match(r"\d+", values[start])
        part = " ".join(values[start + 1 : stop])
        rate, time = _TABLE_RATE.search(part), _TABLE_TIME.search(part)
        if not count or not rate:
            runs.setdefault("table", _Run("table", number)).left.add(number, text, "bench.row_values")
            continue
        kind = "low latency" if time else "normal kernels"
        run = runs.setdefault(f"{kind}, EP {count[0]}, table", _Run(f"{kind}, EP {count[0]}", number, int(count[0])))
        bandwidth = printed(rate[1], 1e9)
        if time:
            _sample(run, number, text, operation, bandwidth, printed(time[1], 1e-6))
        elif bandwidth:
            run.rates.append(StatedRate(operation, bandwidth.value, rate[2] or "", "", number))


def _log(run: _Run, source: str) -> CollectiveLog:
    return CollectiveLog(
        tool=NAME,
        samples=tuple(run.samples),
        context=BenchmarkContext(ranks=run.ranks, library="DeepEP"),
        size_basis="per rank",
        unread=tuple(run.left.found),
        place=Place(source, line=run.first),
        title=run.title,
        rates=tuple(run.rates),
    )


TOOL = Tool(NAME, recognise, read)

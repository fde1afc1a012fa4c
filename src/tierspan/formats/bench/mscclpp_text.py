"""MSCCL++ benchmarks: the table of its Python benchmark (against NCCL) and the text of its C++ tests."""

from __future__ import annotations

import re

from tierspan.formats.bench.base import Printed, Tool, printed, size_of
from tierspan.formats.bench.lines import LogText
from tierspan.formats.bench.names import words_in
from tierspan.formats.bench.simple import Measured, Table, cells, is_rule, logs_of
from tierspan.specs.benchmark import CollectiveLog

NAME = "mscclpp benchmark"


def _columns(text: str) -> list[str]:
    names = [re.sub(r"^Size \(.*\)$", "Size", cell) for cell in cells(text)]
    return names if "|" in text and "Size" in names and "Time (us)" in names and "AlgBW (GB/s)" in names else []


def recognise(log: LogText) -> bool:
    """Whether the log holds such a table."""
    return any(_columns(line.text) for line in log.lines)


def read(log: LogText, source: str) -> list[CollectiveLog]:
    """Read every table; the NCCL columns beside it are a run of their own."""
    tables: list[Table] = []
    columns: list[str] = []
    operation = "all_reduce"
    for line in log.lines:
        text = line.text
        if header := _columns(text):
            columns = header
            tables.append(Table(NAME, operation, first=line.number, library="MSCCL++"))
            if "NCCL AlgBW (GB/s)" in columns:
                tables.append(Table(NAME, operation, first=line.number, library="NCCL", title="NCCL columns"))
        elif columns and "|" in text:
            if not is_rule(text):
                pair = tables[-2:] if "NCCL AlgBW (GB/s)" in columns else tables[-1:]
                for table in pair:
                    _row(table, line.number, text, columns, "NCCL " if table.library == "NCCL" else "")
        elif text and not is_rule(text):
            columns = []
            # The benchmark is of all_reduce; a run of another operation names it.
            operation = next(iter(words_in(text)), operation)
    return logs_of(tables, source)


def _row(table: Table, number: int, text: str, columns: list[str], prefix: str) -> None:
    by = dict(zip(columns, cells(text), strict=False))
    if len(cells(text)) != len(columns):
        table.left.add(number, text, "bench.row_cut")
        return
    size, rounded = size_of(by["Size"]), printed(by["Size"].split()[0] if by["Size"] else "")
    time, algbw = printed(by.get(f"{prefix}Time (us)", ""), 1e-6), printed(by.get(f"{prefix}AlgBW (GB/s)", ""), 1e9)
    check = by.get(f"{prefix}Correctness", "")
    if size is None or rounded is None or rounded.value <= 0 or time is None or algbw is None:
        table.left.add(number, text, "bench.row_values")
    elif check.upper() == "FAIL":
        table.left.add(number, text, "bench.check_failed")
    elif not _fits(size, rounded, time, algbw):
        table.left.add(number, text, "bench.row_rate")
    else:
        exact = size if size == round(size) and _fits(size, Printed(1.0, 0.0), time, algbw) else algbw.value * time.value
        table.rows.append(Measured(number, text, exact, time, algbw, None, wrong=0 if check.upper() == "PASS" else None))


def _fits(size: float, rounded: Printed, time: Printed, algbw: Printed) -> bool:
    """Size over time is the rate, within the rounding of all three (the size is printed with one decimal of its unit)."""
    share = rounded.half / rounded.value
    if time.value <= 0:
        return False
    low, high = size * (1 - share) / time.high, size * (1 + share) / time.low if time.low > 0 else float("inf")
    return low <= algbw.high * (1 + 1e-9) and high >= algbw.low * (1 - 1e-9)


TOOL = Tool(NAME, recognise, read)

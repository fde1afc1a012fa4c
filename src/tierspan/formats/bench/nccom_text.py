"""nccom-test of AWS Neuron: columns size(B), count(elems), type, time:avg(us), algbw(GB/s), busbw(GB/s)."""

from __future__ import annotations

import re

from tierspan.formats.bench.base import Tool, looks_like_row, printed, rate_fits, whole
from tierspan.formats.bench.context import command_of
from tierspan.formats.bench.lines import LogText
from tierspan.formats.bench.names import TYPE_BYTES, operation_of
from tierspan.formats.bench.simple import Measured, Table, logs_of
from tierspan.specs.benchmark import CollectiveLog

NAME = "nccom-test"

_COMMAND = re.compile(r"\b(nccom-test)\b(.*)$")
_OPERATION = re.compile(r"\s(allr|allg|redsct|alltoall|sendrecv|permute|bcast|all_reduce|all_gather|reduce_scatter|all_to_all)\b")
_AVERAGE = re.compile(r"Avg bus bandwidth:\s*([\d.]+)\s*GB/s")
_GB, _GIB = 1e9, float(2**30)


def _columns(text: str) -> list[str]:
    names = text.split()
    return names if "size(B)" in names and "algbw(GB/s)" in names and any(n.startswith("time") for n in names) else []


def recognise(log: LogText) -> bool:
    """Whether the log holds such a table."""
    return any(_columns(line.text) for line in log.lines)


def read(log: LogText, source: str) -> list[CollectiveLog]:
    """Read every table. Old versions print GiB/s as GB/s: the unit is the one that more rows obey."""
    tables: list[Table] = []
    rows: list[tuple[int, list[str]]] = []
    columns: list[str] = []
    operation, declared, command = "", None, ""
    for line in log.lines:
        text = line.text
        if match := _COMMAND.search(text):
            found = _OPERATION.search(match[2])
            ranks = re.search(r"\s(?:-r|--nworkers)[ =](\d+)\b", match[2])
            operation, declared, command = (
                operation_of(found[1]) if found else "", int(ranks[1]) if ranks else None, command_of(match[1], match[2]),
            )  # fmt: skip
        if header := _columns(text):
            columns = header
            _fill(tables, rows, columns)
            rows = []
            tables.append(Table(NAME, operation, first=line.number, declared=declared, title=command))
        elif match := _AVERAGE.search(text):
            if tables and columns:
                average = printed(match[1], _GB)
                tables[-1].average_Bps = average.value if average else None
                _fill(tables, rows, columns)
            rows, columns = [], []
        elif columns and text and whole(text.split()[0]) is not None:
            rows.append((line.number, text.split()))
        elif columns and looks_like_row(text, 4):
            tables[-1].left.add(line.number, text, "bench.row_values")
    _fill(tables, rows, columns)
    for table in tables:
        if not table.operation and table.rows:
            table.title = table.title or "nccom-test"
    return logs_of(tables, source)


def _fill(tables: list[Table], rows: list[tuple[int, list[str]]], columns: list[str]) -> None:
    if not tables or not rows:
        return
    table = tables[-1]
    unit = max((_GB, _GIB), key=lambda u: sum(_fits(row, columns, u) for _, row in rows))
    for number, values in rows:
        text = " ".join(values)
        row = _measured(number, values, columns, unit)
        if row is None:
            table.left.add(number, text, "bench.row_values" if len(values) >= len(columns) else "bench.row_cut")
        else:
            table.rows.append(row)


def _fits(values: list[str], columns: list[str], unit: float) -> bool:
    row = _measured(0, values, columns, unit)
    return row is not None and row.time is not None and row.algbw is not None and rate_fits(row.size, row.time, row.algbw)


def _measured(number: int, values: list[str], columns: list[str], unit: float) -> Measured | None:
    by = dict(zip(columns, values, strict=False))
    time_name = next((n for n in columns if n in ("time:avg(us)", "time(us)")), next(n for n in columns if n.startswith("time")))
    size, time = whole(by.get("size(B)", "")), printed(by.get(time_name, ""), 1e-6)
    algbw, busbw = printed(by.get("algbw(GB/s)", ""), unit), printed(by.get("busbw(GB/s)", ""), unit)
    dtype = by.get("type", "")
    if size is None or time is None or algbw is None or busbw is None or (dtype and dtype not in TYPE_BYTES):
        return None
    return Measured(number, " ".join(values), float(size), time, algbw, busbw, dtype=dtype)


TOOL = Tool(NAME, recognise, read)

"""hccl_test of Huawei Ascend (a table with bars) and hccl_demo of Intel Gaudi (blocks of ``[BENCHMARK]`` lines)."""

from __future__ import annotations

import re

from tierspan.formats.bench.base import Printed, Tool, printed, whole
from tierspan.formats.bench.lines import LogText
from tierspan.formats.bench.names import operation_of
from tierspan.formats.bench.simple import Measured, Table, cells, is_rule, logs_of
from tierspan.specs.benchmark import CollectiveLog

TEST, DEMO = "hccl_test", "hccl_demo"

_COMMAND = re.compile(r"\b(\w+)_test\b(.*)$")
_PROCESSES = re.compile(r"mpirun\b.*?\s-(?:n|np)[ =](\d+)\b")
_BLOCK = re.compile(r"\[BENCHMARK\]\s*(hccl\w+)\s*\((.*)\)")
_VALUE = re.compile(r"\[BENCHMARK\]\s*(NW Bandwidth|Algo Bandwidth|Time)\s*:\s*(\S+)\s*(GB/s|MB/s|seconds|ms|us)?")
_SCALES = {"GB/s": 1e9, "MB/s": 1e6, "seconds": 1.0, "ms": 1e-3, "us": 1e-6}


def _columns(text: str) -> list[str]:
    names = [cell.rstrip(":").strip() for cell in cells(text)]
    return names if "|" in text and "data_size(Bytes)" in names else []


def recognise_test(log: LogText) -> bool:
    """Whether the log holds a table of hccl_test."""
    return any(_columns(line.text) for line in log.lines)


def read_test(log: LogText, source: str) -> list[CollectiveLog]:
    """Read every table; the size is that of one NPU, and the operation is known from the command only."""
    tables: list[Table] = []
    columns: list[str] = []
    operation, declared = "", None
    for line in log.lines:
        text = line.text
        if match := _COMMAND.search(text):
            operation = operation_of(match[1]) or operation
            processes = _PROCESSES.search(text)
            declared = int(processes[1]) if processes else declared
        if header := _columns(text):
            columns = header
            tables.append(Table(TEST, operation, first=line.number, declared=declared, size_basis="per rank", library="HCCL"))
        elif columns and "|" in text and not is_rule(text):
            _test_row(tables[-1], line.number, text, columns)
        elif columns and text:
            columns = []
    return logs_of(tables, source)


def _test_row(table: Table, number: int, text: str, columns: list[str]) -> None:
    by = dict(zip(columns, cells(text), strict=False))
    size = whole(by.get("data_size(Bytes)", ""))
    time = printed(by.get("aveg_time(us)", by.get("avg_time(us)", "")), 1e-6)
    algbw = printed(by.get("alg_bandwidth(GB/s)", ""), 1e9)
    check = by.get("check_result", "").lower()
    if size is None or time is None or algbw is None:
        table.left.add(number, text, "bench.row_values" if len(by) == len(columns) else "bench.row_cut")
    elif check.startswith("fail"):
        table.left.add(number, text, "bench.check_failed")
    else:
        table.rows.append(Measured(number, text, float(size), time, algbw, None, wrong=0 if check == "success" else None))


def recognise_demo(log: LogText) -> bool:
    """Whether the log holds a block of hccl_demo."""
    return any(_BLOCK.search(line.text) for line in log.lines)


def read_demo(log: LogText, source: str) -> list[CollectiveLog]:
    """Read every block. ``Time`` is of all iterations; a collective's size is a rank's input."""
    blocks: list[tuple[int, str, str, dict[str, Printed | None], str]] = []
    for line in log.lines:
        if match := _BLOCK.search(line.text):
            blocks.append((line.number, match[1], match[2], {}, line.text))
        elif (match := _VALUE.search(line.text)) and blocks:
            blocks[-1][3][match[1]] = printed(match[2], _SCALES.get(match[3] or "", 1.0)) if match[3] else None
    tables: dict[str, Table] = {}
    for number, name, arguments, values, text in blocks:
        operation = operation_of(name)
        table = tables.setdefault(operation, Table(DEMO, operation, first=number, library="HCL", size_basis="per rank", title=name))
        settings: dict[str, str] = dict(re.findall(r"(\w+)\s*=\s*([^,\s]+)", arguments))
        size = whole(settings.get("InputSizeInBytes", settings.get("size", "")))
        iterations = whole(settings.get("iterations", "1")) or 1
        total, algbw, busbw = (values.get(key) for key in ("Time", "Algo Bandwidth", "NW Bandwidth"))
        if not operation:
            table.left.add(number, text, "bench.operation_unknown", value=name[:40])
        elif size is None or algbw is None:
            table.left.add(number, text, "bench.row_cut")
        else:
            time = Printed(total.value / iterations, total.half / iterations) if total else None
            table.rows.append(Measured(number, text, float(size), time, algbw, busbw, dtype=settings.get("dtype", "")[:12]))
    return logs_of(tables.values(), source)


TEST_TOOL = Tool(TEST, recognise_test, read_test)
DEMO_TOOL = Tool(DEMO, recognise_demo, read_demo)

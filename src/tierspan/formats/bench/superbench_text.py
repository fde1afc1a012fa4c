"""Results of SuperBench: names such as ``nccl-bw:nvlink/allreduce_8589934592_busbw:0`` with a value, in text or JSON lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tierspan.formats.bench.base import Tool, printed
from tierspan.formats.bench.lines import LogText
from tierspan.formats.bench.names import operation_of
from tierspan.formats.bench.secrets import redacted
from tierspan.formats.bench.simple import Measured, Table, logs_of
from tierspan.specs.benchmark import CollectiveLog

NAME = "superbench"

_METRIC = re.compile(
    r"(?P<bench>[nr]ccl-bw[\w:.-]*)/(?P<operation>[a-z]+)_(?P<size>\d{1,15})_(?P<what>time|algbw|busbw)(?P<rank>:[\d,]+)?"
    r"[\"']?\s*[:=|,\t ]\s*\[?(?P<value>[\d.]+(?:e[+-]?\d+)?)"
)
_NODE = re.compile(r"\"node\"\s*:\s*\"([\w.-]{1,80})\"")
_SCALES = {"time": 1e-6, "algbw": 1e9, "busbw": 1e9}


def recognise(log: LogText) -> bool:
    """Whether the log holds such a name with a value."""
    return any("ccl-bw" in line.text and _METRIC.search(line.text) for line in log.lines)


def read(log: LogText, source: str) -> list[CollectiveLog]:
    """Read all results: one log a benchmark, operation, node and rank."""
    found: dict[tuple[str, str, str, str], dict[int, dict[str, tuple[int, str]]]] = {}
    node = ""
    for line in log.lines:
        if "ccl-bw" not in line.text:
            continue
        node = match[1] if (match := _NODE.search(line.text)) else node
        for metric in _METRIC.finditer(line.text):
            key = (metric["bench"], operation_of(metric["operation"]), node, metric["rank"] or "")
            found.setdefault(key, {}).setdefault(int(metric["size"]), {})[metric["what"]] = (line.number, metric["value"])
    return logs_of((_table(key, sizes) for key, sizes in found.items()), source)


def _table(key: Sequence[str], sizes: dict[int, dict[str, tuple[int, str]]]) -> Table:
    bench, operation, node, rank = key
    title = " ".join(part for part in (bench, node, rank.lstrip(":")) if part)
    table = Table(NAME, operation, title=redacted(title)[:120], library="RCCL" if bench.startswith("r") else "NCCL")
    table.first = min(number for metrics in sizes.values() for number, _ in metrics.values())
    for size, metrics in sorted(sizes.items()):
        number = min(number for number, _ in metrics.values())
        values = {what: printed(value, _SCALES[what]) for what, (_, value) in metrics.items()}
        text = f"{bench}/{operation}_{size}"
        if not operation:
            table.left.add(number, text, "bench.operation_unknown", value=bench[:40])
        elif any(value is None for value in values.values()):
            table.left.add(number, text, "bench.row_values")
        else:
            table.rows.append(Measured(number, text, float(size), values.get("time"), values.get("algbw"), values.get("busbw")))
    return table


TOOL = Tool(NAME, recognise, read)

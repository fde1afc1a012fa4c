"""All-reduce benchmarks written in PyTorch: a Markdown table of payload, busbw and algbw, or one sentence with both rates."""

from __future__ import annotations

import re

from tierspan.formats.bench.base import Tool, printed, size_of
from tierspan.formats.bench.context import Gathered
from tierspan.formats.bench.lines import LogText
from tierspan.formats.bench.simple import Measured, Table, cells, is_rule, logs_of
from tierspan.specs.benchmark import CollectiveLog

NAME = "torch all_reduce benchmark"

_SENTENCE = re.compile(
    r"average bandwidth of (?:all_?reduce) with a ([\d.]+(?:e[+-]?\d+)?)\s*(GB|MB) payload \((?:\d+ trials?, )?(\d+) (?:ranks|GPUs)\)", re.I
)
_RATE = re.compile(r"\b(algbw|busbw)\s*:\s*([\d.]+)\s*GBps")
_LAUNCH = re.compile(r"--nproc[_-]per[_-]node[= ](\d+)")
_NODES = re.compile(r"--nnodes[= ](\d+)\b")


def _is_header(text: str) -> bool:
    names = [cell.lower() for cell in cells(text)]
    return "|" in text and "payload" in names and "busbw" in names


def recognise(log: LogText) -> bool:
    """Whether the log holds such a table or sentence."""
    return any(_is_header(line.text) or _SENTENCE.search(line.text) for line in log.lines)


def read(log: LogText, source: str) -> list[CollectiveLog]:
    """Read every table and sentence."""
    tables: list[Table] = []
    columns: list[str] = []
    launched: tuple[int, int] | None = None
    waiting: dict[str, str] | None = None
    facts = Gathered()
    for line in log.lines:
        text = line.text
        if not text.startswith("# source:") and "_perf" not in text:
            facts.take(line)
        if match := _LAUNCH.search(text):
            nodes = _NODES.search(text)
            variable = nodes is None and "--nnodes" in text
            launched = None if variable else (int(match[1]), int(nodes[1]) if nodes else 1)
        if _is_header(text):
            columns = [cell.lower() for cell in cells(text)]
            tables.append(Table(NAME, "all_reduce", first=line.number, size_basis="per rank"))
            if launched:
                tables[-1].declared = launched[0] * launched[1]
            launched = None
            tables[-1].facts, facts = facts, Gathered()
        elif match := _SENTENCE.search(text):
            # These scripts print M x N x 4 / 1e9: decimal units.
            size = printed(match[1], {"GB": 1e9, "MB": 1e6}[match[2].upper()])
            columns = []
            tables.append(Table(NAME, "all_reduce", first=line.number, size_basis="per rank", declared=int(match[3])))
            waiting = {"size": repr(size.value) if size else ""}
            tables[-1].facts, facts = facts, Gathered()
        elif waiting is not None and (match := _RATE.search(text)):
            waiting[match[1]] = match[2]
            if "algbw" in waiting and "busbw" in waiting:
                _sentence_row(tables[-1], line.number, text, waiting)
                waiting = None
        elif columns and "|" in text:
            if not is_rule(text):
                _row(tables[-1], line.number, text, columns)
        elif text and columns:
            columns, facts = [], Gathered()
            facts.take(line)
    return logs_of(tables, source)


def _row(table: Table, number: int, text: str, columns: list[str]) -> None:
    values = dict(zip(columns, cells(text), strict=False))
    size = size_of(values.get("payload", ""))
    rates = [printed(re.sub(r"\s*GBps$", "", values.get(name, "")), 1e9) for name in ("algbw", "busbw")]
    if size is None or rates[1] is None or ("algbw" in columns and rates[0] is None):
        table.left.add(number, text, "bench.row_values")
        return
    table.rows.append(Measured(number, text, size, None, rates[0], rates[1]))


def _sentence_row(table: Table, number: int, text: str, values: dict[str, str]) -> None:
    algbw, busbw = printed(values["algbw"], 1e9), printed(values["busbw"], 1e9)
    if values["size"] and algbw and busbw:
        table.rows.append(Measured(number, text, float(values["size"]), None, algbw, busbw, dtype="float"))
    else:
        table.left.add(number, text, "bench.row_values")


TOOL = Tool(NAME, recognise, read)

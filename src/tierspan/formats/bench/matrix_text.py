"""Matrices of point-to-point bandwidth and latency: nvbandwidth and p2pBandwidthLatencyTest."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tierspan.formats.bench.base import Left, Printed, Tool, printed
from tierspan.formats.bench.context import Gathered
from tierspan.formats.bench.lines import Line, LogText
from tierspan.quantities.errors import Place
from tierspan.specs.benchmark import CollectiveLog, PairMatrix

NVBANDWIDTH, P2P = "nvbandwidth", "p2pBandwidthLatencyTest"

_RUNNING = re.compile(r"Running (\w+)\.$")
_NV_HEAD = re.compile(r"^mem\w* .*\((GB/s|ns|us)\)$")
_P2P_HEAD = re.compile(r"^((?:Uni|Bi)directional .*|P2P=\w+ .*)Matrix \((GB/s|us)\)$")
_CORNER = re.compile(r"^(?:D\\D|GPU|CPU)((?:\s+\d+)+)$")
_SUM = re.compile(r"^SUM (\w+) (\S+)$")
_DEVICE = re.compile(r"^Device:?\s*\d+\s*[,:]\s*([^,(]+)")
_SCALES = {"GB/s": 1e9, "us": 1e-6, "ns": 1e-9}


@dataclass(slots=True)
class _Matrix:
    title: str
    unit: str
    line: int
    columns: list[str] = field(default_factory=list)
    rows: dict[str, list[Printed | None]] = field(default_factory=dict)
    broken: bool = False

    def typed(self) -> PairMatrix:
        # nvbandwidth measures one direction while the other is busy, and adds both in its totals only.
        both = self.title.startswith("Bidirectional") or ("bidirectional" in self.title and "_total" in self.title)
        values = tuple(tuple(v.value if v else None for v in row) for row in self.rows.values())
        quantity = "bandwidth" if self.unit == "GB/s" else "latency"
        return PairMatrix(self.title, quantity, tuple(self.rows), tuple(self.columns), values, 2 if both else 1, self.line)


@dataclass(slots=True)
class _Run:
    first: int = 0
    matrices: list[_Matrix] = field(default_factory=list)
    left: Left = field(default_factory=Left)
    facts: Gathered = field(default_factory=Gathered)
    said: int = 0
    """How many accelerators the text had named when the last matrix began."""


def recognise_nvbandwidth(log: LogText) -> bool:
    """Whether the log holds a matrix of nvbandwidth."""
    return any(_NV_HEAD.match(line.text) for line in log.lines)


def recognise_p2p(log: LogText) -> bool:
    """Whether the log holds a matrix of p2pBandwidthLatencyTest."""
    return any(_P2P_HEAD.match(line.text) for line in log.lines)


def read_nvbandwidth(log: LogText, source: str) -> list[CollectiveLog]:
    """Read all matrices of nvbandwidth; its sum line is held against each."""
    run = _Run()
    title = ""
    current: _Matrix | None = None
    for line in log.lines:
        text = line.text
        if match := _RUNNING.search(text):
            title, current = match[1], None
        elif match := _NV_HEAD.match(text):
            current = _start(run, title or text, match[1], line)
        elif match := _SUM.match(text):
            _check_sum(run, current, line, match[1], match[2])
            current = None
        elif current is not None and text:
            if not _take(run, current, line):
                current = None
        elif text:
            _facts(run, line)
    return _logs(NVBANDWIDTH, [run], source)


def read_p2p(log: LogText, source: str) -> list[CollectiveLog]:
    """Read all matrices of p2pBandwidthLatencyTest; a title that comes again begins another run."""
    runs = [_Run()]
    current: _Matrix | None = None
    for line in log.lines:
        text = line.text
        if match := _P2P_HEAD.match(text):
            title = match[1].strip()
            if any(matrix.title == title for matrix in runs[-1].matrices):
                # What was said since the last matrix belongs to the new run.
                runs.append(_Run(facts=Gathered(prose=runs[-1].facts.prose[runs[-1].said :])))
            current = _start(runs[-1], title, match[2], line)
            runs[-1].said = len(runs[-1].facts.prose)
        elif current is not None and text:
            if not _take(runs[-1], current, line):
                current = None
                _facts(runs[-1], line)
        elif text:
            _facts(runs[-1], line)
    for run in runs:
        run.facts.prose = run.facts.prose[: run.said]
    return _logs(P2P, runs, source)


def _facts(run: _Run, line: Line) -> None:
    if match := _DEVICE.match(line.text):
        run.facts.devices.append(match[1].strip())
    elif not line.text.startswith("# source"):
        run.facts.take(line)


def _start(run: _Run, title: str, unit: str, line: Line) -> _Matrix:
    run.first = run.first or line.number
    run.matrices.append(_Matrix(title, unit, line.number))
    return run.matrices[-1]


def _take(run: _Run, matrix: _Matrix, line: Line) -> bool:
    """Take a line of a matrix; False if it is none, and the matrix is over."""
    text = line.text
    tokens = text.split()
    if not matrix.columns:
        corner = _CORNER.match(text)
        if corner or all(t.isdigit() for t in tokens):
            matrix.columns = corner[1].split() if corner else tokens
            return True
        return False
    if not tokens[0].isdigit():
        # A second corner: the CPU part of a latency matrix has the same title.
        return False
    values = [printed(t, _SCALES[matrix.unit]) for t in tokens[1:]]
    readable = all(v is not None or t == "N/A" for v, t in zip(values, tokens[1:], strict=True))
    if len(values) != len(matrix.columns) or not readable or tokens[0] in matrix.rows or any(v and v.value < 0 for v in values):
        if len(values) != len(matrix.columns):
            run.left.add(line.number, text, "bench.matrix_row", found=len(values), expected=len(matrix.columns))
        else:
            run.left.add(line.number, text, "bench.row_values")
        matrix.broken = True
        return True
    matrix.rows[tokens[0]] = values
    return True


def _check_sum(run: _Run, matrix: _Matrix | None, line: Line, title: str, stated: str) -> None:
    if matrix is None or matrix.broken or matrix.title != title:
        return
    sum_read = printed(stated, _SCALES[matrix.unit])
    cells = [v for row in matrix.rows.values() for v in row if v]
    found = sum(v.value for v in cells)
    if sum_read is None or abs(found - sum_read.value) > sum(v.half for v in cells) + sum_read.half:
        run.left.add(line.number, line.text, "bench.matrix_sum", stated=stated[:20], found=round(found / _SCALES[matrix.unit], 2))
        run.matrices.remove(matrix)


def _logs(tool: str, runs: list[_Run], source: str) -> list[CollectiveLog]:
    logs = []
    for run in runs:
        matrices = tuple(matrix.typed() for matrix in run.matrices if matrix.rows)
        if matrices or run.left.found:
            context = run.facts.context(None)
            place = Place(source, line=run.first or None)
            logs.append(CollectiveLog(tool, (), context, unread=tuple(run.left.found), place=place, matrices=matrices))
    return logs


NVBANDWIDTH_TOOL = Tool(NVBANDWIDTH, recognise_nvbandwidth, read_nvbandwidth)
P2P_TOOL = Tool(P2P, recognise_p2p, read_p2p)

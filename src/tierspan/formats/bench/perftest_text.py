"""RDMA benchmarks of perftest: ib_write_bw, ib_read_bw, ib_send_bw and their latency siblings."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from tierspan.formats.bench.base import Left, Printed, Tool, looks_like_row, printed, whole
from tierspan.formats.bench.lines import LogText
from tierspan.formats.bench.names import TYPE_BYTES
from tierspan.formats.bench.secrets import redacted
from tierspan.quantities.errors import Place
from tierspan.specs.benchmark import BenchmarkContext, CollectiveLog, CollectiveSample

NAME = "perftest"

_BANNER = re.compile(r"\b((?:RDMA_Write|RDMA_Read|Send|Atomic\w*|Write|Read)(?: Bidirectional)?(?: Post List)?) (BW|Latency) Test\b")
_COLUMN = re.compile(
    r"#bytes|#iterations|BW (?:peak|average)\s*\[[^\]]*\]|MsgRate\s*\[[^\]]*\]|t_\w+\s*\[[^\]]*\]|\d[\d.]*% percentile\s*\[[^\]]*\]|tps \w+"
)
_PROGRAM = re.compile(r"\bib_(?:read|write|send|atomic)_(?:bw|lat)\b")
# perftest counts MB as 2**20 bytes; Gb as 1e9 bits.
_UNITS = {"MB/sec": 2.0**20, "MiB/sec": 2.0**20, "Gb/sec": 1e9 / 8}
_DEVICE = re.compile(r"\bDevice\s*:\s*([\w.-]+)")
_LINK = re.compile(r"Link type\s*:\s*(\w+)")


@dataclass(slots=True)
class _Run:
    title: str = ""
    columns: list[str] = field(default_factory=list)
    link: str = ""
    first: int = 0
    samples: list[CollectiveSample] = field(default_factory=list)
    left: Left = field(default_factory=Left)


def _columns(text: str) -> list[str]:
    return [match[0] for match in _COLUMN.finditer(text)] if "#bytes" in text and "#iterations" in text else []


def recognise(log: LogText) -> bool:
    """Whether the log holds a table of perftest or the banner of a test."""
    return any(_columns(line.text) for line in log.lines)


def read(log: LogText, source: str) -> list[CollectiveLog]:
    """Read every table; what both ends of a test print is one table each."""
    runs = [_Run()]
    program = ""
    for line in log.lines:
        run, text = runs[-1], line.text
        if match := _BANNER.search(text):
            if run.samples or run.left.found:
                run = _Run()
                runs.append(run)
            run.title = f"{match[1]} {match[2]} Test"
        elif header := _columns(text):
            if run.samples or run.left.found:
                run = _Run(title=program or run.title, link=run.link)
                runs.append(run)
            run.columns, run.first = header, run.first or line.number
            run.title = run.title or program
            program = ""
        elif match := _LINK.search(text):
            run.link = {"IB": "IB", "Ethernet": "RoCE"}.get(match[1], "")
        elif run.columns and text and whole(text.split()[0]) is not None:
            _row(run, line.number, text)
        elif run.columns and looks_like_row(text, 4) and TYPE_BYTES.keys().isdisjoint(text.split()):
            run.left.add(line.number, text, "bench.row_values")
        elif match := _PROGRAM.search(text):
            program = match[0]
        if (match := _DEVICE.search(text)) and run.title and "," not in run.title:
            run.title = f"{run.title}, {redacted(match[1])[:40]}"
    return [_log(run, source) for run in runs if run.samples or run.left.found]


def _row(run: _Run, number: int, text: str) -> None:
    values = text.split()
    size = whole(values[0])
    latency = any(name.startswith("t_") for name in run.columns)
    needed = len(run.columns) - (1 if run.columns[-1].startswith("MsgRate") else 0)
    if size is None or size <= 0 or len(values) < 3 or not TYPE_BYTES.keys().isdisjoint(values):
        # Also the rows of nccl-tests begin with two whole numbers; theirs go on with a type.
        return
    if len(values) > len(run.columns) or len(values) < min(needed, len(run.columns)):
        run.left.add(number, text, "bench.row_cut" if len(values) < needed else "bench.row_values")
        return
    by = dict(zip(run.columns, values, strict=False))
    _latency_row(run, number, text, size, by) if latency else _bandwidth_row(run, number, text, size, by)


def _bandwidth_row(run: _Run, number: int, text: str, size: int, by: dict[str, str]) -> None:
    name = next((n for n in by if n.startswith("BW average")), "")
    unit = name.partition("[")[2].rstrip("]")
    if unit not in _UNITS:
        run.left.add(number, text, "bench.unit_unknown", value=unit[:20])
        return
    average = printed(by[name], _UNITS[unit])
    peak = printed(by.get(next((n for n in by if n.startswith("BW peak")), ""), ""))
    rate = next((printed(value, 1e6) for n, value in by.items() if n.startswith("MsgRate")), None)
    if average is None or average.value <= 0 or peak is None:
        run.left.add(number, text, "bench.row_values")
    elif rate is not None and not _messages_fit(size, rate, average):
        run.left.add(number, text, "bench.row_rate_messages")
    else:
        run.samples.append(CollectiveSample("point_to_point", float(size), None, average.value, None, line=number))


def _messages_fit(size: int, rate: Printed, bandwidth: Printed) -> bool:
    return size * rate.low <= bandwidth.high * (1 + 1e-9) and size * rate.high >= bandwidth.low * (1 - 1e-9)


def _latency_row(run: _Run, number: int, text: str, size: int, by: dict[str, str]) -> None:
    times = {n.partition("[")[0]: printed(v, 1e-6) for n, v in by.items() if n.startswith("t_") and n.endswith("[usec]")}
    time = times.get("t_avg") or times.get("t_typical")
    least, most = times.get("t_min"), times.get("t_max")
    ordered = time and (least is None or least.low <= time.high) and (most is None or time.low <= most.high)
    if time is None or time.value <= 0 or not ordered:
        run.left.add(number, text, "bench.row_values")
    else:
        run.samples.append(CollectiveSample("point_to_point", float(size), time.value, None, None, line=number))


def _log(run: _Run, source: str) -> CollectiveLog:
    context = replace(BenchmarkContext(), ranks=2, transport=run.link)
    return CollectiveLog(
        tool=NAME,
        samples=tuple(run.samples),
        context=context,
        unread=tuple(run.left.found),
        place=Place(source, line=run.first or None),
        title=run.title,
        directions=2 if "Bidirectional" in run.title else 1,
    )


TOOL = Tool(NAME, recognise, read)

"""Text output of nccl-tests and rccl-tests of all ages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tierspan.formats.bench.base import Left, Tool, factor_fits, looks_like_row, printed, rate_fits
from tierspan.formats.bench.context import Gathered
from tierspan.formats.bench.deduce import Deduced, Shape, deduce
from tierspan.formats.bench.lines import Line, LogText, heading_before
from tierspan.formats.bench.names import TYPE_BYTES, operation_of, programs_in, words_in
from tierspan.formats.bench.nccl_row import Head, Row, Timing, expected_values, is_rest, known_type, layouts_exist, parse_row, split_head
from tierspan.formats.bench.secrets import redacted
from tierspan.quantities.errors import Place
from tierspan.specs.benchmark import CollectiveLog, CollectiveSample

NAME = "nccl-tests"
LOOKS = "nccl-tests, rccl-tests: rows of size, count, type, ... time, algbw, busbw"

_COLUMNS = ("size", "count", "type", "redop", "root", "time", "cputime", "algbw", "busbw", "#wrong", "wrong", "error", "i_min", "timestamp")
_AVERAGE = re.compile(r"Avg bus bandwidth\s*:\s*([\d.eE+-]+)")
_START = re.compile(r"nThreads?\s+\d+\s+nGpus\s+\d+|Collective test starting")
_FAILED = re.compile(r"Test (?:CUDA|NCCL|MPI)? ?failure[^'\"\n]*(?:['\"]([^'\"]+)['\"])?")
_OTHER_TABLE = re.compile(r"#bytes\s+#iterations|^size\(B\)\s|^\|.*\|$|^Running \w+\.$|Matrix \(")
_UNSUPPORTED = ("hypercube",)


@dataclass(slots=True)
class _Run:
    """One table while it is read."""

    first: int = 0
    columns: tuple[str, ...] = ()
    facts: Gathered = field(default_factory=Gathered)
    rows: list[tuple[int, str, Row]] = field(default_factory=list)
    left: Left = field(default_factory=Left)
    programs: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    average_Bps: float | None = None
    failure: str = ""
    failed_at: int = 0
    title: str = ""
    foreign: bool = False
    later: list[Line] = field(default_factory=list)
    """Text after rows: of this run if a row follows or the log ends, else of the next."""
    pending: tuple[int, str, list[str]] | None = None


def is_header(text: str) -> bool:
    """Whether a line is the column line of a table."""
    words = text.lstrip("#").split()
    return "algbw" in words and "busbw" in words and "size" in words and ("time" in words or "cputime" in words) and "|" not in text


def recognise(log: LogText) -> bool:
    """Whether the log holds a table of nccl-tests, or the beginning of one that failed."""
    foreign = False
    for line in log.lines:
        if is_header(line.text) or _START.search(line.text):
            return True
        foreign = foreign or bool(_OTHER_TABLE.search(line.text))
        if foreign:
            continue
        if (head := _head(line.text, ())) and known_type(head) and head.dtype and (not head.rest or layouts_exist(head, ())):
            return True
    return False


def read(log: LogText, source: str) -> list[CollectiveLog]:
    """Read every table; a table without a usable row is kept if it has unread rows or a failure."""
    runs: list[_Run] = [_Run()]
    for line in log.lines:
        _take(runs, line)
    for before, run in zip([_Run(), *runs], runs, strict=False):
        _finish_pending(run)
        _flush(run)
        if re.search(r"\bsame\b.* nodes?\b", run.title) and not run.facts.ranks_listed:
            run.facts.ranks_listed, run.facts.devices = before.facts.ranks_listed, before.facts.devices
    return [_log(run, source, heading_before(log.lines, run.first)) for run in runs if run.rows or run.left.found or run.failure]


def _take(runs: list[_Run], line: Line) -> None:
    run = runs[-1]
    text = line.text
    header = bool(text) and is_header(text)
    done = bool(run.rows or run.left.found)
    if (header or _START.search(text)) and (done or run.failure) and not (header and run.columns and not run.rows and not run.left.found):
        _finish_pending(run)
        run = _next(runs)
    if header:
        run.columns, run.foreign = _columns(text), False
        run.first = run.first or line.number
        return
    if line.said:
        run.facts.hear(line.said)
    if text and _OTHER_TABLE.search(text):
        _finish_pending(run)
        run.foreign = True
    head = _head(text, run.columns) if text and not run.foreign else None
    if head is not None:
        _begin(run, line.number, text, head)
        return
    if text and is_rest(text) and not run.foreign:
        if run.pending:
            _extend(run, text)
        elif (run.columns and len(text.split()) > 2) or (run.facts.tuned and len(text.split()) in (4, 8, 9)):
            run.left.add(line.number, text, "bench.row_headless")
        return
    if run.columns and not run.foreign and looks_like_row(text.lstrip("#"), 6) and "Rank" not in text:
        _finish_pending(run)
        run.left.add(line.number, text, "bench.row_values")
        return
    if match := _AVERAGE.search(text):
        _finish_pending(run)
        _flush(run)
        run.average_Bps = _number(match[1])
        # What follows belongs to the next run; its own header may come late.
        if run.rows or run.left.found:
            _next(runs)
        return
    if text and not line.said:
        _finish_pending(run)
    if match := _FAILED.search(text):
        run.failure, run.failed_at = run.failure or redacted(match[1] or match[0]), run.failed_at or line.number
    if run.rows and not line.said:
        run.later.append(line)
    else:
        _take_words(run, line)


def _next(runs: list[_Run]) -> _Run:
    """Begin the next run with what was said after the last row."""
    fresh = _Run()
    for line in runs[-1].later:
        _take_words(fresh, line)
    runs[-1].later = []
    runs.append(fresh)
    return fresh


def _flush(run: _Run) -> None:
    for line in run.later:
        _take_words(run, line)
    run.later = []


def _take_words(run: _Run, line: Line) -> None:
    text = line.text
    if text.startswith("# source:"):
        return
    # What is said after the first row may be of the next run.
    run.facts.take(line, prose=not run.rows)
    if "_perf" in text:
        run.programs += programs_in(text)
    if not run.rows:
        run.words += words_in(text)
    if text.startswith(("# ---", "# ==")):
        run.title = redacted(text.strip("#-= "))[:120]


def _head(text: str, columns: Sequence[str]) -> Head | None:
    if not text or not (text[0].isdigit() or text[0] == "#"):
        return None
    return split_head(text, columns)


def _begin(run: _Run, number: int, text: str, head: Head) -> None:
    _finish_pending(run)
    _flush(run)
    run.first = run.first or number
    if not known_type(head):
        run.left.add(number, text, "bench.type_unknown", value=f"{head.dtype} {head.redop}".strip()[:40])
        return
    wanted = expected_values(run.columns)
    row = parse_row(head, run.columns)
    if row and (wanted is None or len(head.rest) >= wanted - 1 or len(row.timings) == 2):
        run.rows.append((number, text, row))
    elif layouts_exist(head, run.columns) and not row and (wanted is None or len(head.rest) >= wanted - 1):
        run.left.add(number, text, "bench.row_rate")
    else:
        run.pending = (number, text, list(head.rest))


def _extend(run: _Run, text: str) -> None:
    assert run.pending is not None
    number, begun, values = run.pending
    run.pending = (number, f"{begun} {text}", values + text.split())
    wanted = expected_values(run.columns) or 9
    if len(run.pending[2]) >= wanted - 1:
        _finish_pending(run)


def _finish_pending(run: _Run) -> None:
    if run.pending is None:
        return
    number, text, _ = run.pending
    run.pending = None
    head = _head(text, run.columns)
    row = parse_row(head, run.columns) if head else None
    if row is None and head is not None:
        row = _first_part(head, run.columns)
    if row is not None:
        run.rows.append((number, text, row))
        if len(row.timings) == 1 and (expected_values(run.columns) or 0) > 5:
            run.left.add(number, text, "bench.row_cut_in_place")
    elif head is not None and layouts_exist(head, run.columns):
        run.left.add(number, text, "bench.row_rate")
    else:
        run.left.add(number, text, "bench.row_cut")


def _first_part(head: Head, columns: Sequence[str]) -> Row | None:
    """The out-of-place part of a row that was cut inside its in-place part."""
    root = 1 if "root" in columns or not columns else 0
    wrong = 1 if not columns or any("wrong" in c or "error" in c for c in columns) else 0
    length = root + 3 + wrong
    if len(head.rest) <= length:
        return None
    return parse_row(Head(head.size, head.count, head.dtype, head.redop, head.rest[:length]), columns)


def _shape(row: Row) -> Shape:
    head = row.head
    payload = head.count * TYPE_BYTES[head.dtype] if head.count is not None and head.dtype else None
    pairs = tuple((part.algbw, part.busbw) for part in row.timings)
    return Shape(head.size, payload, head.redop, row.root, pairs, tuple(part.wrong for part in row.timings))


def _log(run: _Run, source: str, heading: str) -> CollectiveLog:
    named = [operation_of(name) for name in reversed(run.programs)] + list(reversed(run.words))
    if run.failure:
        run.left.add(run.failed_at, run.failure, "bench.run_failed", value=run.failure[:80])
    return typed_log(
        run.rows,
        run.left,
        run.facts,
        source,
        named=named,
        columns=run.columns,
        first=run.first,
        average_Bps=run.average_Bps,
        title=run.title or redacted(heading) or ("alltoallv" if run.programs and run.programs[-1].lower().endswith("allv") else ""),
        unsupported=any(name.lower() in _UNSUPPORTED for name in run.programs),
    )


def typed_log(
    rows: Sequence[tuple[int, str, Row]],
    left: Left,
    facts: Gathered,
    source: str,
    *,
    named: Sequence[str],
    columns: Sequence[str] = (),
    first: int = 0,
    average_Bps: float | None = None,
    title: str = "",
    unsupported: bool = False,
) -> CollectiveLog:
    """Find operation and ranks by the rows, hold every row against them and make the log; also for the JSON form."""
    shapes = [_shape(row) for _, _, row in rows]
    found = deduce(shapes, named=[n for n in named if n], columns=columns, declared=facts.declared_ranks(), least=facts.least_ranks())
    samples: list[CollectiveSample] = []
    for (number, text, row), shape in zip(rows, shapes, strict=True):
        reason = _refusal(shape, found)
        if unsupported:
            left.add(number, text, "bench.operation_unknown", value=_UNSUPPORTED[0])
        elif not all(rate_fits(shape.size, part.time, part.algbw) for part in row.timings):
            left.add(number, text, "bench.row_rate")
        elif reason:
            left.add(number, text, reason[0], **reason[1])
        else:
            samples += _samples(number, row, found.operation)
    tool = "rccl-tests" if facts.library == "RCCL" else "mscclpp-test" if columns and "count" in columns and "type" not in columns else NAME
    return CollectiveLog(
        tool=tool,
        samples=tuple(samples),
        context=facts.context(found.ranks, max((shape.size for shape in shapes), default=0)),
        average_busbw_Bps=average_Bps,
        unread=tuple(sorted(left.found, key=lambda u: u.line)),
        place=Place(source, line=first or None),
        title=title,
    )


def _refusal(shape: Shape, found: Deduced) -> tuple[str, dict[str, object]] | None:
    if found.factors and not all(any(factor_fits(a, b, factor) for factor in found.factors) for a, b in shape.pairs):
        return "bench.row_factor", {"factor": round(found.factors[0], 4)}
    if shape.payload and shape.size:
        allowed = {1, found.ranks} if found.operation in ("", "all_to_all", "gather", "scatter", "all_gather", "reduce_scatter") else {1}
        if shape.size % shape.payload or (found.ranks is not None and shape.size // shape.payload not in allowed):
            return "bench.row_count", {}
    return None


def _samples(number: int, row: Row, operation: str) -> Iterable[CollectiveSample]:
    for index, part in enumerate(row.timings):
        yield CollectiveSample(
            operation=operation,
            size_bytes=float(row.head.size),
            time_s=part.time.value,
            algbw_Bps=part.algbw.value,
            busbw_Bps=part.busbw.value,
            in_place=bool(index) or row.first_in_place,
            dtype=row.head.dtype,
            redop="" if row.head.redop == "none" else row.head.redop,
            root=row.root if row.root is not None and row.root >= 0 else None,
            wrong=_wrong(part),
            line=number,
        )


def _wrong(part: Timing) -> int | None:
    return int(part.wrong) if part.wrong.isdigit() else None


def _columns(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.replace("# wrong", "#wrong").lstrip("# ").split() if word in _COLUMNS)


def _number(text: str) -> float | None:
    average = printed(text, 1e9)
    return average.value if average else None


TOOL = Tool(NAME, recognise, read)

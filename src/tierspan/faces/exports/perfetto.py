"""A trace as Chrome trace events, the JSON that ui.perfetto.dev and chrome://tracing open.

One process for each rank (pid: its number), one thread for each row of ``lanes``. Complete events (X) are what ran, flow events (s, f) the
results that go from rank to rank, counters (C) the micro-batches in flight. Times in µs from the start of the step.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, BinaryIO, Final

from tierspan import __version__
from tierspan.faces.exports.lanes import FAMILIES, Lane, Placed, micros, on_grid, placed
from tierspan.quantities.errors import InputError, Place
from tierspan.quantities.messages import DEFAULT_LANGUAGE, fill, has
from tierspan.specs.strategy import Strategy
from tierspan.specs.trace import Pass, Span, Trace, TraceRank

Event = dict[str, Any]
_PHASES: Final = {"X": 0, "C": 1, "s": 2, "f": 3}
_MOST_RANGES: Final = 3


def write_trace(trace: Trace, path: str | Path, *, lang: str = DEFAULT_LANGUAGE) -> int:
    """Write a trace for Perfetto, packed where the name ends in ``.gz``; the same trace gives the same bytes.

    Args:
        trace: what ran.
        path: the file to write.
        lang: language of the names (``en``, ``zh``).

    Returns:
        The size of the file in bytes.

    Raises:
        InputError: the file cannot be written.
    """
    out = Path(path)
    try:
        with out.open("wb") as file:
            if out.suffix == ".gz":
                # no name and no time of day inside
                with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as packed:
                    _write(trace, packed, lang)
            else:
                _write(trace, file, lang)
        return out.stat().st_size
    except OSError as problem:
        raise InputError("validation.cannot_write", place=Place(str(path)), path=str(path), reason=problem.strerror or str(problem)) from None


def events(trace: Trace, lang: str = DEFAULT_LANGUAGE) -> Iterator[Event]:
    """The events of a trace: names first, then everything by time."""
    rows = placed(trace.spans)
    lanes = sorted({row.lane for row in rows})
    tids = {lane: number for number, lane in enumerate(lanes, start=1)}
    yield from _names(trace, rows, tids, lang)
    timed = [*_slices(trace, rows, tids, lang), *_flows(trace, rows, tids, lang), *_counts(trace, lang)]
    # slices come before the arrows that touch them
    yield from sorted(timed, key=lambda e: (e["ts"], _PHASES[e["ph"]], e["pid"], e.get("tid", 0), e.get("id", 0)))


def about(trace: Trace, lang: str = DEFAULT_LANGUAGE) -> dict[str, Any]:
    """What stands beside the events: who made it, of what, and what is and is not drawn."""
    plan = {name: value for name, value in asdict(trace.strategy).items() if value != _DEFAULTS[name] or name in ("tp", "pp", "cp", "ep", "vpp")}
    return {
        "product": f"tierspan {__version__}", "profile": trace.profile_version, "system": trace.system, "accelerators": trace.accelerators,
        "model": trace.model, "stack": trace.stack, "precision": trace.precision, "sequence_length": trace.sequence_length,
        "global_batch": trace.global_batch, "micro_batches": trace.micro_batches, "schedule": trace.schedule, "plan": plan | {"dp": trace.dp},
        "step_time_s": trace.step_time_s, "drawn_s": trace.makespan_s, "not_drawn_s": trace.outside_s, "bubble_s": trace.bubble_s,
        "about": fill("trace.about", lang, {}),
    }  # fmt: skip


_DEFAULTS: Final = {field.name: field.default if field.name != "notes" else () for field in fields(Strategy)}


def _write(trace: Trace, file: BinaryIO | gzip.GzipFile, lang: str) -> None:
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")).encode

    def line(value: object) -> bytes:
        return encode(value).encode("utf-8")

    file.write(b'{"displayTimeUnit":"ms","otherData":' + line(about(trace, lang)) + b',"traceEvents":[\n')
    block: list[bytes] = []
    first = True
    for event in events(trace, lang):
        block.append(line(event))
        if len(block) == 4096:
            file.write((b"" if first else b",\n") + b",\n".join(block))
            block, first = [], False
    if block:
        file.write((b"" if first else b",\n") + b",\n".join(block))
    file.write(b"\n]}\n")


def _names(trace: Trace, rows: Sequence[Placed], tids: dict[Lane, int], lang: str) -> Iterator[Event]:
    used = {(row.span.rank, row.lane) for row in rows}
    streams = {stream.id: stream for stream in trace.streams}
    for rank in trace.ranks:
        yield _named("process_name", rank.rank, 0, name=_process(rank, len(trace.ranks), lang))
        yield _named("process_sort_index", rank.rank, 0, sort_index=rank.stage)
        for lane, tid in tids.items():
            if (rank.rank, lane) not in used:
                continue
            stream = streams[lane.stream]
            name = stream.name if stream.kind == "tier" else fill(f"trace.stream.{stream.kind}", lang, {})
            if lane.family:
                name = fill("trace.lane", lang, {"tier": name, "traffic": _traffic(FAMILIES[lane.family], lang)})
            if lane.again:
                name += f" ({lane.again + 1})"
            yield _named("thread_name", rank.rank, tid, name=name)
            yield _named("thread_sort_index", rank.rank, tid, sort_index=tid)


def _named(what: str, pid: int, tid: int, **args: object) -> Event:
    return {"ph": "M", "name": what, "pid": pid, "tid": tid, "ts": 0, "args": args}


def _process(rank: TraceRank, stages: int, lang: str) -> str:
    ranges = [_range(one) for one in rank.layers if one is not None]
    if len(ranges) > _MOST_RANGES:
        ranges = [*ranges[:2], "...", ranges[-1]]
    layers = fill("list.comma", lang, {}).join(ranges)
    return fill("trace.rank" if ranges else "trace.rank.empty", lang, {"rank": rank.rank, "stage": rank.stage, "stages": stages, "layers": layers})


def _range(layers: tuple[int, int]) -> str:
    first, last = layers
    return str(first) if first == last else f"{first}-{last}"


def _traffic(family: str, lang: str) -> str:
    shared = f"term.{family}"
    return fill(shared if has(shared) else f"trace.traffic.{family}", lang, {})


def _slices(trace: Trace, rows: Sequence[Placed], tids: dict[Lane, int], lang: str) -> Iterator[Event]:
    ranks = {rank.rank: rank for rank in trace.ranks}
    chunked = len(trace.ranks[0].layers) > 1
    names: dict[tuple[object, ...], str] = {}
    for span, lane, start, end in rows:
        args = _args(span, ranks[span.rank])
        key = (span.kind, span.passes, span.chunk)
        if key not in names:
            names[key] = _name(span, chunked, lang)
        event = {
            "ph": "X", "name": names[key], "cat": span.kind, "pid": span.rank, "tid": tids[lane],
            "ts": micros(start), "dur": micros(end - start),
        }  # fmt: skip
        yield event | {"args": args} if args else event


def _name(span: Span, chunked: bool, lang: str) -> str:
    """Tasks and messages by their micro-batch; other traffic by its kind alone, which gives it one colour."""
    if span.kind in ("tp", "cp", "ep"):
        return _traffic(span.kind, lang)
    if span.kind in ("activation_send", "gradient_send", "launch"):
        inner = fill("trace.plus", lang, {}).join(_numbered(one, chunked, lang) for one in span.passes)
        return fill(f"trace.span.{span.kind}", lang, {"passes": inner})
    if span.passes and span.kind not in ("parameter_gather", "gradient_reduce"):
        return fill("trace.plus", lang, {}).join(
            fill("trace.pass", lang, {"kind": fill(f"trace.kind.{one.kind}", lang, {}), "number": _numbered(one, chunked, lang)})
            for one in span.passes
        )
    kind = fill(f"trace.kind.{span.kind}", lang, {})
    if span.chunk is None or not chunked:
        return kind
    return fill("trace.of_chunk", lang, {"kind": kind, "chunk": span.chunk})


def _numbered(one: Pass, chunked: bool, lang: str) -> str:
    if not chunked:
        return str(one.micro_batch)
    return fill("trace.number", lang, {"micro_batch": one.micro_batch, "chunk": one.chunk})


def _args(span: Span, rank: TraceRank) -> Event:
    """Values for queries; their names are the same in every language."""
    args: Event = {}
    if len(span.passes) == 1:
        one = span.passes[0]
        args = {"micro_batch": one.micro_batch, "chunk": one.chunk}
    elif span.passes:
        args = {"passes": [{"kind": one.kind, "micro_batch": one.micro_batch, "chunk": one.chunk} for one in span.passes]}
    elif span.chunk is not None:
        args = {"chunk": span.chunk}
    layers = rank.layers[args["chunk"]] if "chunk" in args else None
    if layers is not None:
        args["layers"] = _range(layers)
    if span.exposed_s > 0:
        args["exposed_us"] = micros(on_grid(span.exposed_s))
    return args


def _flows(trace: Trace, rows: Sequence[Placed], tids: dict[Lane, int], lang: str) -> Iterator[Event]:
    names = {kind: fill(f"trace.arrow.{kind}", lang, {}) for kind in ("activation", "gradient")}
    for number, arrow in enumerate(trace.arrows, start=1):
        source, target = rows[arrow.source], rows[arrow.target]
        sends = source.span.kind in ("activation_send", "gradient_send")
        leaves = source.start if sends else max(source.end - 1, source.start)
        shared = {"name": names[arrow.kind], "cat": arrow.kind, "id": number}
        yield {"ph": "s", **shared, "pid": source.span.rank, "tid": tids[source.lane], "ts": micros(leaves)}
        yield {"ph": "f", "bp": "e", **shared, "pid": target.span.rank, "tid": tids[target.lane], "ts": micros(target.start)}


def _counts(trace: Trace, lang: str) -> Iterator[Event]:
    for counter in trace.counters:
        name = fill(f"trace.counter.{counter.name}", lang, {})
        for at_s, value in counter.points:
            yield {"ph": "C", "name": name, "pid": counter.rank, "ts": micros(on_grid(at_s)), "args": {"value": round(value, 6)}}

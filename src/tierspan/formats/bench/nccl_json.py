"""JSON output of nccl-tests (``-J``). Of its environment only known communication settings are kept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tierspan.formats.bench.base import Left, Printed, Tool
from tierspan.formats.bench.context import Gathered, command_of, version_of
from tierspan.formats.bench.lines import LogText
from tierspan.formats.bench.names import TYPE_BYTES, operation_of, programs_in
from tierspan.formats.bench.nccl_row import Head, Row, Timing
from tierspan.formats.bench.nccl_text import typed_log
from tierspan.formats.bench.secrets import kept_settings
from tierspan.specs.benchmark import CollectiveLog

NAME = "nccl-tests JSON"

# The program prints %lf: six decimals of microseconds and of GB/s.
_HALF = 0.5e-6
_RESULTS = re.compile(r"\"results\"\s*:\s*\[")
_FULL_RESULT = re.compile(r"\"(?:out_of_place|in_place)\"")


def recognise(log: LogText) -> bool:
    """Whether the text is such a document, whole or cut."""
    start = log.text.lstrip("\ufeff \t\r\n")
    return start.startswith("{") and bool(_RESULTS.search(start)) and bool(_FULL_RESULT.search(start) or '"nccl_version"' in start)


def read(log: LogText, source: str) -> list[CollectiveLog]:
    """Read the document; of one that was cut, all whole results."""
    text = log.text.lstrip("\ufeff")
    match = _RESULTS.search(text)
    if match is None:
        return []
    head = _object(text[: match.start()].rstrip().rstrip(",") + "}")
    facts = Gathered()
    programs = _facts(facts, head)
    left = Left()
    rows: list[tuple[int, str, Row]] = []
    for line, result in _results(text, match.end(), left):
        row = _row(result)
        label = f"size {str(result.get('size'))[:20]} count {str(result.get('count'))[:20]}"
        if row is None:
            left.add(line, label, "bench.row_values")
        else:
            rows.append((line, label, row))
    if not rows and not left.found:
        return []
    first = text.count("\n", 0, match.start()) + 1
    return [typed_log(rows, left, facts, source, named=[operation_of(p) for p in programs], first=first, unsupported="hypercube" in programs)]


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _results(text: str, start: int, left: Left) -> Iterator[tuple[int, dict[str, Any]]]:
    decoder = json.JSONDecoder()
    at = start
    line, counted = text.count("\n", 0, start) + 1, start
    while True:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        line, counted = line + text.count("\n", counted, at), at
        if at >= len(text) or text[at] == "]":
            return
        try:
            found, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            left.add(line, "", "bench.json_cut")
            return
        if isinstance(found, dict):
            yield line, found
        else:
            left.add(line, "", "bench.row_values")


def _facts(facts: Gathered, head: dict[str, Any]) -> list[str]:
    version = head.get("nccl_version")
    if isinstance(version, int) and 1000 <= version < 1_000_000:
        facts.library, facts.library_version = "NCCL", version_of(version)
    if isinstance(environment := head.get("env"), list):
        facts.environment = kept_settings(environment)
    arguments = [str(a) for a in head["args"]] if isinstance(head.get("args"), list) else []
    programs = [name.lower() for name in programs_in(arguments[0])] if arguments else []
    if programs:
        facts.program = command_of(arguments[0].rsplit("/", 1)[-1], "".join(f" {a}" for a in arguments[1:]))
    config = head.get("config")
    if isinstance(config, dict):
        threads, gpus = config.get("nthreads"), config.get("ngpus")
        if isinstance(threads, int) and isinstance(gpus, int):
            facts.per_process = threads * gpus
        for device in config["devices"] if isinstance(config.get("devices"), list) else ():
            if isinstance(device, dict) and isinstance(device.get("rank"), int) and isinstance(device.get("device"), int):
                facts.ranks_listed[device["rank"]] = (str(device.get("hostname", ""))[:64], device["device"])
                if name := str(device.get("device_info", "")).strip()[:64]:
                    facts.devices.append(name)
        # With several devices a process, the program writes the first one only.
        if (facts.per_process or 1) > 1:
            facts.nranks = set()
    return programs


def _row(result: dict[str, Any]) -> Row | None:
    size, count, dtype = result.get("size"), result.get("count"), result.get("type")
    if not _is_count(size) or not _is_count(count) or not isinstance(dtype, str) or dtype not in TYPE_BYTES:
        return None
    root = result.get("root")
    rooted = int(root) if isinstance(root, (str, int)) and re.fullmatch(r"-?\d{1,7}", str(root)) else None
    parts = [_timing(result.get(name)) for name in ("out_of_place", "in_place") if result.get(name) is not None]
    if not parts or any(part is None for part in parts):
        return None
    redop = result.get("redop")
    head = Head(int(size or 0), int(count or 0), dtype, redop.lower()[:12] if isinstance(redop, str) else "", ())
    return Row(head, rooted, tuple(part for part in parts if part), first_in_place=result.get("out_of_place") is None)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _timing(part: object) -> Timing | None:
    if not isinstance(part, dict):
        return None
    time = _printed(part.get("time", part.get("cpu_time")), 1e-6)
    algbw, busbw = _printed(part.get("alg_bw"), 1e9), _printed(part.get("bus_bw"), 1e9)
    if time is None or algbw is None or busbw is None or time.value <= 0 or algbw.value < 0 or busbw.value < 0:
        return None
    wrong = _printed(part.get("nwrong"), 1.0)
    return Timing(time, algbw, busbw, "N/A" if wrong is None else str(int(wrong.value)))


def _printed(value: object, scale: float) -> Printed | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e15:
        return None
    return Printed(float(value) * scale if scale >= 1 else float(value) / round(1 / scale), _HALF * scale)


TOOL = Tool(NAME, recognise, read)

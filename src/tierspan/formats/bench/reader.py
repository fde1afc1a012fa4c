"""The one entry to benchmark logs."""

from __future__ import annotations

from pathlib import Path

from tierspan.formats.bench import (
    deepep_text,
    hccl_text,
    matrix_text,
    mscclpp_text,
    nccl_json,
    nccl_text,
    nccom_text,
    perftest_text,
    superbench_text,
    torch_text,
)
from tierspan.formats.bench.base import Tool
from tierspan.formats.bench.lines import LogText
from tierspan.quantities.errors import InputError, Place
from tierspan.specs.benchmark import CollectiveLog

TOOLS: tuple[Tool, ...] = (
    nccl_json.TOOL,
    nccl_text.TOOL,
    nccom_text.TOOL,
    hccl_text.TEST_TOOL,
    hccl_text.DEMO_TOOL,
    superbench_text.TOOL,
    torch_text.TOOL,
    mscclpp_text.TOOL,
    deepep_text.TOOL,
    perftest_text.TOOL,
    matrix_text.NVBANDWIDTH_TOOL,
    matrix_text.P2P_TOOL,
)
"""Every program whose logs are read."""

_MAX_BYTES = 256 * 2**20


def read_benchmarks(path_or_text: str | Path, *, place: Place | None = None) -> tuple[CollectiveLog, ...]:
    """Read every benchmark run in a log, in the order of the log.

    Args:
        path_or_text: a path, or the text itself (a string with a line break, or one that is no existing file).
        place: what to name as the origin of a text; a path names itself.

    Returns:
        One entry a run; a run whose rows could all not be used has no samples and says why in ``unread``.

    Raises:
        InputError: the file cannot be read, is no log of a known benchmark, or holds no measurement.
    """
    text, place = _text(path_or_text, place)
    log_text = LogText.of(text)
    tools = _tools(log_text)
    if not tools:
        raise InputError("bench.not_recognised", place=place, looked_for=", ".join(tool.name for tool in TOOLS))
    logs = [log for tool in tools for log in tool.read(log_text, place.file)]
    if not any(log.samples or log.unread or log.matrices or log.rates for log in logs):
        raise InputError("bench.no_rows", place=place, tool=", ".join(tool.name for tool in tools))
    failures = [unread for log in logs for unread in log.unread if unread.reason_id == "bench.run_failed"]
    if failures and not any(log.samples or log.matrices or log.rates for log in logs):
        raise InputError(
            "bench.failed", place=Place(place.file, failures[0].line), tool=tools[0].name, reason=str(failures[0].values.get("value", ""))
        )
    return tuple(sorted(logs, key=lambda log: log.place.line or 0))


def recognise(text: str) -> str:
    """Return the name of the benchmark whose log a text is (the first of ``TOOLS``), "" if it is none."""
    tools = _tools(LogText.of(text))
    return tools[0].name if tools else ""


def _tools(log_text: LogText) -> list[Tool]:
    return [tool for tool in TOOLS if tool.recognise(log_text)]


def _text(path_or_text: str | Path, place: Place | None) -> tuple[str, Place]:
    if isinstance(path_or_text, str) and ("\n" in path_or_text or len(path_or_text) > 1000 or not path_or_text.strip()):
        return path_or_text, place or Place()
    path = Path(path_or_text)
    where = Place(str(path))
    try:
        if path.is_file():
            if path.stat().st_size > _MAX_BYTES:
                raise InputError("bench.too_large", place=where, limit=_MAX_BYTES // 2**20)
            return _decoded(path.read_bytes()), where
        exists = path.exists()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError("file.unreadable", place=where, path=str(path_or_text)[:200], reason=reason) from None
    if isinstance(path_or_text, str) and not exists and _looks_like_text(path_or_text):
        return path_or_text, place or Place()
    if not exists:
        raise InputError("file.not_found", place=where, path=str(path))
    raise InputError("file.unreadable", place=where, path=str(path), reason="not a regular file")


def _looks_like_text(value: str) -> bool:
    """A single line of a log rather than the name of a missing file: it holds several words."""
    return len(value.split()) > 4


def _decoded(raw: bytes) -> str:
    for mark, encoding in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if raw.startswith(mark):
            return raw.decode(encoding, errors="replace")
    # Bytes that are no UTF-8 spoil a host name at most; the numbers are ASCII in every encoding that logs use.
    return raw.decode("utf-8-sig", errors="replace")

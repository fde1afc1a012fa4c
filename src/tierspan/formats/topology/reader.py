"""One door for all topology dumps: recognises what a text holds and reads every part of it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tierspan.formats.topology import gpu_matrix, iblinkinfo, ibnetdiscover, nccl_graph, nccl_log, nccl_topology, nvlink_status, rocm_matrix
from tierspan.formats.topology.base import MAX_BYTES, Format, Line, clean_lines
from tierspan.quantities.errors import InputError, Place
from tierspan.specs.benchmark import Unread
from tierspan.specs.topology import TopologyDump, TopologyPart

FORMATS: Final[tuple[Format, ...]] = (
    nccl_topology.FORMAT,
    nccl_graph.FORMAT,
    gpu_matrix.FORMAT,
    nvlink_status.FORMAT,
    rocm_matrix.FORMAT,
    ibnetdiscover.FORMAT,
    iblinkinfo.FORMAT,
    nccl_log.FORMAT,
)


def recognise(path_or_text: str | Path) -> tuple[str, ...]:
    """Kinds of dumps that a file or text holds, "" where it cannot be read or holds none; never raises."""
    try:
        text, _ = _text(path_or_text)
    except InputError:
        return ()
    lines = clean_lines(text)
    return tuple(found.kind for found in _formats(lines))


def read_topology(path_or_text: str | Path) -> TopologyDump:
    """Read a topology dump.

    Args:
        path_or_text: a path, or the text itself (a string with a line break, or one that begins with ``<``).

    Returns:
        Every part that was found, and the lines that could not be used.

    Raises:
        InputError: the file cannot be read, holds no dump that is known, or one without a single device.
    """
    text, file = _text(path_or_text)
    place = Place(file)
    if not text.strip():
        raise InputError("file.empty", path=file)
    lines = clean_lines(text)
    formats = _formats(lines)
    if not formats:
        raise InputError("topology.unknown_format", place=place, known=", ".join(known.kind for known in FORMATS))
    parts: list[TopologyPart] = []
    unread: list[Unread] = []
    kind = ""
    for found in formats:
        reading = found.read(lines, place)
        parts += reading.parts
        unread += reading.unread
        if reading.parts and not kind:
            kind = found.kind
    if not parts:
        first = unread[0].line if unread else None
        raise InputError("topology.nothing_read", place=Place(file, first), format=formats[0].kind)
    return TopologyDump(kind, tuple(parts), tuple(sorted(unread, key=lambda item: item.line)), place)


def _formats(lines: tuple[Line, ...]) -> list[Format]:
    return [known for known in FORMATS if known.recognise(lines)]


def _text(given: str | Path) -> tuple[str, str]:
    if isinstance(given, str) and ("\n" in given or given.lstrip().startswith("<")):
        if len(given) > MAX_BYTES:
            raise InputError("file.too_large", path="", size=f"{len(given)} characters", limit=f"{MAX_BYTES // 2**20} MiB")
        return given, ""
    file = str(given)
    path = Path(given)
    try:
        if not path.exists():
            raise InputError("file.not_found", path=file)
        if not path.is_file():
            raise InputError("file.unreadable", path=file, reason="not a file")
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise InputError("file.too_large", path=file, size=f"{size / 2**20:.0f} MiB", limit=f"{MAX_BYTES // 2**20} MiB")
        raw = path.read_bytes()
    except (OSError, ValueError) as error:
        # ValueError: a path with a null byte.
        raise InputError("file.unreadable", path=file.replace("\0", "?"), reason=getattr(error, "strerror", None) or str(error)) from None
    return _decoded(raw, file), file


def _decoded(raw: bytes, file: str) -> str:
    """Logs carry stray bytes, and shells of Windows write UTF-16; binary data are refused."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw.decode("utf-16", errors="replace")
    if b"\0" in raw[:65536]:
        raise InputError("file.not_text", path=file, reason="byte 0x00")
    return raw.decode("utf-8-sig", errors="replace")

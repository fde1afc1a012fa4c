"""The bytes of a sheet: from a regular file or from standard input, never more than is read, never from a device."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import IO, Any, Final

from tierspan.formats.sheets.limits import MAX_FILE_BYTES, MAX_TEXT_BYTES, mebibytes
from tierspan.quantities.errors import InputError, Place

STDIN: Final = "-"
_BY_SUFFIX: Final = frozenset({".xlsx", ".xlsm", ".pdf"})


def shown_name(name: str | Path) -> str:
    """A file name that is safe to print: what is not printable is shown by its number."""
    return "".join(c if c.isprintable() else f"<U+{ord(c):04X}>" for c in str(name))


def read_bytes(path: str | Path) -> bytes:
    """The content of a regular file.

    Raises:
        InputError: missing, a folder, a device or a pipe, not readable, or larger than is read.
    """
    name = shown_name(path)
    place = Place(name)
    try:
        kind = Path(path).stat().st_mode
        if stat.S_ISDIR(kind):
            raise InputError("sheet.folder", place=place)
        if not stat.S_ISREG(kind):
            raise InputError("sheet.not_regular", place=place)
        # Not blocking, and looked at again: the name may stand for another thing by now.
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb") as file:  # noqa: PTH123
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise InputError("sheet.not_regular", place=place)
            return _bounded(file, name)
    except FileNotFoundError:
        raise InputError("file.not_found", path=name) from None
    except (OSError, ValueError) as error:
        # ValueError: a path with a null byte, or with a lone surrogate.
        raise InputError("file.unreadable", path=name, reason=getattr(error, "strerror", None) or "no valid name") from None


def read_stdin(stdin: IO[Any] | None) -> bytes:
    """What stands on standard input, up to the limit."""
    stream = sys.stdin if stdin is None else stdin
    stream = getattr(stream, "buffer", stream)
    try:
        return _bounded(stream, STDIN)
    except (OSError, ValueError) as error:
        raise InputError("file.unreadable", path=STDIN, reason=getattr(error, "strerror", None) or str(error)) from None


def _bounded(stream: IO[Any], name: str) -> bytes:
    """All bytes of a stream; of text no more than one byte over its limit is read."""
    head = _chunk(stream, 4096)
    limit = MAX_FILE_BYTES if head[:4] == b"PK\x03\x04" or b"%PDF-" in head[:1024] else MAX_TEXT_BYTES
    raw = head + _chunk(stream, limit + 1 - len(head))
    if len(raw) > limit:
        known = known_binary(raw)
        if known:
            raise InputError("sheet.binary", place=Place(name), what=known)
        packed = limit == MAX_FILE_BYTES
        raise InputError("sheet.too_large_file" if packed else "sheet.too_large", place=Place(name), limit=mebibytes(limit))
    return raw


def _chunk(stream: IO[Any], size: int) -> bytes:
    """``size`` bytes, fewer only at the end; a pipe hands them over in pieces."""
    pieces: list[bytes] = []
    while size > 0:
        piece = stream.read(size)
        if not piece:
            break
        raw = piece.encode("utf-8", "surrogateescape") if isinstance(piece, str) else bytes(piece)
        pieces.append(raw)
        size -= len(raw)
    return b"".join(pieces)


_MAGIC: Final = (
    (b"\x89PNG", "PNG"), (b"\xff\xd8\xff", "JPEG"), (b"GIF8", "GIF"), (b"BM", ""), (b"II*\x00", "TIFF"), (b"MM\x00*", "TIFF"), (b"\x7fELF", "ELF"),
    (b"MZ", ""), (b"\x1f\x8b", "gzip"), (b"BZh", "bzip2"), (b"\xfd7zXZ", "xz"), (b"7z\xbc\xaf", "7z"), (b"Rar!", "RAR"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"SQLite format 3", "SQLite"), (b"PAR1", "Parquet"), (b"\xca\xfe\xba\xbe", "class or Mach-O"), (b"\xcf\xfa\xed\xfe", "Mach-O"),
    (b"\x80\x04\x95", "pickle"), (b"\x93NUMPY", "NumPy"), (b"\x89HDF", "HDF5"), (b"GGUF", "GGUF"), (b"OggS", "Ogg"), (b"ID3", "MP3"),
    (b"{\\rtf", "RTF"), (b"%!PS", "PostScript"), (b"wOF", "font"), (b"\x00asm", "WebAssembly"),
)  # fmt: skip


def known_binary(raw: bytes) -> str:
    """What a file is that holds no sheet, by its first bytes; "" if it may hold one."""
    if raw[:4] == b"RIFF" and raw[8:12] in (b"WEBP", b"WAVE", b"AVI "):
        return raw[8:12].decode().strip()
    if raw[4:8] == b"ftyp":
        return "MP4 or HEIC"
    return next((name for magic, name in _MAGIC if name and raw.startswith(magic)), "")

"""A CSV file as text cells with line numbers; whatever does not read cleanly is an error, nothing is dropped."""

from __future__ import annotations

import codecs
import csv
import io
from dataclasses import dataclass
from pathlib import Path

from tierspan.quantities.errors import InputError, Place

ENCODINGS = ("utf-8-sig", "gb18030")
"""Tried in this order; gb18030 holds GBK and GB2312."""

_CELL_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True)
class Table:
    """The header and the rows of a file; ``lines[i]`` is the line (from 1) on which row ``i`` begins."""

    path: str
    encoding: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]


def read_table(path: str | Path) -> Table:
    """Read a comma-separated file with a header.

    Raises:
        InputError: missing, unreadable, empty or binary file, text of no known encoding, broken quoting, no commas, a
            column without a name or named twice, or a row with more or fewer cells than the header.
    """
    data = _read_bytes(Path(path))
    text, encoding = _decode(data, str(path))
    return _parse(text, str(path), encoding)


def _read_bytes(path: Path) -> bytes:
    place = Place(str(path))
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError("validation.file_missing", place=place, path=str(path)) from None
    except IsADirectoryError:
        raise InputError("validation.file_is_folder", place=place, path=str(path)) from None
    except OSError as problem:
        raise InputError("validation.file_unreadable", place=place, path=str(path), reason=problem.strerror or str(problem)) from None
    if not data.strip():
        raise InputError("validation.file_empty", place=place, path=str(path))
    return data


def _decode(data: bytes, path: str) -> tuple[str, str]:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return data.decode("utf-16"), "utf-16"
        except UnicodeDecodeError as problem:
            raise InputError("validation.file_binary", place=Place(path), path=path, offset=problem.start) from None
    if b"\0" in data:
        raise InputError("validation.file_binary", place=Place(path), path=path, offset=data.index(b"\0"))
    offset = 0
    for encoding in ENCODINGS:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError as problem:
            offset = max(offset, problem.start)
            continue
        return text, "utf-8" if encoding == "utf-8-sig" else encoding
    line = data.count(b"\n", 0, offset) + 1
    raise InputError("validation.file_binary", place=Place(path, line=line), path=path, offset=offset)


def _parse(text: str, path: str, encoding: str) -> Table:
    limit = csv.field_size_limit(_CELL_LIMIT)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[tuple[str, ...]] = []
    lines: list[int] = []
    begin = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                rows.append(tuple(cell.strip() for cell in cells))
                lines.append(begin)
            begin = reader.line_num + 1
    except csv.Error as problem:
        raise InputError("validation.csv_broken", place=Place(path, line=max(begin, 1)), reason=str(problem)) from None
    finally:
        csv.field_size_limit(limit)
    if not rows:
        raise InputError("validation.file_empty", place=Place(path), path=path)
    header, header_line = rows[0], lines[0]
    _check_header(header, Place(path, line=header_line))
    for row, line in zip(rows[1:], lines[1:], strict=True):
        if len(row) != len(header):
            kind = "many" if len(row) > len(header) else "few"
            surplus = ", ".join(row[len(header) :])[:80]
            raise InputError(f"validation.row_too_{kind}", place=Place(path, line=line), found=len(row), expected=len(header), surplus=surplus)
    return Table(path, encoding, header, tuple(rows[1:]), tuple(lines[1:]))


def _check_header(header: tuple[str, ...], place: Place) -> None:
    if len(header) == 1:
        raise InputError("validation.not_csv", place=place, value=header[0][:80])
    for position, name in enumerate(header, start=1):
        if not name:
            raise InputError("validation.column_unnamed", place=place, position=position)
        if header.index(name) != position - 1:
            raise InputError("validation.column_twice", place=place, column=name)

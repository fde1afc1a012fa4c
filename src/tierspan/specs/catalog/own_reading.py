"""A file of users' own parts as checked lines: columns, cells, numbers, units, sources."""

from __future__ import annotations

import csv
import io
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, get_args

from tierspan.quantities.errors import InputError, Place, nearest_names
from tierspan.quantities.facts import TEXT_UNIT, SourceKind
from tierspan.specs.catalog.tables import Row
from tierspan.specs.catalog.units import known_units, unit_factor

REQUIRED: Final = ("id", "key", "value", "unit", "basis", "source", "source_kind")
OPTIONAL: Final = {"date": "", "conflict": "", "used": "", "note": ""}
LARGEST_BYTES: Final = 8_000_000
LONGEST_CELL: Final = 2_000
_ID: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_DATE: Final = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a file, with all columns, and where it stands."""

    row: Row
    file: str
    number: int

    def at(self, column: str) -> Place:
        """The place of a cell."""
        return Place(self.file, self.number, key=column)


def read_lines(path: Path) -> list[Line]:
    """The rows of a file, each checked by itself.

    Raises:
        InputError: the file cannot be read as CSV in UTF-8, lacks columns, or a cell breaks a rule.
    """
    text = _text(path)
    try:
        table = list(csv.reader(io.StringIO(text), strict=True))
    except csv.Error as problem:
        raise InputError("own_parts.not_csv", place=Place(str(path)), reason=str(problem)) from None
    if not table:
        raise InputError("own_parts.columns", place=Place(str(path), 1), missing=", ".join(REQUIRED), allowed=", ".join((*REQUIRED, *OPTIONAL)))
    columns = [cell.strip() for cell in table[0]]
    _check_columns(columns, Place(str(path), 1))
    lines = []
    number = 1
    for cells in table[1:]:
        number += 1
        if any(cell.strip() for cell in cells):
            lines.append(_line(columns, cells, str(path), number))
        number += sum(cell.count("\n") for cell in cells)
    return lines


def _text(path: Path) -> str:
    place = Place(str(path))
    try:
        if path.is_dir() or not path.is_file():
            raise InputError("own_parts.missing", place=place, value=str(path))
        size = path.stat().st_size
        if size > LARGEST_BYTES:
            raise InputError("own_parts.too_large", place=place, value=size, largest=LARGEST_BYTES)
        raw = path.read_bytes()
    except OSError as problem:
        raise InputError("own_parts.unreadable", place=place, reason=problem.strerror or str(problem)) from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InputError("own_parts.encoding", place=Place(str(path), raw[: problem.start].count(b"\n") + 1)) from None
    if "\0" in text:
        raise InputError("own_parts.encoding", place=Place(str(path), text.partition("\0")[0].count("\n") + 1))
    return text


def _check_columns(columns: list[str], place: Place) -> None:
    known = (*REQUIRED, *OPTIONAL)
    missing = [name for name in REQUIRED if name not in columns]
    if missing:
        raise InputError("own_parts.columns", place=place, missing=", ".join(missing), allowed=", ".join(known))
    for index, name in enumerate(columns):
        if name not in known or name in columns[:index]:
            near = ", ".join(nearest_names(name, known)) or ", ".join(known)
            raise InputError("own_parts.column", place=place, name=name, allowed=near)


def _line(columns: list[str], cells: list[str], file: str, number: int) -> Line:
    if len(cells) != len(columns):
        raise InputError("own_parts.cells", place=Place(file, number), value=len(cells), expected=len(columns))
    row = OPTIONAL | {name: cell.strip() for name, cell in zip(columns, cells, strict=True)}
    row["conflict"], row["used"] = row["conflict"] or "0", row["used"] or "1"
    line = Line(row, file, number)
    for name, cell in row.items():
        if len(cell) > LONGEST_CELL:
            raise InputError("own_parts.long", place=line.at(name), value=len(cell), largest=LONGEST_CELL)
    if not _ID.fullmatch(row["id"]):
        raise InputError("own_parts.id", place=line.at("id"), value=row["id"])
    for name in ("key", "value", "unit", "source"):
        if not row[name]:
            raise InputError("own_parts.empty", place=line.at(name), name=name)
    for name in ("conflict", "used"):
        if row[name] not in ("0", "1"):
            raise InputError("own_parts.flag", place=line.at(name), value=row[name])
    if row["source_kind"] not in get_args(SourceKind):
        raise InputError("own_parts.source_kind", place=line.at("source_kind"), value=row["source_kind"], allowed=", ".join(get_args(SourceKind)))
    if row["date"] and not _DATE.fullmatch(row["date"]):
        raise InputError("own_parts.date", place=line.at("date"), value=row["date"])
    if row["unit"] != TEXT_UNIT:
        _check_number(line)
    return line


def _check_number(line: Line) -> None:
    row = line.row
    try:
        unit_factor(row["unit"])
    except ValueError:
        near = ", ".join(nearest_names(row["unit"], known_units())) or ", ".join(known_units())
        raise InputError("own_parts.unit", place=line.at("unit"), value=row["unit"], allowed=near) from None
    try:
        value = float(row["value"])
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf or "_" in row["value"]:
        raise InputError("own_parts.value", place=line.at("value"), value=row["value"])
    if not row["basis"]:
        raise InputError("own_parts.basis", place=line.at("basis"), name=row["key"])

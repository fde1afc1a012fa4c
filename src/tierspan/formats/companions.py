"""Read ``licences.csv`` and ``peers.csv``, which stand beside measurement files."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tierspan.formats.measurements.table import read_table
from tierspan.quantities.errors import InputError, Place
from tierspan.specs.companions import PeerLine, SourceLicence

LICENCES: Final = "licences.csv"
PEERS: Final = "peers.csv"
_LICENCE_COLUMNS: Final = ("file", "source", "published_at", "licence", "basis", "reproduced", "remark")
_PEER_COLUMNS: Final = ("id", "peer", "version", "predicted_step_s", "status", "reason")
_STATUS: Final = ("predicted", "predicted, refused", "not expressible")


def read_licences(path: str | Path) -> tuple[SourceLicence, ...]:
    """The licences of the sources.

    Raises:
        InputError: the file cannot be read, a column is missing, or ``reproduced`` is neither yes nor no.
    """
    return tuple(
        SourceLicence(
            row["file"],
            row["source"],
            row["published_at"],
            row["licence"],
            row["basis"],
            _word(path, line, "reproduced", row["reproduced"], ("yes", "no")) == "yes",
            row["remark"],
        )
        for line, row in _rows(path, _LICENCE_COLUMNS)
    )


def read_peers(path: str | Path) -> tuple[PeerLine, ...]:
    """What other predictors say.

    Raises:
        InputError: the file cannot be read, a column is missing, a status is unknown, or a time is no positive number.
    """
    found = []
    for line, row in _rows(path, _PEER_COLUMNS):
        status = _word(path, line, "status", row["status"], _STATUS)
        time = _time(path, line, row["predicted_step_s"]) if status != "not expressible" else None
        found.append(PeerLine(row["id"], row["peer"], row["version"], time, status, row["reason"]))  # type: ignore[arg-type]
    return tuple(found)


def licence_of(licences: tuple[SourceLicence, ...], file: str, source: str) -> SourceLicence | None:
    """The entry of a row's source: the longest beginning that fits; None where no entry does."""
    fitting = [entry for entry in licences if entry.file == file and source.startswith(entry.source)]
    return max(fitting, key=lambda entry: len(entry.source), default=None)


def _rows(path: str | Path, columns: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    table = read_table(path)
    missing = [c for c in columns if c not in table.header]
    if missing:
        values = {"kind": Path(path).stem, "missing": ", ".join(missing), "columns": ", ".join(table.header)}
        raise InputError("validation.column_missing", place=Place(table.path, 1), **values)
    for line, cells in zip(table.lines, table.rows, strict=True):
        yield line, dict(zip(table.header, cells, strict=True))


def _word(path: str | Path, line: int, column: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise InputError("validation.bad_word", place=Place(str(path), line, key=column), column=column, value=value, allowed=" | ".join(allowed))
    return value


def _time(path: str | Path, line: int, value: str) -> float:
    column = "predicted_step_s"
    try:
        time = float(value)
    except ValueError:
        time = math.nan
    if not math.isfinite(time) or time <= 0:
        raise InputError("validation.not_a_number", place=Place(str(path), line, key=column), column=column, value=value)
    return time

"""Users' own parts: CSV files of the catalogue's columns, checked line by line, as rows of the catalogue's tables.

One file may describe any number of things; each has a row ``kind`` that says what it is. See docs/concepts/catalogue.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tierspan.quantities.errors import InputError, Place
from tierspan.specs.catalog.own_reading import read_lines
from tierspan.specs.catalog.own_things import tables_of
from tierspan.specs.catalog.tables import Row, set_own_tables

VARIABLE: Final = "TIERSPAN_PARTS"


def from_environment() -> Mapping[str, Sequence[Row]]:
    """The parts of the files and folders that ``TIERSPAN_PARTS`` names (separated as in ``PATH``); none where it is not set.

    Raises:
        InputError: a file breaks a rule.
    """
    named = [entry for entry in os.environ.get(VARIABLE, "").split(os.pathsep) if entry]
    return tables_from(named) if named else {}


def tables_from(paths: Sequence[str | os.PathLike[str]]) -> Mapping[str, Sequence[Row]]:
    """The parts of files, and of all CSV files in folders, as rows of the catalogue's tables.

    Raises:
        InputError: a path does not exist, or a file breaks a rule; file, line, column and value are named.
    """
    return tables_of([line for path in paths for file in _files(Path(path)) for line in read_lines(file)])


@contextmanager
def own_parts(*paths: str | os.PathLike[str]) -> Iterator[None]:
    """The catalogue with the parts of these files or folders, instead of those of ``TIERSPAN_PARTS``; without paths nothing changes.

    Raises:
        InputError: a path does not exist, or a file breaks a rule.
    """
    if not paths:
        yield
        return
    earlier = set_own_tables({})  # references are checked against what ships and against these files alone
    try:
        set_own_tables(tables_from(paths))
        yield
    finally:
        set_own_tables(earlier)


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        found = sorted(path.glob("*.csv"))
        if not found:
            raise InputError("own_parts.no_files", place=Place(str(path)))
        return found
    if not path.exists():
        raise InputError("own_parts.missing", place=Place(str(path)), value=str(path))
    return [path]

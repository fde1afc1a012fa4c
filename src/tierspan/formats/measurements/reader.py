"""The one entry to measurement files."""

from __future__ import annotations

from pathlib import Path

from tierspan.formats.measurements.cells import Cells
from tierspan.formats.measurements.kinds import extra_columns, recognise
from tierspan.formats.measurements.rows import ROW_READERS
from tierspan.formats.measurements.table import read_table
from tierspan.quantities.errors import InputError, Place
from tierspan.specs.measurement import MeasurementFile, MeasurementRow


def read_measurements(path: str | Path) -> MeasurementFile:
    """Read a measurement file and recognise its kind by its columns.

    UTF-8 (with or without a byte order mark), UTF-16 with one, and GBK are read.

    Raises:
        InputError: with file, line, column and value, for everything that does not read cleanly: see ``table``, ``kinds``
            and ``cells``; also rows without an id, ids that stand twice, and a file without rows.
    """
    table = read_table(path)
    place = Place(table.path, line=1)
    kind = recognise(table.header, place)
    extra = extra_columns(kind, table.header, place)
    if not table.rows:
        raise InputError("validation.no_rows", place=Place(table.path), path=table.path)
    read = ROW_READERS[kind]
    rows: list[MeasurementRow] = []
    seen: dict[str, int] = {}
    for cells, line in zip(table.rows, table.lines, strict=True):
        row = read(Cells(table.path, line, dict(zip(table.header, cells, strict=True))))
        if not row.id:
            raise InputError("validation.cell_empty", place=Place(table.path, line, key="id"), column="id")
        if row.id in seen:
            raise InputError("validation.id_twice", place=Place(table.path, line, key="id"), value=row.id, first=seen[row.id])
        seen[row.id] = line
        rows.append(row)
    return MeasurementFile(kind, tuple(rows), table.header, table.path, table.encoding, extra)

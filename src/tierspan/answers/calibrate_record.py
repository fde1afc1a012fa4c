"""``tierspan calibrate`` on files of collectives and of memory: the constants of those laws, with the record of their fit."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from tierspan.answers.results import SCHEMA_VERSION
from tierspan.formats.measurements import read_measurements
from tierspan.quantities.errors import InputError, Place

Kind = Literal["collectives", "memory"]
LEAST: Final = 20
"""Fewer rows that can be fitted tell nothing of these laws."""


@dataclass(frozen=True, slots=True)
class RecordCalibration:
    """Constants and record as they stand in the data file of the law; errors are fractions of the measured value."""

    kind: Kind
    constants: int
    rows: int
    median_ape: float
    content: dict[str, Any]
    schema_version: str = SCHEMA_VERSION


def kind_of(path: str | Path) -> str:
    """Kind of a measurement file (training, memory, collectives ...)."""
    return str(read_measurements(path).kind)


def calibrate_record(path: str | Path, progress: Callable[[str, int, int], None] | None = None) -> RecordCalibration:
    """Fit the constants of the memory law or of the laws of collectives on a measurement file of that kind.

    Raises:
        InputError: the file cannot be read, or is of another kind.
    """
    file = read_measurements(path)
    if file.kind == "collectives":
        from tierspan.estimates.communication.dataset import collective_data
        from tierspan.estimates.communication.record import PRIORS, calibrate_communication

        if (collective_data(file.collectives, PRIORS).fit_data.weights > 0).sum() < LEAST:
            raise InputError("calibrate.few_rows", place=Place(str(path)), rows=len(file.rows), least=LEAST)
        found = calibrate_communication(path, lambda done, total: progress("sources", done, total) if progress is not None else None)
        content: dict[str, Any] = {"version": found.version, "values": found.values, "record": found.record}
        return RecordCalibration("collectives", sum(len(v) for v in found.values.values()), len(file.rows), _first_error(found.record), content)
    if file.kind != "memory":
        raise InputError("calibrate.kind", place=Place(str(path)), kind=file.kind)
    from tierspan.estimates.calibration.memory_fit import NANOTRON, memory_record
    from tierspan.estimates.calibration.memory_rows import memory_rows, offered_bytes

    rows = memory_rows([r.raw for r in file.memory])
    if sum(stack in NANOTRON for stack in rows.stacks) < LEAST:
        # the constants of the memory law are those that the nanotron grid tells; other stacks keep their priors
        raise InputError("calibrate.few_rows", place=Place(str(path)), rows=len(file.rows), least=LEAST)
    record = memory_record(rows, offered_bytes(rows.accelerators), Path(path).read_bytes())
    errors = [e["peak_median_ape"] for e in record["errors"].values() if e["peak_median_ape"] is not None]
    return RecordCalibration("memory", len(record["free"]), len(rows.names), max(errors, default=float("nan")), record)


def write_record(found: RecordCalibration, out: str | Path) -> Path:
    """Write constants and record as JSON."""
    path = Path(out)
    try:
        path.write_text(json.dumps(found.content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as problem:
        raise InputError("validation.cannot_write", place=Place(str(path)), path=str(path), reason=problem.strerror or str(problem)) from None
    return path


def _first_error(record: Mapping[str, Any]) -> float:
    """Median error of left-out pages, as the record of a fit of collectives tells it."""
    errors = record["errors"]
    left_out = next(errors[name] for name in errors if "left" in name)
    return float(left_out["median_ape"])

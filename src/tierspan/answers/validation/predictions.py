"""The prediction file: one line per measured row (two for serving), in the order of the measurement file."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from tierspan.quantities.errors import InputError, Place

HEADER: Final = ("id", "measured", "predicted", "low", "high", "unit", "status", "reason")

Status = Literal["predicted", "not predicted", "excluded", "fits", "oom"]


@dataclass(frozen=True, slots=True)
class PredictionLine:
    """One line of OUT.csv. Units: s for training, GB for memory, us for collectives, ms for serving, the row's own for operations.

    ``status``: ``predicted``, ``not predicted`` or ``excluded`` (predicted or not, it is not scored); for memory ``fits`` or ``oom``.
    ``reason`` says why a row is not predicted or not scored.
    """

    id: str
    measured: float | None
    predicted: float | None
    low: float | None
    high: float | None
    unit: str
    status: Status
    reason: str = ""


def lines(
    ids: Sequence[str],
    measured: Sequence[float | None],
    predicted: Sequence[float | None],
    low: Sequence[float | None],
    high: Sequence[float | None],
    unit: str,
    status: Sequence[Status],
    reason: Sequence[str],
) -> list[PredictionLine]:
    """Lines from columns of equal length."""
    return [
        PredictionLine(i, m, p, lo, hi, unit, s, r) for i, m, p, lo, hi, s, r in zip(ids, measured, predicted, low, high, status, reason, strict=True)
    ]


def write_predictions(path: str | Path, content: Iterable[PredictionLine]) -> int:
    """Write OUT.csv (UTF-8, one line feed a line), numbers at full precision, missing ones empty; returns the number of lines.

    Raises:
        InputError: the file cannot be written.
    """
    count = 0
    try:
        with Path(path).open("w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(HEADER)
            for line in content:
                numbers = [_number(v) for v in (line.measured, line.predicted, line.low, line.high)]
                writer.writerow([line.id, *numbers, line.unit, line.status, line.reason])
                count += 1
    except OSError as problem:
        raise InputError("validation.cannot_write", place=Place(str(path)), path=str(path), reason=problem.strerror or str(problem)) from None
    return count


def _number(value: float | None) -> str:
    return "" if value is None or not math.isfinite(value) else repr(float(value))

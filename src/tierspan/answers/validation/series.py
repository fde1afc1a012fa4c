"""Series of one job at growing sizes: how its throughput per accelerator falls, measured and predicted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tierspan.specs.measurement import TrainingRow

COLUMNS: Final = (
    "source",
    "framework",
    "model",
    "accelerator",
    "precision",
    "seq_len",
    "tp",
    "pp",
    "vpp",
    "cp",
    "ep",
    "micro_batch",
    "zero",
    "recompute",
)
_STEEP: Final = 0.92


@dataclass(frozen=True, slots=True)
class SlopeSeries:
    """One series: ``measured`` and ``predicted`` are throughputs per accelerator relative to the smallest of ``sizes``.

    ``kind``: ``weak`` (equal batch a data-parallel rank) or ``strong`` (equal batch). ``error_points``: mean of |predicted - measured|
    over the larger sizes, in percentage points. ``steep``: the largest size has lost more than 8 % as measured.
    """

    source: str
    model: str
    accelerator: str
    kind: str
    sizes: tuple[int, ...]
    measured: tuple[float, ...]
    predicted: tuple[float, ...]
    error_points: float
    steep: bool


def slope_series(rows: Sequence[TrainingRow], measured: NDArray[np.float64], predicted: NDArray[np.float64]) -> list[SlopeSeries]:
    """Series among scored rows.

    A series holds rows that agree in ``COLUMNS`` and either in batch / dp (weak scaling) or in batch (strong), at two or more sizes
    at least 2x apart. The nanotron and vTrain sets are left out. A size that stands twice in a series counts once, its last row.
    """
    series: dict[tuple[object, ...], dict[int, tuple[float, float]]] = {}
    for row, m, p in zip(rows, measured, predicted, strict=True):
        batch, n = row.global_batch, row.n_accelerators
        if row.source.startswith(("HF Ultra", "vTrain")) or not batch or not n:
            continue
        key = tuple(row.raw.get(c, "") for c in COLUMNS)
        rate = (batch / float(m) / n, batch / float(p) / n)
        if row.dp:
            series.setdefault((*key, "weak", batch / row.dp), {})[n] = rate
        series.setdefault((*key, "strong", batch), {})[n] = rate
    return [_series(key, points) for key, points in series.items() if len(points) > 1 and max(points) >= 2 * min(points)]


def _series(key: tuple[object, ...], points: dict[int, tuple[float, float]]) -> SlopeSeries:
    sizes = sorted(points)
    rates = np.array([points[n] for n in sizes])
    relative = rates / rates[0]
    return SlopeSeries(
        source=str(key[0]),
        model=str(key[2]),
        accelerator=str(key[3]),
        kind=str(key[-2]),
        sizes=tuple(sizes),
        measured=tuple(float(v) for v in relative[:, 0]),
        predicted=tuple(float(v) for v in relative[:, 1]),
        error_points=float(np.mean(100 * np.abs(relative[1:, 1] - relative[1:, 0]))),
        steep=bool(relative[-1, 0] < _STEEP),
    )

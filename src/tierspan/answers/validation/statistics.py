"""Error statistics of predictions: pure functions over rows and arrays.

Every array has one entry a row, NaN where there is none. Errors are fractions: e = predicted / measured - 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tierspan.answers.validation.series import slope_series
from tierspan.specs.measurement import CollectiveRow, MemoryRow, TrainingRow

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

MEBIBYTE = 2**20
BY_SIZE = ("below 1 MiB", "1 MiB and above")


class Summary(TypedDict):
    """Errors over a set of rows; ``coverage80`` is the share of measured values inside [low, high], ``None`` without bounds."""

    rows: int
    median_ape: float
    mean_ape: float
    p90_ape: float
    bias: float
    coverage80: float | None


def to_array(values: Iterable[float | None]) -> Array:
    """Floats with NaN for ``None``."""
    return np.array([np.nan if v is None else v for v in values], dtype=np.float64)


def usable(measured: Array, predicted: Array) -> Mask:
    """Rows with a measured and a predicted value that are finite and not zero."""
    good: Mask = np.isfinite(measured) & np.isfinite(predicted) & (measured != 0) & (predicted != 0)
    return good


def summary(measured: ArrayLike, predicted: ArrayLike, low: ArrayLike | None = None, high: ArrayLike | None = None) -> Summary | None:
    """Errors over the usable rows, or ``None`` where there is none.

    The 90th percentile is the value at position floor(0.9 n) of the sorted errors (the last one for small n).
    Bounds count where both are finite.
    """
    m, p = np.asarray(measured, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    good = usable(m, p)
    if not good.any():
        return None
    error = p[good] / m[good] - 1
    ape = np.sort(np.abs(error))
    coverage: float | None = None
    if low is not None and high is not None:
        lo, hi = (np.broadcast_to(np.asarray(b, dtype=np.float64), m.shape)[good] for b in (low, high))
        bounded = np.isfinite(lo) & np.isfinite(hi)
        if bounded.any():
            inside = (lo <= m[good]) & (m[good] <= hi)
            coverage = float(np.mean(inside[bounded]))
    return Summary(
        rows=len(ape),
        median_ape=float(np.median(ape)),
        mean_ape=float(np.mean(ape)),
        p90_ape=float(ape[min(len(ape) - 1, int(0.9 * len(ape)))]),
        bias=float(np.median(error)),
        coverage80=coverage,
    )


def kendall_tau(x: ArrayLike, y: ArrayLike) -> float:
    """Kendall's tau-b of two series; 0 where one of them is constant.

    tau_b = (C - D) / sqrt((C + D + Tx)(C + D + Ty)) over all pairs, with C concordant, D discordant, Tx tied in x only, Ty tied in
    y only (Kendall 1945). Quadratic in memory: meant for groups of up to some thousands.
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    upper = np.triu_indices(len(a), 1)
    dx = np.sign(a[:, None] - a[None, :])[upper]
    dy = np.sign(b[:, None] - b[None, :])[upper]
    product = dx * dy
    concordant, discordant = int((product > 0).sum()), int((product < 0).sum())
    tied_x, tied_y = int(((dx == 0) & (dy != 0)).sum()), int(((dy == 0) & (dx != 0)).sum())
    denominator = float(np.sqrt(float(concordant + discordant + tied_x) * float(concordant + discordant + tied_y)))
    return (concordant - discordant) / denominator if denominator else 0.0


class Ranking(TypedDict):
    """How well plans of one group are ordered; regrets are shares of the best measured throughput."""

    group: str
    plans: int
    kendall_tau: float
    regret: float
    regret_top3: float


def rank_group(name: str, measured_s: ArrayLike, predicted_s: ArrayLike) -> Ranking:
    """Order of throughput (1 / time) in one group of plans.

    Plans predicted equal cannot be told apart: each is worth the mean of their measured throughputs. regret = 1 - worth of the
    predicted-best plan / best measured; regret_top3 takes the best of the predicted three.
    """
    measured, predicted = 1 / np.asarray(measured_s, dtype=np.float64), 1 / np.asarray(predicted_s, dtype=np.float64)
    _, group = np.unique(predicted, return_inverse=True)
    group = group.reshape(-1)
    worth = (np.bincount(group, weights=measured) / np.bincount(group))[group]
    order = np.argsort(-predicted, kind="stable")
    best = float(measured.max())
    return Ranking(
        group=name,
        plans=len(measured),
        kendall_tau=kendall_tau(predicted, measured),
        regret=1 - float(worth[order[0]]) / best,
        regret_top3=1 - float(worth[order[:3]].max()) / best,
    )


MINIMUM_PLANS = 8


def ranking_group(row: TrainingRow) -> str | None:
    """The group in which a row is ranked, or ``None``: nanotron by (model, accelerators), vTrain multi-node by model, BLOOM by both."""
    n = row.raw.get("n_accelerators", "")
    if row.source.startswith("HF Ultra"):
        return f"nanotron {row.model} @ {n}"
    if row.source.startswith("vTrain measured ground truth (multi"):
        return f"vTrain {row.model}"
    if row.source.startswith("BigScience BLOOM"):
        return f"BLOOM {row.model} @ {n}"
    return None


def rankings(rows: Sequence[TrainingRow], measured: Array, predicted: Array) -> list[Ranking]:
    """Rankings of all groups with at least eight scored plans, by name; the arrays hold scored rows only."""
    groups: dict[str, list[int]] = {}
    for i, row in enumerate(rows):
        name = ranking_group(row)
        if name is not None:
            groups.setdefault(name, []).append(i)
    return [rank_group(g, measured[i], predicted[i]) for g, i in sorted(groups.items()) if len(i) >= MINIMUM_PLANS]


class Slopes(TypedDict):
    """How well the loss of throughput per accelerator is met when a configuration grows, in percentage points."""

    series: int
    steep: int
    error_points: float | None
    error_points_steep: float | None


def slopes(rows: Sequence[TrainingRow], measured: Array, predicted: Array) -> Slopes:
    """Slope statistics over scored rows: means of the errors of the series (see ``slope_series``), of all and of the steep ones."""
    found = slope_series(rows, measured, predicted)
    steep = [s.error_points for s in found if s.steep]
    return Slopes(
        series=len(found),
        steep=len(steep),
        error_points=float(np.mean([s.error_points for s in found])) if found else None,
        error_points_steep=float(np.mean(steep)) if steep else None,
    )


class Memory(TypedDict):
    """How often fits and dies are told apart, and how far the peak is off on rows that fit."""

    accuracy: float | None
    oom_recall: float | None
    fits_recall: float | None
    peak_median_ape: float | None
    peak_p90_ape: float | None


def memory_statistics(rows: Sequence[MemoryRow], predicted_gb: Array, status: Sequence[str]) -> Memory:
    """Memory statistics over the rows whose ``status`` is ``fits`` or ``oom``; peaks in GB, reserved where given, else allocated."""
    told = np.array([s in ("fits", "oom") for s in status], dtype=bool)
    died = np.array([r.outcome == "oom" for r in rows], dtype=bool)
    right = np.array([r.outcome == s for r, s in zip(rows, status, strict=True)], dtype=bool)
    peak = to_array(r.peak_reserved_gb or r.peak_allocated_gb for r in rows)

    def share(chosen: Mask) -> float | None:
        return float(np.mean(right[chosen])) if chosen.any() else None

    fits = told & ~died
    errors = summary(peak[fits], predicted_gb[fits])
    return Memory(
        accuracy=share(told),
        oom_recall=share(told & died),
        fits_recall=share(fits),
        peak_median_ape=errors["median_ape"] if errors else None,
        peak_p90_ape=errors["p90_ape"] if errors else None,
    )


def size_class(row: CollectiveRow) -> str:
    """Whether a message is smaller than 1 MiB."""
    return BY_SIZE[(row.size_bytes or 0) >= MEBIBYTE]


def by_label(labels: Sequence[str], summarise: Callable[[Mask], Summary | None], order: Sequence[str] = ()) -> dict[str, Summary | None]:
    """Summaries by label: those of ``order`` first (also when empty), the others by name; "" is no label."""
    names = np.array(labels, dtype=object)
    wanted = [*order, *sorted({n for n in labels if n} - set(order))]
    return {name: summarise(np.array(names == name, dtype=bool)) for name in wanted}

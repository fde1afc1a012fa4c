"""Validation on communication benchmarks: predictions of every row, and the report with well-witnessed kinds and one-source kinds apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from tierspan.answers.validation.predictions import PredictionLine, Status, lines
from tierspan.answers.validation.report import collectives_report
from tierspan.answers.validation.statistics import BY_SIZE, Array, Mask, Summary, by_label, size_class, summary, to_array
from tierspan.estimates.calibration.intervals import Bounds, interval_table, lookup
from tierspan.estimates.communication.constants import CommunicationProfile, shipped
from tierspan.estimates.communication.cross import cross_validate, group_folds
from tierspan.estimates.communication.dataset import CollectiveData, collective_data, page_of
from tierspan.estimates.communication.estimate import evaluate
from tierspan.estimates.communication.intervals import NEW_CASE, bounds_for
from tierspan.formats.measurements import excluded_reason, measured_collective_time_us
from tierspan.specs.measurement import CollectiveRow, MeasurementFile

SOURCES: Final = 3
"""Source pages from which an operation on an accelerator is judged; kinds with fewer are shown apart."""
MICRO: Final = 1e-6
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class CollectiveValidation:
    """Report, one line a row of the file, version of the constants."""

    report: dict[str, Any]
    lines: tuple[PredictionLine, ...]
    version: str


def validate_collectives(file: MeasurementFile, split: Literal["group", "source"] | None, progress: Progress | None) -> CollectiveValidation:
    """Predict every row of a file of communication benchmarks; with ``split`` by constants that never saw the row's page (or group)."""
    rows = file.collectives
    profile = shipped() if split is None else CommunicationProfile("priors")
    data = collective_data(rows, profile)
    if split is None:
        time = evaluate(data.fit_data.batch).time_s[data.fit_data.case_of] * data.fit_data.messages
        low, high = bounds_for(data.regimes, profile.record.get("intervals", {}))
    else:
        folds = list(data.pages) if split == "source" else group_folds(data)
        time, number = cross_validate(data, folds, progress=progress)
        low, high = _left_out_bounds(data, time, number)
    predicted, least, most = (data.spread(v / MICRO) for v in (time, time * low, time * high))
    told = [bool(excluded_reason(r)) for r in rows]
    reasons = [excluded_reason(r) or data.reasons[i] for i, r in enumerate(rows)]
    status: list[Status] = ["excluded" if out else "predicted" if np.isfinite(predicted[i]) else "not predicted" for i, out in enumerate(told)]
    report = collectives_report(rows, predicted, least, most, reasons)
    report["by"] |= _by_kind(rows, predicted, least, most)
    measured = [measured_collective_time_us(r) for r in rows]
    made = lines([r.id for r in rows], measured, _optional(predicted), _optional(least), _optional(most), "us", status, reasons)
    return CollectiveValidation(report, tuple(made), profile.version)


def _by_kind(rows: tuple[CollectiveRow, ...], predicted: Array, low: Array, high: Array) -> dict[str, dict[str, Summary | None]]:
    """Errors of kinds (operation and accelerator) with three source pages or more, of each of them, and of those with fewer."""
    measured = to_array(measured_collective_time_us(r) for r in rows)
    usable = np.array([excluded_reason(r) is None for r in rows], dtype=bool) & np.isfinite(measured) & np.isfinite(predicted)
    pages: dict[str, set[str]] = {}
    kinds = [f"{r.collective}, {r.accelerator}" for r in rows]
    for row, kind, ok in zip(rows, kinds, usable, strict=True):
        if ok:
            pages.setdefault(kind, set()).add(page_of(row))
    many = np.array([len(pages.get(k, ())) >= SOURCES for k in kinds], dtype=bool)
    few = ["" if m or not ok else k for k, m, ok in zip(kinds, many, usable, strict=True)]
    size = np.array([size_class(r) for r in rows], dtype=object)

    def pick(chosen: Mask) -> Summary | None:
        kept = usable & chosen
        return summary(measured[kept], predicted[kept], low[kept], high[kept])

    return {
        "three_sources": {"all": pick(many), **{name: pick(many & (size == name)) for name in BY_SIZE}},
        "kind": by_label([k if m else "" for k, m in zip(kinds, many, strict=True)], pick),
        "fewer_sources": {"all": pick(~many), **by_label(few, pick)},
    }


def _left_out_bounds(data: CollectiveData, time: Array, number: np.ndarray) -> tuple[Array, Array]:
    """Factors of each row from the left-out residuals of the other folds alone."""
    scored = data.fit_data.weights > 0
    residual = np.log(data.fit_data.measured_s / time)
    regimes = np.array(data.regimes)
    low, high = np.full(time.size, np.nan), np.full(time.size, np.nan)
    for fold in np.unique(number):
        others = scored & (number != fold)
        table = interval_table(residual[others], list(regimes[others]))
        found: dict[str, Bounds | None] = {}
        for i in np.flatnonzero(number == fold):
            name = str(regimes[i])
            if name not in found:
                found[name] = lookup(table, name, name != NEW_CASE)[0]
            bounds = found[name]
            if bounds is not None:
                low[i], high[i] = bounds.low, bounds.high
    return low, high


def _optional(values: Array) -> list[float | None]:
    return [float(v) if np.isfinite(v) else None for v in values]

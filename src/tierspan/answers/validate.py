"""``tierspan validate``: how far off the model is on any measurement file, with or without constants that saw the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from tierspan.answers.validation.classes import regime
from tierspan.answers.validation.predictions import PredictionLine, Status, lines, write_predictions
from tierspan.answers.validation.report import memory_report, operations_report, serving_report, training_report
from tierspan.answers.validation.result import Validation
from tierspan.estimates.bounds import bounds_of_case
from tierspan.estimates.calibration.cross import LeftOut, cross_validate, predict_with
from tierspan.estimates.calibration.dataset import TrainingData, training_data
from tierspan.estimates.calibration.folds import group_fold, publisher
from tierspan.estimates.calibration.intervals import Bounds, interval_table, lookup
from tierspan.estimates.regimes import NANOTRON, regime_of
from tierspan.formats.measurements import excluded_reason, measured_step_time_s, read_measurements
from tierspan.quantities.errors import InputError, Place
from tierspan.specs.arrays import Array
from tierspan.specs.measurement import MeasurementFile
from tierspan.specs.profile.profile import Profile, shipped_profile

Split = Literal["group", "source"]
Progress = Callable[[int, int], None]
NOT_YET = "not modelled yet"
NOTHING = Bounds(float("nan"), float("nan"), 0)


def validate(
    path: str | Path,
    *,
    split: Split | None = None,
    profile: Profile | None = None,
    predictions: str | Path | None = None,
    progress: Progress | None = None,
    processes: int = 1,
) -> Validation:
    """Validate on a measurement file.

    Args:
        path: a training, memory, collectives, serving or operations file, recognised by its columns.
        split: refit with whole groups (ten folds) or one publisher at a time left out, and report the left-out rows.
        profile: constants to use; default the shipped ones.
        predictions: where to write one line a row, in the order of the file.
        progress: told (done, all) folds.
        processes: fits side by side (see ``estimates.parallel``).

    Raises:
        InputError: the file cannot be read or is of no known kind; a split of a file of serving or operations.
    """
    file = read_measurements(path)
    constants = profile or shipped_profile()
    if split is not None and file.kind not in ("training", "memory", "collectives"):
        raise InputError("validate.split", place=Place(str(path)), kind=file.kind)
    if file.kind == "training":
        result = _training(file, constants, split, progress, processes)
    elif file.kind == "memory":
        result = _memory(file, constants, split)
    elif file.kind == "collectives":
        result = _collectives(file, split, progress)
    else:
        result = _not_yet(file, constants)
    if predictions is not None:
        write_predictions(predictions, result.lines)
    return replace(result, file=file)


def _training(file: MeasurementFile, profile: Profile, split: Split | None, progress: Progress | None, processes: int) -> Validation:
    data = training_data(file.training)
    everything = np.arange(len(data.cases))
    if split is None:
        predicted, bound = predict_with(data, profile, everything)
        regimes = _regimes(data, bound)
        bounds = [bounds_of_case(profile, c, r)[0] or NOTHING for c, r in zip(data.cases, regimes, strict=True)]
    else:
        folds = [group_fold(r) if split == "group" else publisher(r.source) for r in data.rows]
        out = cross_validate(data, folds, progress, processes)
        predicted, bound = out.predicted_s, out.host_bound
        bounds = _left_out_bounds(data, out, new=split == "source")
    low = np.array([b.low for b in bounds]) * predicted if bounds else np.full(predicted.shape, np.nan)
    high = np.array([b.high for b in bounds]) * predicted if bounds else np.full(predicted.shape, np.nan)
    full = {name: _spread(data, v) for name, v in (("p", predicted), ("low", low), ("high", high))}
    host = [None if p < 0 else bool(bound[p]) for p in data.position]
    report = training_report(file.training, full["p"], full["low"], full["high"], host, data.reason)
    status: list[Status] = []
    reason: list[str] = []
    for i, row in enumerate(file.training):
        flag = excluded_reason(row)
        status.append("excluded" if flag else "predicted" if data.position[i] >= 0 else "not predicted")
        reason.append(flag or data.reason[i])
    told = lines(
        [r.id for r in file.training], [measured_step_time_s(r) for r in file.training], _optional(full["p"]),
        _optional(full["low"]), _optional(full["high"]), "s", status, reason,
    )  # fmt: skip
    named = tuple(regime(r, h) for r, h in zip(file.training, host, strict=True))
    return Validation(report, tuple(told), profile.version, split or "", regimes=named, ablation=profile.record.get("ablation", {}))


def _regimes(data: TrainingData, bound: np.ndarray) -> list[str]:
    return [regime_of(c, bool(b)) for c, b in zip(data.cases, bound, strict=True)]


def _left_out_bounds(data: TrainingData, out: LeftOut, *, new: bool) -> list[Bounds]:
    """Intervals of each row from the left-out residuals of the other folds alone; none where there is no other fold.

    ``new``: whole publishers are left out, so that every row is one of a stack that nobody measured.
    """
    residual = np.log(data.measured_s / out.predicted_s)
    regimes = np.array(_regimes(data, out.host_bound))
    bounds = [NOTHING] * len(regimes)
    for fold in np.unique(out.fold):
        others = data.scored & (out.fold != fold)
        table = interval_table(residual[others], list(regimes[others]), residual[others & (regimes != NANOTRON)] if new else None)
        for i in np.flatnonzero(out.fold == fold):
            bounds[i] = lookup(table, str(regimes[i]), not new)[0] or NOTHING
    return bounds


def _spread(data: TrainingData, values: Array) -> Array:
    """Values of the cases in the order of the file, NaN where there is no case."""
    full = np.full(len(data.items), np.nan)
    has = data.position >= 0
    full[has] = values[data.position[has]]
    return full


def _optional(values: Sequence[float] | Array) -> list[float | None]:
    return [float(v) if np.isfinite(v) else None for v in values]


def _memory(file: MeasurementFile, profile: Profile, split: Split | None) -> Validation:
    from tierspan.estimates.calibration.memory_fit import leave_one_model_predictions, predict_rows
    from tierspan.estimates.calibration.memory_rows import memory_rows, offered_bytes
    from tierspan.laws.memory.constants import fitted_memory

    rows = memory_rows([r.raw for r in file.memory])
    offered = offered_bytes(rows.accelerators)
    peak, dies = predict_rows(rows, fitted_memory(), offered) if split is None else leave_one_model_predictions(rows, offered)
    predicted = np.full(len(file.memory), np.nan)
    status: list[Status] = ["not predicted"] * len(file.memory)
    predicted[rows.position] = peak / 1e9
    for place, dead in zip(rows.position, dies, strict=True):
        status[int(place)] = "oom" if dead else "fits"
    reason = [rows.unread.get(i, "") for i in range(len(file.memory))]
    report = memory_report(file.memory, predicted, status, reason)
    measured = [r.peak_reserved_gb or r.peak_allocated_gb for r in file.memory]
    none: list[float | None] = [None] * len(measured)
    told = lines([r.id for r in file.memory], measured, _optional(predicted), none, none, "GB", status, reason)
    return Validation(report, tuple(told), profile.version, split or "")


def _collectives(file: MeasurementFile, split: Split | None, progress: Progress | None) -> Validation:
    from tierspan.answers.validation.collectives import validate_collectives

    found = validate_collectives(file, split, progress)
    return Validation(found.report, found.lines, found.version, split or "")


def _not_yet(file: MeasurementFile, profile: Profile) -> Validation:
    """Files whose laws are not there yet are read and counted, and every row says that it is not predicted."""
    n = len(file.rows)
    nothing = np.full(n, np.nan)
    reasons = [NOT_YET] * n
    if file.kind == "serving":
        report = serving_report(file.serving, nothing, nothing, reasons)
        unit = "ms"
    else:
        report = operations_report(file.operations, nothing, reasons)
        unit = ""
    ids = [r.id for r in file.rows]
    if file.kind == "serving":
        ids = [f"{i}:{q}" for i in ids for q in ("ttft", "tpot")]
    told = [PredictionLine(i, None, None, None, None, unit, "not predicted", NOT_YET) for i in ids]
    return Validation(report, tuple(told), profile.version, "")

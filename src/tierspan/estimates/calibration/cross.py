"""Cross-validation: every group is predicted by constants that never saw it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tierspan.estimates.calibration.dataset import TrainingData
from tierspan.estimates.calibration.step_fit import fit_arrays, layout_of, take
from tierspan.estimates.cases import arrays_of
from tierspan.estimates.parallel import side_by_side
from tierspan.estimates.step import estimate_step
from tierspan.specs.arrays import Array
from tierspan.specs.profile.profile import Profile


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Predictions of rows that the fit did not see: step time in s, whether the host binds, the fold of each row."""

    predicted_s: Array
    host_bound: np.ndarray
    fold: np.ndarray


def fit_profile(data: TrainingData, rows: np.ndarray | None = None, version: str = "fit") -> Profile:
    """Fit the constants on ``rows`` (default: all with weight)."""
    weighted = data.weights > 0
    chosen = np.flatnonzero(weighted if rows is None else weighted & rows)
    if not chosen.size:
        # One group is all there is: left out, it is predicted by the priors.
        return Profile(version, {}, {"iterations": 0})
    arrays = take(data.arrays, chosen)
    layout = layout_of([data.cases[i].keys for i in chosen])
    fit = fit_arrays(arrays, layout, data.measured_s[chosen], data.weights[chosen])
    return Profile(version, fit.values, {"iterations": fit.iterations, "standard_errors": fit.errors})


def predict_with(data: TrainingData, profile: Profile, rows: np.ndarray) -> tuple[Array, np.ndarray]:
    """Step time and host-bound flag of some rows with a profile."""
    constants = arrays_of([data.cases[i] for i in rows], profile).constants
    estimate = estimate_step(replace(take(data.arrays, rows), constants=constants))
    return estimate.step_time_s, estimate.host_bound > 0


def _one_fold(shared: tuple[TrainingData, np.ndarray], fold: int) -> tuple[np.ndarray, Array, np.ndarray]:
    data, number = shared
    out = np.flatnonzero(number == fold)
    return out, *predict_with(data, fit_profile(data, number != fold), out)


def cross_validate(data: TrainingData, folds: Sequence[object], progress: Callable[[int, int], None] | None = None, processes: int = 1) -> LeftOut:
    """Leave out one fold at a time, fit the rest, predict the fold.

    Args:
        data: the data set.
        folds: label of the fold of each case of ``data``.
        progress: told (done, all) after each fold.
        processes: fits side by side (more than one from the command line alone: workers import the main module).
    """
    labels = sorted(set(folds), key=str)
    number = np.array([labels.index(f) for f in folds])
    predicted = np.full(len(folds), np.nan)
    bound = np.zeros(len(folds), dtype=bool)
    # workers need neither rows nor refusals
    found = side_by_side(_one_fold, (replace(data, items=(), rows=()), number), range(len(labels)), processes=processes)
    for done, (out, values, host) in enumerate(found, 1):
        predicted[out], bound[out] = values, host
        if progress is not None:
            progress(done, len(labels))
    return LeftOut(predicted, bound, number)

"""Cross-validation of collectives: every page (or group) is predicted by constants that never saw it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tierspan.estimates.calibration.folds import fold_of_group, group_text
from tierspan.estimates.communication.dataset import CollectiveData
from tierspan.estimates.communication.fit import Fit, derivatives, fit
from tierspan.laws.communication.base import Array


def group_folds(data: CollectiveData) -> list[str]:
    """Ten folds of whole groups (source, operation, accelerator) by hash."""
    picked = [data.rows[i] for i in data.index]
    return [str(fold_of_group(group_text(r.source, r.collective, r.accelerator))) for r in picked]


def cross_validate(
    data: CollectiveData, folds: Sequence[str], *, base: Fit | None = None, progress: Callable[[int, int], None] | None = None
) -> tuple[Array, NDArray[np.int64]]:
    """Times in s of the cases by constants fitted without their fold, and the number of the fold of each.

    Args:
        data: the data set.
        folds: label of each case.
        base: the fit of all rows, if at hand.
        progress: told (done, all) after each fold.
    """
    labels = list(dict.fromkeys(folds))
    number = np.array([labels.index(f) for f in folds], dtype=np.int64)
    measured = data.fit_data
    residual = np.full(number.size, np.nan)
    whole = base or fit(measured)
    slope = derivatives(measured, whole.theta)
    for k in range(len(labels)):
        out = number == k
        weighted = (measured.weights[out] > 0).any()  # a fold without weight moves nothing
        left = fit(measured, weights=np.where(out, 0.0, measured.weights), slope=slope) if weighted else whole
        residual[out] = left.residual[out]
        if progress is not None:
            progress(k + 1, len(labels))
    predicted: Array = np.exp(residual) * measured.measured_s
    return predicted, number

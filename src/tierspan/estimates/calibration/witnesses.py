"""How many groups of measurements a constant stands on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from tierspan.estimates.calibration.dataset import TrainingData
from tierspan.estimates.calibration.folds import group_text
from tierspan.estimates.calibration.step_fit import layout_of

ENOUGH: Final = 3
"""Groups below which a constant may be one run's peculiarity: its standard error then widens the interval."""


def few_witnesses(data: TrainingData, errors: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, list[float]]]:
    """Constants that fewer than three groups speak for: ``{name: {key: [groups, standard error of the logarithm]}}``.

    Args:
        data: the data set of the fit; groups of derived series do not count as witnesses of their own.
        errors: standard errors by constant and key, as the fit gives them.
    """
    rows = np.flatnonzero(data.scored & (data.weights > 0))
    layout = layout_of([data.cases[i].keys for i in rows])
    groups = np.array([group_text(data.rows[i].source, data.rows[i].model, data.rows[i].accelerator) for i in rows])
    out: dict[str, dict[str, list[float]]] = {}
    for place, (name, key) in enumerate(layout.names):
        own = layout.index[name] == place
        count = len(set(groups[own].tolist()))
        if key and count < ENOUGH and key in errors.get(name, {}):
            out.setdefault(name, {})[key] = [float(count), errors[name][key]]
    return out

"""80 % intervals of collectives from left-out residuals, by size class and span."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tierspan.estimates.calibration.intervals import lookup, table_from_json
from tierspan.laws.communication.base import Array

NEW_CASE = "new"


def bounds_for(regimes: Sequence[str], raw: Mapping[str, Sequence[float]]) -> tuple[Array, Array]:
    """Factors (low, high) on the predicted time of each row; NaN where no table is given."""
    table = table_from_json(raw)
    seen: dict[str, tuple[float, float]] = {}
    for regime in set(regimes):
        bounds, _ = lookup(table, regime, regime != NEW_CASE)
        seen[regime] = (bounds.low, bounds.high) if bounds is not None else (float("nan"), float("nan"))
    pairs = np.array([seen[r] for r in regimes], dtype=np.float64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]

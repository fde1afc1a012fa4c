"""The probability of running out, from the residuals of models that were left out of the memory fit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

from tierspan.specs.arrays import Array

MOST_POINTS = 41
"""Quantiles kept of one distribution: enough for its tails at a few percent."""
UNCHECKED_STRETCH = 2.0
"""A stack that was never checked has residuals about their middle this much wider than those of the reference; assumed."""
LEAST_SPREAD = 0.03
"""Least scale (log) of the tails beyond the outermost residual: that of repeated runs; assumed."""


@dataclass(frozen=True, slots=True)
class Residuals:
    """Empirical distribution of ln(measured / predicted) of the peak: ``levels`` i / (n + 1) ascending, and the values there."""

    rows: int
    levels: tuple[float, ...]
    log_ratios: tuple[float, ...]

    @classmethod
    def of(cls, log_ratios: Array) -> Residuals:
        """From the residuals of left-out rows, shape (n,), n at least 1."""
        # a part in a billion is finer than any measured byte, and coarse enough to divide by
        found: Array = np.sort(np.asarray(log_ratios, dtype=np.float64).round(9))
        levels = np.arange(1, found.size + 1) / (found.size + 1.0)
        if found.size > MOST_POINTS:
            kept = np.linspace(levels[0], levels[-1], MOST_POINTS)
            found, levels = np.interp(kept, levels, found), kept
        return cls(int(np.size(log_ratios)), tuple(levels.tolist()), tuple(found.tolist()))

    def exceeding(self, log_margin: Array, stretch: float = 1.0) -> Array:
        """Probability that ln(measured / predicted) exceeds ``log_margin`` = ln(usable / predicted), same shape.

        Conformal (Vovk et al. 2005): one in n + 1 lies beyond the largest of n residuals, so few rows never promise safety at their edge.
        Between residuals linear, beyond them exponential with their own spread on that side; it falls strictly with the margin.
        ``stretch`` widens the distribution about its middle.
        """
        x, p = np.array(self.log_ratios), np.array(self.levels)
        middle = float(np.interp(0.5, p, x))
        x = middle + stretch * (x - middle)
        margin = np.asarray(log_margin, dtype=np.float64)
        up = max(float(x[-1] - middle), LEAST_SPREAD * stretch) / 2.0
        down = max(float(middle - x[0]), LEAST_SPREAD * stretch) / 2.0
        above = (1.0 - p[-1]) * np.exp(-np.maximum(margin - x[-1], 0.0) / up)
        below = 1.0 - p[0] * np.exp(-np.maximum(x[0] - margin, 0.0) / down)
        inside = 1.0 - np.interp(margin, x, p)
        return np.asarray(np.where(margin > x[-1], above, np.where(margin < x[0], below, inside)), dtype=np.float64)


@cache
def memory_residuals() -> dict[str, Residuals]:
    """Distributions by memory stack that the record of the memory fit holds."""
    text = resources.files("tierspan.laws.memory").joinpath("fitted.json").read_text(encoding="utf-8")
    return {name: Residuals(int(r["rows"]), tuple(r["levels"]), tuple(r["log_ratios"])) for name, r in json.loads(text)["residuals"].items()}


def oom_probability(stacks: Sequence[tuple[str, bool]], log_margin: Array) -> Array:
    """Probability of running out of each row: (memory stack, whether it was checked) and ln(usable / predicted), shape (n,)."""
    table = memory_residuals()
    margin = np.ravel(log_margin)
    if len(set(stacks)) == 1:
        name, checked = stacks[0]
        return table[name].exceeding(margin, 1.0 if checked else UNCHECKED_STRETCH)
    out = np.empty(len(stacks))
    for name, checked in set(stacks):
        rows = np.array([stack == (name, checked) for stack in stacks])
        out[rows] = table[name].exceeding(margin[rows], 1.0 if checked else UNCHECKED_STRETCH)
    return out

"""80 % intervals from the residuals of left-out groups, by regime (split conformal: Lei et al. 2018).

A residual is ``log(measured / predicted)``. For n residuals of a regime the bounds are their ``floor(0.1 (n + 1))``-th smallest and
largest, so that a new case of the same kind falls between them with at least 80 % probability. Regimes with few residuals borrow from the whole.
Where stack or accelerator was never fitted the residuals of whole sources left out are taken: wider, above all to the slow side (its tail is halved).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tierspan.specs.arrays import Array

FEW = 20
LEAST = 9
"""Residuals below which no 80 % interval can be told: of n the extremes cover (n - 1) / (n + 1)."""
COVERAGE = 0.8
ALL = "all"
NEW = "new stack or accelerator"
SLOW_TAIL = 0.05
"""Share of runs slower than the upper bound where stack or accelerator is new: what nobody measured is slow more often than fast."""
MEASURED = "one measured run"
NORMAL_80 = 1.2816
"""Half width of the central 80 % of a normal distribution, in standard deviations."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Factors on the predicted time: low <= measured / predicted <= high; ``rows`` residuals stand behind them."""

    low: float
    high: float
    rows: int


def bounds_of(residuals: Array, slow_tail: float = (1.0 - COVERAGE) / 2.0) -> Bounds:
    """Bounds from residuals ``log(measured / predicted)``; ``slow_tail`` is the share of runs that may be slower than the upper one."""
    n = residuals.size
    ordered = np.sort(residuals)

    def cut(tail: float) -> int:
        return max(int(np.floor(round(tail * (n + 1), 9))), 1)

    return Bounds(float(np.exp(ordered[cut((1.0 - COVERAGE) / 2.0) - 1])), float(np.exp(ordered[n - cut(slow_tail)])), n)


def interval_table(residuals: Array, regimes: Sequence[str], left_out_sources: Array | None = None) -> dict[str, Bounds]:
    """Bounds by regime, of ``all`` (nanotron apart: its runs stall by chance), and for what is new."""
    if residuals.size < LEAST:
        return {}
    names = np.array(regimes)
    usual = names != "nanotron"
    table = {ALL: bounds_of(residuals[usual] if usual.sum() >= LEAST else residuals)}
    for name in sorted(set(regimes)):
        own = residuals[names == name]
        if own.size >= FEW:
            table[name] = bounds_of(own)
    if left_out_sources is not None and left_out_sources.size >= LEAST:
        new = bounds_of(left_out_sources, SLOW_TAIL)
        everything = table[ALL]
        table[NEW] = Bounds(min(new.low, everything.low), max(new.high, everything.high), new.rows)
    return table


def widened(bounds: Bounds, deviation: float) -> Bounds:
    """The bounds with a further independent uncertainty of the predicted time, given as standard deviation of its logarithm."""
    more = NORMAL_80 * deviation
    low, high = np.log(bounds.low), np.log(bounds.high)
    return Bounds(float(np.exp(-np.hypot(min(low, 0.0), more))), float(np.exp(np.hypot(max(high, 0.0), more))), bounds.rows)


@dataclass(frozen=True, slots=True)
class Spread:
    """Standard deviations of the residuals (logarithms): of the medians of groups, and of runs about the median of their group."""

    between: float
    within: float

    def share(self, runs: int) -> float:
        """How much of a deviation that ``runs`` runs of a group show is the group's own and not chance (Bayes' shrinkage)."""
        own = self.between**2
        return own / (own + self.within**2 / max(runs, 1)) if own > 0.0 else 0.0


def spread_of(residuals: Array, groups: Sequence[str]) -> Spread:
    """Robust spreads (1.4826 times the median deviation) from groups of two rows and more."""
    names = np.array(groups)
    medians, about = [], []
    for name in sorted(set(groups)):
        own = residuals[names == name]
        medians.append(float(np.median(own)))
        if own.size > 1:
            about += list(own - np.median(own))
    scale = 1.4826
    return Spread(scale * float(np.median(np.abs(medians))), scale * float(np.median(np.abs(about))) if about else 0.0)


def after_one_run(residuals: Array, groups: Sequence[str], spread: Spread) -> Bounds | None:
    """Bounds for a run of a group of which one other run was measured and its deviation, shrunk, taken over; none with few such pairs.

    Each row is held against the next of its group (the last against the first).
    """
    names = np.array(groups)
    share, left = spread.share(1), []
    for name in sorted(set(groups)):
        own = residuals[names == name]
        if own.size > 1:
            left += list(own - share * np.roll(own, 1))
    return bounds_of(np.array(left)) if len(left) >= LEAST else None


def lookup(table: Mapping[str, Bounds], regime: str, known: bool) -> tuple[Bounds | None, str]:
    """The bounds for a case and the name of the row they come from; none where nothing was measured."""
    own = table.get(regime) or table.get(ALL)
    if own is None:
        return None, ""
    if not known and NEW in table:
        # what nobody measured is never better known than what somebody did
        new = table[NEW]
        return Bounds(min(own.low, new.low), max(own.high, new.high), new.rows), NEW
    return own, regime if regime in table else ALL


def table_to_json(table: Mapping[str, Bounds]) -> dict[str, list[float]]:
    """Plain form for the record of a profile."""
    return {name: [round(b.low, 4), round(b.high, 4), b.rows] for name, b in table.items()}


def table_from_json(raw: Mapping[str, Sequence[float]]) -> dict[str, Bounds]:
    """Read what ``table_to_json`` wrote."""
    return {name: Bounds(float(v[0]), float(v[1]), int(v[2])) for name, v in raw.items()}

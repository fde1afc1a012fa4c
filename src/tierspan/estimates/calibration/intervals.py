"""80 % intervals from the residuals of left-out groups, by regime (split conformal: Lei et al. 2018).

A residual is ``log(measured / predicted)``. For n residuals of a regime the bounds are their ``floor(0.1 (n + 1))``-th smallest and
largest, so that a new case of the same kind falls between them with at least 80 % probability. Regimes with few residuals borrow from the whole.
Where stack or accelerator was never fitted the residuals of whole sources left out are taken: wider, above all to the slow side.
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


@dataclass(frozen=True, slots=True)
class Bounds:
    """Factors on the predicted time: low <= measured / predicted <= high; ``rows`` residuals stand behind them."""

    low: float
    high: float
    rows: int


def bounds_of(residuals: Array) -> Bounds:
    """Bounds from residuals ``log(measured / predicted)``."""
    n = residuals.size
    ordered = np.sort(residuals)
    cut = max(int(np.floor(round((1.0 - COVERAGE) / 2.0 * (n + 1), 9))), 1)
    return Bounds(float(np.exp(ordered[cut - 1])), float(np.exp(ordered[n - cut])), n)


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
        new = bounds_of(left_out_sources)
        everything = table[ALL]
        table[NEW] = Bounds(min(new.low, everything.low), max(new.high, everything.high), new.rows)
    return table


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

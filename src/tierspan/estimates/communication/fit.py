"""Fit of the constants: log-normal priors, robust loss, damped Gauss-Newton on the log of the time.

``sum_i w_i log(1 + (r_i / s)^2) + sum_p ((log c_p - log prior_p) / sigma_p)^2`` with ``r = log(predicted / measured)`` and ``w_i`` the inverse square
root of the rows of a page, so that a page counts with the square root of its rows. Constants stay inside their bounds (``priors.csv``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from tierspan.estimates.communication.constants import key_for, priors
from tierspan.estimates.communication.estimate import Batch, evaluate
from tierspan.laws.communication.base import Array
from tierspan.laws.communication.protocols import Constants

SCALE = 0.1
STEP = 0.02
ITERATIONS = 8
CHORD_STEPS = 12
LEAST_GAIN = 1e-4
"""Relative fall of the objective below which the fit ends."""
LEAST_MOVE = 0.005
"""Change of the log of a constant below which it stands at its prior."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Position of each constant of each row in the parameter vector (-1: taken from the batch), with priors in logs."""

    names: tuple[tuple[str, str], ...]
    index: Mapping[str, NDArray[np.int64]]
    start: Array
    sigma: Array
    low: Array
    high: Array


@dataclass(frozen=True, slots=True)
class Part:
    """The cases that take a parameter."""

    cases: NDArray[np.int64]
    batch: Batch


@dataclass(frozen=True, slots=True)
class Data:
    """Measured rows of n: times in s, weights, operations of one measured time; ``case_of`` the case of each in ``batch`` (equal ones stand once)."""

    batch: Batch
    layout: Layout
    case_of: NDArray[np.int64]
    measured_s: Array
    weights: Array
    messages: Array
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Fit:
    """The parameter vector (logs) and the residuals of all rows at it."""

    theta: Array
    residual: Array
    iterations: int


def layout_of(batch: Batch) -> Layout:
    """One parameter per (constant, key) that a row takes."""
    position: dict[tuple[str, str], int] = {}
    index: dict[str, NDArray[np.int64]] = {}
    for f in fields(Constants):
        column = np.full(len(batch.keys), -1, dtype=np.int64)
        for i, keys in enumerate(batch.keys):
            key = key_for(f.name, keys)
            if key:
                column[i] = position.setdefault((f.name, key), len(position))
        index[f.name] = column
    told = [priors()[name][key] for name, key in position]
    table = np.array([(np.log(p.value), p.sigma, np.log(p.low), np.log(p.high)) for p in told], dtype=np.float64).reshape(-1, 4)
    start, sigma, low, high = table.T
    return Layout(tuple(position), index, start, sigma, low, high)


def constants_at(theta: Array, base: Constants, layout: Layout) -> Constants:
    """Constants of every row at a parameter vector."""
    values = np.exp(theta)
    return Constants(**{name: np.where(column >= 0, values[column], getattr(base, name)) for name, column in layout.index.items()})


def fit(data: Data, *, weights: Array | None = None, slope: Array | None = None, iterations: int = ITERATIONS) -> Fit:
    """Fit the constants, from the priors.

    Args:
        data: measured cases.
        weights: of each row instead of the data's own; 0 leaves a row out.
        slope: derivatives (rows, parameters) near the minimum, to be used in place of new ones until the last step. They say how each law moves,
            row by row, and nothing of what was measured; a fold spends a tenth of the time with those of the fit of all rows.
        iterations: steps at most.
    """
    walk = _Walk(data, data.weights if weights is None else weights)
    if not (walk.weights > 0).any():
        return Fit(walk.theta, walk.residual, 0)
    if slope is not None:
        for _ in range(CHORD_STEPS):
            if not walk.step(slope):
                break
        iterations = 1
    for _ in range(iterations):
        if not walk.step(derivatives(data, walk.theta)):
            break
    return Fit(walk.theta, walk.residual, walk.steps)


class _Walk:
    """The way from the priors to the minimum."""

    def __init__(self, data: Data, weights: Array) -> None:
        self.data, self.weights = data, weights
        self.theta = data.layout.start.copy()
        self.residual = residuals(data, self.theta)
        self.cost = self._objective(self.theta, self.residual)
        self.damping, self.steps = 1e-3, 0

    def _objective(self, at: Array, r: Array) -> float:
        layout = self.data.layout
        return float((self.weights * np.log1p((r / SCALE) ** 2)).sum() + (((at - layout.start) / layout.sigma) ** 2).sum())

    def step(self, jacobian: Array) -> bool:
        """One damped step; whether it was worth another one."""
        self.steps += 1
        layout, r = self.data.layout, self.residual
        w = self.weights / SCALE**2 / (1.0 + (r / SCALE) ** 2)
        prior = 1.0 / layout.sigma**2
        own = np.flatnonzero((np.abs(jacobian) * (self.weights > 0)[:, None]).max(axis=0) > 0)  # what no row feels goes to its prior
        felt = jacobian[:, own]
        hessian = felt.T @ (felt * w[:, None]) + np.diag(prior[own])
        gradient = felt.T @ (w * r) + prior[own] * (self.theta - layout.start)[own]
        for _ in range(6):
            move = layout.start - self.theta
            move[own] = np.linalg.solve(hessian + self.damping * np.diag(np.diag(hessian)), -gradient)
            trial = np.clip(self.theta + np.clip(move, -0.5, 0.5), layout.low, layout.high)
            r_trial = residuals(self.data, trial)
            cost = self._objective(trial, r_trial)
            if cost < self.cost:
                improved = self.cost - cost > LEAST_GAIN * self.cost
                self.theta, self.residual, self.cost, self.damping = trial, r_trial, cost, self.damping * 0.3
                return improved
            self.damping *= 5.0
        return False


def residuals(data: Data, theta: Array) -> Array:
    """log(predicted / measured) of every row at a parameter vector."""
    raw = evaluate(data.batch, constants_at(theta, data.batch.constants, data.layout))
    found: Array = np.log(raw.time_s[data.case_of] * data.messages / data.measured_s)
    return found


def derivatives(data: Data, theta: Array) -> Array:
    """Derivatives of the residuals by each parameter, forward differences on the cases that take it."""
    constants = constants_at(theta, data.batch.constants, data.layout)
    at = np.log(evaluate(data.batch, constants).time_s)
    out = np.zeros((at.size, theta.size))
    for (name, _), position, part in zip(data.layout.names, range(theta.size), data.parts, strict=True):
        own = constants.take(part.cases)
        nudged = replace(own, **{name: getattr(own, name) * np.exp(STEP)})
        out[part.cases, position] = (np.log(evaluate(part.batch, nudged).time_s) - at[part.cases]) / STEP
    return out[data.case_of]


def parts_of(batch: Batch, layout: Layout) -> tuple[Part, ...]:
    """For each parameter the cases that take it."""
    found = []
    for position, (name, _) in enumerate(layout.names):
        rows = np.flatnonzero(layout.index[name] == position)
        found.append(Part(rows, batch.take(rows)))
    return tuple(found)


def values_of(data: Data, found: Fit) -> dict[str, dict[str, float]]:
    """``values[constant][key]`` of a fit; constants that the rows leave at their priors are not told."""
    values: dict[str, dict[str, float]] = {}
    moved = np.abs(found.theta - data.layout.start) > LEAST_MOVE
    for (name, key), value, told in zip(data.layout.names, np.exp(found.theta), moved, strict=True):
        if told:
            values.setdefault(name, {})[key] = float(f"{value:.6g}")
    return values

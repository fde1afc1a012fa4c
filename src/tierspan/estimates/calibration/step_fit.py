"""Fit of the step-time constants: log-normal priors, robust loss, Gauss-Newton with damping.

The residual of a row is ``log(predicted / measured)``. The objective is

``sum_i w_i rho(r_i / s) + sum_p ((log c_p - log prior_p) / sigma_p)^2``

with Cauchy's ``rho(x) = log(1 + x^2)``, so that a stalled run cannot bend a law, and weights ``w_i`` that let a source count
with the square root of its rows and a group with that of its own (``dataset``). Constants stay inside their physical bounds (``constants.csv``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tierspan.estimates.cases import Case, arrays_of
from tierspan.estimates.step import Cases, estimate_step
from tierspan.specs.arrays import Array
from tierspan.specs.profile.constants import Constants
from tierspan.specs.profile.profile import Keys, Profile, lookup_keys, prior_value, priors

SCALE = 0.08
"""Residual (log) at which a row counts half: between the repeatability of good sources (1-3 %) and the spread of releases (5-9 %)."""
STEP = 0.02
ITERATIONS = 18
FRESH = 4
"""Iterations that look at every slope anew."""
LEAST_GAIN = 5e-4
"""Share of the objective that an iteration must gain for another to follow."""
LEAST_EFFECT = 1e-3
"""Change of log time by change of log constant below which a constant is not fitted: the rows cannot tell."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Which position of the parameter vector each constant of each row takes (-1: fixed)."""

    names: tuple[tuple[str, str], ...]
    index: dict[str, np.ndarray]
    start: Array
    sigma: Array
    low: Array
    high: Array


@dataclass(frozen=True, slots=True)
class Fit:
    """Fitted constants: ``values[name][key]``, their standard errors (of the logarithm, prior included), and the residuals of the rows."""

    values: dict[str, dict[str, float]]
    errors: dict[str, dict[str, float]]
    residual: Array
    iterations: int


def layout_of(keys: Sequence[Keys]) -> Layout:
    """Lay out one parameter per (constant, key) that occurs and is to be fitted."""
    names: list[tuple[str, str]] = []
    start: list[float] = []
    sigma: list[float] = []
    bounds: list[tuple[float, float]] = []
    position: dict[tuple[str, str], int] = {}
    index: dict[str, np.ndarray] = {}
    for name, prior in priors().items():
        column = np.full(len(keys), -1)
        for i, k in enumerate(keys):
            if not prior.fitted_for(k.stack.id):
                continue
            key = lookup_keys(name, k)[0]
            if (name, key) not in position:
                position[name, key] = len(names)
                names.append((name, key))
                start.append(np.log(prior_value(name, k)))
                sigma.append(prior.sigma)
                bounds.append((np.log(max(prior.low, 1e-6)), np.log(prior.high)))
            column[i] = position[name, key]
        index[name] = column
    wide = np.full(len(keys), -1)
    for i, k in enumerate(keys):
        wide[i] = position.get(("gemm_efficiency", lookup_keys("gemm_efficiency", replace(k, precision="bf16"))[0]), -1)
    index["gemm_efficiency_wide"] = wide
    low, high = (np.array(b) for b in zip(*bounds, strict=True))
    return Layout(tuple(names), index, np.array(start), np.array(sigma), low, high)


def constants_at(theta: Array, base: Constants, layout: Layout) -> Constants:
    """Constants of every row at a parameter vector (logs); fixed ones from ``base``."""
    values = np.exp(theta)
    out = {}
    for name in Constants.__dataclass_fields__:
        column = layout.index[name]
        out[name] = np.where(column >= 0, values[column], getattr(base, name))
    return Constants(**out)


def fit_step(cases: Sequence[Case], measured_s: Array, weights: Array, *, iterations: int = ITERATIONS) -> Fit:
    """Fit all constants to measured step times.

    Args:
        cases: n jobs.
        measured_s: measured step times in s, shape (n,).
        weights: weight of each row, shape (n,).
        iterations: Gauss-Newton steps at most.
    """
    keys = [c.keys for c in cases]
    empty = Profile("priors", {})
    base = empty.gather(keys)
    layout = layout_of(keys)
    arrays = arrays_of(cases, base)
    return fit_arrays(arrays, layout, measured_s, weights, iterations=iterations)


def fit_arrays(arrays: Cases, layout: Layout, measured_s: Array, weights: Array, *, iterations: int = ITERATIONS) -> Fit:
    """As ``fit_step``, on arrays already stacked (cross-validation stacks once and takes rows)."""
    start = layout.start
    theta = start.copy()
    problem = _Problem(arrays, layout, measured_s)
    felt: np.ndarray = np.ones(theta.size, dtype=bool)

    def objective(t: Array, r: Array) -> float:
        return float((weights * np.log1p((r / SCALE) ** 2)).sum() + (((t - start) / layout.sigma) ** 2).sum())

    r = problem.residual(theta)
    cost, damping, done = objective(theta, r), 1e-3, 0
    prior = 1.0 / layout.sigma**2
    hessian = np.diag(prior)
    jacobian = np.zeros((r.size, theta.size))
    for done in range(1, iterations + 1):
        # the slopes hardly change once the fit is near: every second step is taken with those at hand
        if done <= FRESH or done % 2 == 0:
            jacobian = problem.jacobian(theta, r, felt)
        if done == 1:
            # a constant that no row feels (host time of a stack that is never host-bound) stays at its prior and is looked at once
            felt = np.asarray((np.abs(jacobian) > LEAST_EFFECT).any(axis=0))
        w = weights / SCALE**2 / (1.0 + (r / SCALE) ** 2)
        hessian = jacobian.T @ (jacobian * w[:, None]) + np.diag(prior)
        gradient = jacobian.T @ (w * r) + prior * (theta - start)
        improved = False
        for _ in range(6):
            step = np.linalg.solve(hessian + damping * np.diag(np.diag(hessian)), -gradient)
            trial = np.clip(theta + np.clip(step, -0.7, 0.7), layout.low, layout.high)
            r_trial = problem.residual(trial)
            trial_cost = objective(trial, r_trial)
            if trial_cost < cost:
                improved = cost - trial_cost > LEAST_GAIN * cost
                theta, r, cost, damping = trial, r_trial, trial_cost, damping * 0.3
                break
            damping *= 5.0
        if not improved:
            break
    error = np.sqrt(np.diag(np.linalg.inv(hessian)))
    values: dict[str, dict[str, float]] = {}
    errors: dict[str, dict[str, float]] = {}
    for (name, key), value, deviation, moved in zip(layout.names, np.exp(theta), error, felt, strict=True):
        if moved:
            values.setdefault(name, {})[key] = float(f"{value:.6g}")
            errors.setdefault(name, {})[key] = float(f"{deviation:.2g}")
    return Fit(values, errors, r, done)


@dataclass(frozen=True, slots=True)
class _Problem:
    """Residuals ``log(predicted / measured)`` of the rows as a function of the parameter vector."""

    arrays: Cases
    layout: Layout
    measured_s: Array

    def residual(self, theta: Array) -> Array:
        cases = replace(self.arrays, constants=constants_at(theta, self.arrays.constants, self.layout))
        return np.log(estimate_step(cases).step_time_s / self.measured_s)

    def jacobian(self, theta: Array, r: Array, wanted: np.ndarray) -> Array:
        """Change of each residual with each wanted parameter.

        Every row has one key of a constant: all keys of a constant are nudged together, and each row tells of its own.
        """
        out = np.zeros((r.size, theta.size))
        here = constants_at(theta, self.arrays.constants, self.layout)
        for name, column in self.layout.index.items():
            rows = np.flatnonzero((column >= 0) & wanted[column])
            if not rows.size:
                continue
            nudged = replace(here, **{name: getattr(here, name) * np.exp(STEP)})
            cases = take(replace(self.arrays, constants=nudged), rows)
            slope = (np.log(estimate_step(cases).step_time_s / self.measured_s[rows]) - r[rows]) / STEP
            # a row can feel a parameter twice: through the rate of its own precision and through the wide one
            np.add.at(out, (rows, column[rows]), slope)
        return out


def take(cases: Cases, rows: np.ndarray) -> Cases:
    """The cases at ``rows``."""
    return Cases(cases.models.take(rows), cases.clusters.take(rows), cases.strategies.take(rows), cases.stacks.take(rows), cases.constants.take(rows))

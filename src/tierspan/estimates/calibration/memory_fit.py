"""Fit of the few constants of the memory law, per software stack, on rows that fit and rows that died."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import date
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tierspan.estimates.calibration.memory_rows import MemoryRows
from tierspan.estimates.memory_risk import Residuals
from tierspan.laws.memory import MemoryConstants, MemoryTerms, memory_priors
from tierspan.laws.memory.terms import heaviest, terms_by_stage

Array = NDArray[np.float64]
Constants = Mapping[str, float]

NANOTRON = ("nanotron-single", "nanotron-staged", "nanotron-fixed")
STRUCTURE: Mapping[str, Constants] = {
    # How layers are placed and what is kept is read off the rows at tp = 1 (placing) and large tp (kept inputs), then held fixed.
    "nanotron-single": {"stage_rule": 2.0, "gather_free": 0.0},
    "nanotron-staged": {"stage_rule": 2.0, "gathered_bytes": 0.0, "gathered_flat_bytes": 0.0},
    "nanotron-fixed": {"stage_rule": 3.0, "gather_free": 2.0},
}
FREE: Mapping[str, tuple[float, float]] = {
    # Name: lower and upper bound that physics allows (constants: laws/memory/constants.py).
    "bucket_bytes": (0.0, 4.0),
    "step_bytes": (0.0, 6.0),
    "norm_bytes": (4.0, 24.0),
    "mlp_extra": (0.0, 2.0),
    "gathered_bytes": (0.0, 4.0),
    "gathered_flat_bytes": (0.0, 12000.0),
    "ahead_bytes": (5e6, 5e7),
    "logit_bytes": (8.0, 32.0),
    "transient_bytes": (0.0, 24.0),
    "fragmentation": (0.0, 0.3),
    "reserve_bytes": (0.0, 2e9),
    "outside_bytes": (0.0, 1.2e10),
}
HUBER = 0.1
HINGE_WEIGHT = 1.5
MARGIN = 0.03


@dataclass(frozen=True, slots=True)
class MemoryErrors:
    """Errors as ``validation/definitions.md`` defines them, fractions; None where there is no such row."""

    rows: int
    accuracy: float | None
    oom_recall: float | None
    fits_recall: float | None
    peak_rows: int
    peak_median_ape: float | None
    peak_p90_ape: float | None
    peak_bias: float | None


def constants_of(rows: MemoryRows, fitted: Mapping[str, Constants] | Mapping[str, MemoryConstants]) -> MemoryConstants:
    """Constants row by row: the prior, then what ``fitted`` holds for the row's stack (KeyError for an unknown stack)."""
    prior = memory_priors()
    stacks, index = np.unique(np.array(rows.stacks), return_inverse=True)
    table = MemoryConstants.stack([c if isinstance(c := fitted[str(stack)], MemoryConstants) else prior.with_values(c) for stack in stacks])
    return MemoryConstants(**{f.name: getattr(table, f.name)[index] for f in fields(MemoryConstants)})


def predict_rows(
    rows: MemoryRows, fitted: Mapping[str, Constants] | Mapping[str, MemoryConstants], offered_bytes: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """(peak in bytes: reserved, or allocated where that was measured; dies) of each row."""
    constants = constants_of(rows, fitted)
    told, worst = _told_and_worst(rows, constants)
    allocated_only = ~np.isnan(rows.peak_bytes) & ~rows.reserved
    peak = np.where(allocated_only, told.allocated, told.reserved)
    return peak, worst.reserved > offered_bytes - constants.outside_bytes


def _told_and_worst(rows: MemoryRows, constants: MemoryConstants) -> tuple[MemoryTerms, MemoryTerms]:
    """Terms of the rank whose peak the row tells, and of the heaviest one, which decides whether the run dies."""
    by_stage = terms_by_stage(rows.models, rows.strategies, constants)
    worst = heaviest(by_stage)
    return worst.where(rows.first_stage, by_stage[0]), worst


def errors_of(rows: MemoryRows, peak: Array, dies: NDArray[np.bool_]) -> MemoryErrors:
    """Compare a prediction with what was measured."""
    right = dies == rows.died
    known = ~np.isnan(rows.peak_bytes) & ~rows.died
    e = peak[known] / rows.peak_bytes[known] - 1.0

    def share(mask: NDArray[np.bool_]) -> float | None:
        return float(np.mean(right[mask])) if mask.any() else None

    def of(function: Callable[[Array], Any], values: Array) -> float | None:
        return float(function(values)) if values.size else None

    return MemoryErrors(
        rows=len(right),
        accuracy=share(np.ones_like(right)),
        oom_recall=share(rows.died),
        fits_recall=share(~rows.died),
        peak_rows=int(known.sum()),
        peak_median_ape=of(np.median, np.abs(e)),
        peak_p90_ape=of(lambda v: np.quantile(v, 0.9), np.abs(e)),
        peak_bias=of(np.median, e),
    )


def fit_memory(rows: MemoryRows, offered_bytes: Array, rounds: int = 12) -> dict[str, dict[str, float]]:
    """Fit the constants in ``FREE`` that the nanotron stacks share; other stacks keep the prior.

    Loss: pseudo-Huber of ln(predicted / measured peak) over rows that fit, one model as heavy as another, plus a hinge on
    ln(predicted / offered) over all rows (dies: positive, fits: negative). Pattern search inside the physical bounds, from the middle of
    them; no random numbers.

    Args:
        rows: rows of one measurement file.
        offered_bytes: what each row's accelerator offers, shape (n,).
        rounds: how often the step is halved.

    """
    own = np.isin(rows.stacks, NANOTRON)
    used = rows.take(own)
    offered = offered_bytes[own]
    weights = _equal_by(used.names)
    names = tuple(FREE)
    low = np.array([FREE[n][0] for n in names])
    high = np.array([FREE[n][1] for n in names])

    def loss(x: Array) -> float:
        return _loss(used, expand(dict(zip(names, (low + x * (high - low)).tolist(), strict=True))), offered, weights)

    x = _pattern_search(loss, np.full(len(names), 0.5), rounds)
    return expand(dict(zip(names, (low + x * (high - low)).tolist(), strict=True)))


def expand(free: Constants) -> dict[str, dict[str, float]]:
    """Constants of each stack from the shared fitted ones."""
    out: dict[str, dict[str, float]] = {stack: {**free, **STRUCTURE[stack]} for stack in NANOTRON}
    # With pipeline stages torchtitan keeps a stage's gathered weights from forward to backward, every layer of it whole, and adds up
    # whole gradients until the last micro-batch (FSDP2 without gradient synchronisation).
    return {**out, "megatron-core": {}, "torchtitan": {}, "torchtitan-staged": {"gathered_layers": 1e9, "whole_gradients": 1.0}}


def leave_one_model_predictions(rows: MemoryRows, offered_bytes: Array) -> tuple[Array, NDArray[np.bool_]]:
    """(peak in bytes, dies) of each row: nanotron rows from constants fitted on the other models, the rest from the priors (nothing was fitted)."""
    peak, dies = predict_rows(rows, expand({}), offered_bytes)
    own = np.isin(rows.stacks, NANOTRON)
    names = np.array(rows.names)
    for name in sorted(set(names[own])):
        test = own & (names == name)
        fitted = fit_memory(rows.take(~test), offered_bytes[~test])
        peak[test], dies[test] = predict_rows(rows.take(test), fitted, offered_bytes[test])
    return peak, dies


def leave_one_model_out(rows: MemoryRows, offered_bytes: Array) -> dict[str, MemoryErrors]:
    """Errors on each nanotron model from constants fitted on the others; ``all`` pools them."""
    peak, dies = leave_one_model_predictions(rows, offered_bytes)
    own = np.isin(rows.stacks, NANOTRON)
    names = np.array(rows.names)
    out = {
        str(name): errors_of(rows.take(own & (names == name)), peak[own & (names == name)], dies[own & (names == name)])
        for name in sorted(set(names[own]))
    }
    out["all"] = errors_of(rows.take(own), peak[own], dies[own])
    return out


def memory_record(rows: MemoryRows, offered_bytes: Array, source: bytes) -> dict[str, Any]:
    """Fit and describe it: constants per stack, errors, residuals of left-out models, rows, date and a hash of the data; ready for a data file."""
    fitted = fit_memory(rows, offered_bytes)
    peak, dies = predict_rows(rows, fitted, offered_bytes)
    stacks = np.array(rows.stacks)
    left_out, _ = leave_one_model_predictions(rows, offered_bytes)
    known = ~np.isnan(rows.peak_bytes) & ~rows.died
    residuals = {
        stack: asdict(Residuals.of(np.log(rows.peak_bytes[of] / left_out[of])))
        for stack in sorted(set(stacks))
        if (of := known & (stacks == stack)).any()
    }
    errors = {stack: asdict(errors_of(rows.take(stacks == stack), peak[stacks == stack], dies[stacks == stack])) for stack in sorted(set(stacks))}
    return {
        "constants": fitted,
        "free": sorted(FREE),
        "rows": {"used": len(rows.names), "unread": len(rows.unread)},
        "errors": errors,
        "residuals": residuals,
        "date": date.today().isoformat(),
        "data_sha256": hashlib.sha256(source).hexdigest(),
        "law_sha256": law_hash(),
    }


def law_hash() -> str:
    """SHA-256 over the files that make the memory law and its priors: a fit with another one is stale."""
    laws = resources.files("tierspan.laws")
    folder = laws.joinpath("memory")
    names = sorted(f.name for f in folder.iterdir() if f.name.endswith(".py"))
    files = [laws.joinpath("counts.py"), laws.joinpath("schedules.py"), folder.joinpath("priors.json"), *(folder.joinpath(n) for n in names)]
    total = hashlib.sha256()
    for file in files:
        total.update(file.read_bytes())
    return total.hexdigest()


def _equal_by(names: Sequence[str]) -> Array:
    """Weights that give each group the square root of its rows, mean 1."""
    values, inverse, count = np.unique(np.array(names), return_inverse=True, return_counts=True)
    weight = (1.0 / np.sqrt(count))[inverse]
    return np.asarray(weight / weight.mean() if len(values) else weight)


def _loss(rows: MemoryRows, fitted: Mapping[str, Constants], offered: Array, weights: Array) -> float:
    constants = constants_of(rows, fitted)
    told, worst = _told_and_worst(rows, constants)
    known = ~np.isnan(rows.peak_bytes) & ~rows.died
    e = np.log(told.reserved[known] / rows.peak_bytes[known]) / HUBER
    peaks = np.average(np.sqrt(1.0 + e * e) - 1.0, weights=weights[known])
    over = np.log(worst.reserved / np.maximum(offered - constants.outside_bytes, 1.0))
    hinge = np.clip(MARGIN + np.where(rows.died, -over, over), 0.0, 0.5) / HUBER
    return float(peaks + HINGE_WEIGHT * np.average(hinge, weights=weights))


def _pattern_search(loss: Callable[[Array], float], start: Array, rounds: int) -> Array:
    """Coordinate search in the unit cube: a step that helps is repeated, a round without gain halves the steps."""
    best, value, step = start, loss(start), 0.25
    for _ in range(rounds):
        for _sweep in range(8):
            before = value
            for i in range(best.size):
                for sign in (1.0, -1.0):
                    trial = best.copy()
                    trial[i] = np.clip(trial[i] + sign * step, 0.0, 1.0)
                    got = loss(trial)
                    if got < value:
                        best, value = trial, got
                        break
            if before - value < 1e-6:
                break
        step /= 2.0
    return best

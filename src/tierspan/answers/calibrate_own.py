"""``tierspan calibrate --adapt``: the shipped constants moved to runs that the user measured; one run narrows the interval."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, Final

import numpy as np

from tierspan.answers.results import SCHEMA_VERSION
from tierspan.estimates.bounds import own_key
from tierspan.estimates.calibration.dataset import TrainingData, training_data
from tierspan.estimates.calibration.intervals import MEASURED, Spread, table_from_json
from tierspan.estimates.cases import arrays_of
from tierspan.estimates.step import Cases, estimate_step
from tierspan.formats.measurements import read_measurements
from tierspan.quantities.errors import InputError, Place
from tierspan.specs.arrays import Array
from tierspan.specs.profile.load import save_profile
from tierspan.specs.profile.profile import Profile, priors, shipped_profile

CONSTANT: Final = "stack_factor"
HALVINGS: Final = 40


@dataclass(frozen=True, slots=True)
class OwnRuns:
    """Runs of one software stack.

    ``measured_over_predicted`` is their median with the shipped constants, ``taken_over`` the part of it (a ratio too) that is taken for the
    stack's own and not for chance, ``factor`` the stack's constant before and after.
    """

    stack: str
    accelerators: tuple[str, ...]
    runs: int
    measured_over_predicted: float
    taken_over: float
    factor_before: float
    factor_after: float


@dataclass(frozen=True, slots=True)
class Adaptation:
    """Answer of ``calibrate --adapt``: the profile, what moved, and the interval that holds for such runs from now on."""

    profile: Profile
    stacks: tuple[OwnRuns, ...]
    low: float
    high: float
    skipped: int
    schema_version: str = SCHEMA_VERSION


def adapt(path: str | Path, base: Profile | None = None) -> Adaptation:
    """Move the constants of ``base`` (default: the shipped ones) to measured runs.

    The runs of each stack move its factor so that the median of predicted over measured comes nearer to 1 by the share that empirical Bayes
    gives: ``b^2 / (b^2 + w^2 / n)`` with b the spread between groups and w that within one (record ``spread`` of the fit), n runs.

    Raises:
        InputError: the file is not one of training runs, no run can be predicted, or the profile has no record of spreads.
    """
    file = read_measurements(path)
    if file.kind != "training":
        raise InputError("calibrate.adapt_kind", place=Place(str(path)), kind=file.kind)
    profile = base or shipped_profile()
    spreads = profile.record.get("spread")
    table = table_from_json(profile.record.get("intervals", {}))
    if not spreads or MEASURED not in table:
        raise InputError("calibrate.adapt_base", place=Place(str(path)))
    data = training_data(file.training)
    usable = data.scored
    if not usable.any():
        raise InputError("calibrate.no_rows", place=Place(str(path)), rows=len(file.rows))
    spread = Spread(spreads["between groups"], spreads["within a group"])
    values = {name: dict(keys) for name, keys in profile.values.items()}
    own: dict[str, int] = dict(profile.record.get("own", {}))
    told = []
    for stack in sorted({c.stack.id for c, ok in zip(data.cases, usable, strict=True) if ok}):
        rows = np.array([i for i, c in enumerate(data.cases) if usable[i] and c.stack.id == stack])
        told.append(_move(data, rows, stack, profile, values, spread))
        for i in rows:
            own[own_key(data.cases[i])] = own.get(own_key(data.cases[i]), 0) + 1
    record: dict[str, Any] = {
        **profile.record,
        "own": own,
        "adapted": {"to": Path(path).name, "from": profile.version, "date": date.today().isoformat()},
    }
    bounds = table[MEASURED]
    adapted = Profile(f"{profile.version}+{Path(path).stem}", values, record)
    return Adaptation(adapted, tuple(told), bounds.low, bounds.high, len(file.training) - int(usable.sum()))


def write_adaptation(found: Adaptation, out: str | Path) -> Path:
    """Write the profile."""
    return save_profile(found.profile, out)


def _move(data: TrainingData, rows: np.ndarray, stack: str, profile: Profile, values: dict[str, dict[str, float]], spread: Spread) -> OwnRuns:
    cases = [data.cases[i] for i in rows]
    measured = data.measured_s[rows]
    arrays = arrays_of(cases, profile)
    ratio = float(np.median(np.log(measured / _step(arrays, 1.0))))
    wanted = spread.share(rows.size) * ratio
    before = profile.value(CONSTANT, cases[0].keys)
    low, high = np.log(priors()[CONSTANT].low / before), np.log(priors()[CONSTANT].high / before)
    plain = _step(arrays, 1.0)
    # the step time grows with the factor, though not in proportion (traffic does not scale): bisection
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        if np.median(np.log(_step(arrays, float(np.exp(middle))) / plain)) < wanted:
            low = middle
        else:
            high = middle
    after = before * float(np.exp((low + high) / 2.0))
    values.setdefault(CONSTANT, {})[stack] = float(f"{after:.6g}")
    reached = float(np.median(_step(arrays, after / before) / plain))
    names = tuple(sorted({c.cluster.accelerator.id for c in cases}))
    return OwnRuns(stack, names, int(rows.size), float(np.exp(ratio)), reached, before, after)


def _step(arrays: Cases, scale: float) -> Array:
    constants = replace(arrays.constants, stack_factor=arrays.constants.stack_factor * scale)
    return estimate_step(replace(arrays, constants=constants)).step_time_s

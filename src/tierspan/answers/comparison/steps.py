"""Measured step times of a training log: median, spread, steps that stand out."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Final

from tierspan.answers.comparison.results import StepTimes
from tierspan.formats.training_log import read_step_times

_OUTLIER: Final = 1.5


def step_times(path: str | Path) -> StepTimes | None:
    """The step times of a training log; ``None`` where the file is none.

    Raises:
        InputError: the file cannot be read.
    """
    found = read_step_times(path)
    if not found:
        return None
    times = sorted(seconds for _, seconds in found)
    middle, last = median(times), len(times) - 1
    return StepTimes(
        file=str(path),
        steps=len(times),
        median_s=middle,
        low_s=times[round(0.1 * last)],
        high_s=times[round(0.9 * last)],
        outliers=tuple(step for step, seconds in found if seconds > _OUTLIER * middle),
    )

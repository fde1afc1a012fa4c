"""What the laws expect of a run, as arrays over its sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tierspan.answers.comparison.setting import Setting

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Expectation:
    """Times in s with their 80 % interval, over the sizes asked for; NaN where the laws have no answer.

    ``factor`` is busbw over algbw (1 where the operation has no busbw: ``unit`` is then ``algbw``). ``line_Bps`` is the rate of the
    deciding tier per accelerator and direction, ``effective_Bps`` the rate (in ``unit``) that very large messages would reach.
    ``reason`` is a message id where there is no expectation at all.
    """

    size_bytes: Array
    time_s: Array
    low_s: Array
    high_s: Array
    factor: float = 1.0
    unit: Literal["busbw", "algbw"] = "busbw"
    algorithm: tuple[str, ...] = ()
    protocol: tuple[str, ...] = ()
    line_Bps: float | None = None
    effective_Bps: float | None = None
    reason: str = ""
    profile_version: str = ""

    @property
    def rate_Bps(self) -> Array:
        """Expected rate in ``unit``."""
        return np.asarray(self.size_bytes * self.factor / self.time_s)

    @property
    def low_Bps(self) -> Array:
        """Low edge of the band of the rate."""
        return np.asarray(self.size_bytes * self.factor / self.high_s)

    @property
    def high_Bps(self) -> Array:
        """High edge of the band of the rate."""
        return np.asarray(self.size_bytes * self.factor / self.low_s)


def nothing(sizes: Sequence[float], reason: str) -> Expectation:
    """No expectation, and why."""
    empty = np.full(len(sizes), np.nan)
    return Expectation(np.asarray(sizes, dtype=float), empty, empty, empty, reason=reason)


Expect = Callable[[Setting, Sequence[float]], Expectation]
"""A setting and the sizes in bytes (as the tool means them) to the expectation."""

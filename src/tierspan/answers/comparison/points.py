"""What point-to-point tools print, as samples: pair matrices, and rates that add both directions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median
from typing import Final

from tierspan.specs.benchmark import CollectiveLog, CollectiveSample, PairMatrix

NOMINAL_BYTES: Final = 256 * 1024.0**2
"""The size taken for a copy between devices where the tool does not print it: large enough that only the rate counts."""
_ODD: Final = 0.85


@dataclass(frozen=True, slots=True)
class OddPair:
    """A pair well below the median of its matrix."""

    row: str
    column: str
    rate_Bps: float
    median_Bps: float
    count: int


def samples_of(log: CollectiveLog) -> tuple[CollectiveSample, ...]:
    """The samples of a log with rates of one direction, and one sample (the median pair) for each matrix between devices."""
    own = log.samples
    if log.directions != 1:
        own = tuple(replace(s, algbw_Bps=_divided(s.algbw_Bps, log.directions), busbw_Bps=_divided(s.busbw_Bps, log.directions)) for s in own)
    found = []
    for matrix in log.matrices:
        pairs = between_devices(matrix)
        if pairs:
            rate = median(r for _, _, r in pairs)
            found.append(CollectiveSample("point_to_point", NOMINAL_BYTES, None, rate, None, line=matrix.line))
    return (*own, *found)


def between_devices(matrix: PairMatrix) -> list[tuple[str, str, float]]:
    """Bandwidths between two different devices, bytes/s of one direction; nothing for host copies, latencies and copies through the host."""
    title = matrix.title.casefold()
    if matrix.quantity != "bandwidth" or "host" in title or "disabled" in title:
        return []
    return [
        (row, column, value / matrix.directions)
        for row, values in zip(matrix.rows, matrix.values, strict=False)
        for column, value in zip(matrix.columns, values, strict=False)
        if row != column and value
    ]


def odd_pair(log: CollectiveLog) -> OddPair | None:
    """The worst pair of all matrices, where it lies well below the median of its own."""
    worst: OddPair | None = None
    for matrix in log.matrices:
        pairs = between_devices(matrix)
        if len(pairs) < 3:
            continue
        middle = median(r for _, _, r in pairs)
        low = [p for p in pairs if p[2] < _ODD * middle]
        if low and (worst is None or min(p[2] for p in low) / middle < worst.rate_Bps / worst.median_Bps):
            row, column, rate = min(low, key=lambda p: p[2])
            worst = OddPair(row, column, rate, middle, len(low))
    return worst


def _divided(rate: float | None, by: int) -> float | None:
    return None if rate is None else rate / by

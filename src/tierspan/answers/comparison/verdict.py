"""From measured and expected to a verdict, and the band that decides it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

from tierspan.answers.comparison.expectation import Expectation
from tierspan.answers.comparison.results import ComparedRow, RowState, Verdict
from tierspan.specs.benchmark import CollectiveSample, busbw_factor

MATTERS_BYTES: Final = 16 * 1024**2
"""From this size on a benchmark shows bandwidth rather than latency; where nothing is as large, the largest size stands for it."""
PLATEAU: Final = 4.0
"""Sizes down to a fourth of the largest are the plateau, the figure that people quote."""
BROKEN: Final = 0.5
"""Below this share of the band's low edge a run is broken, not slow."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict with the sizes it rests on; ``margin`` is measured over the low edge of the band, ``ratio`` measured over expected."""

    verdict: Verdict
    from_bytes: float | None = None
    to_bytes: float | None = None
    ratio: float | None = None
    margin: float | None = None
    wrong_rows: int = 0


def compared_rows(run: int, samples: Sequence[CollectiveSample], expected: Expectation, ranks: int | None) -> list[ComparedRow]:
    """The samples beside what is expected of them; one of size 0 measured nothing and is left out."""
    factor = busbw_factor(samples[0].operation, ranks) if samples and ranks is not None else None
    rows = []
    for i, s in enumerate(samples):
        if s.size_bytes <= 0:
            continue
        time_s, low_s, high_s = (float(a[i]) for a in (expected.time_s, expected.low_s, expected.high_s))
        known = math.isfinite(time_s)
        ratio = _ratio(s, expected, i) if known else None
        low = low_s / time_s if known else math.nan
        high = high_s / time_s if known else math.nan
        rate, low_rate, high_rate = (_finite(float(a[i])) for a in (expected.rate_Bps, expected.low_Bps, expected.high_Bps))
        busbw = s.busbw_Bps if s.busbw_Bps is not None else _busbw(s, factor)
        rows.append(
            ComparedRow(
                run=run,
                operation=s.operation,
                size_bytes=s.size_bytes,
                time_s=s.time_s,
                algbw_Bps=s.algbw_Bps if s.algbw_Bps is not None else (s.size_bytes / s.time_s if s.time_s else None),
                busbw_Bps=busbw,
                expected_time_s=time_s if known else None,
                expected_busbw_Bps=rate,
                low_busbw_Bps=low_rate,
                high_busbw_Bps=high_rate,
                ratio=ratio,
                state=_state(ratio, low, high, s.wrong),
                in_place=s.in_place,
                wrong=s.wrong,
                algorithm=expected.algorithm[i] if i < len(expected.algorithm) else "",
                protocol=expected.protocol[i] if i < len(expected.protocol) else "",
                line=s.line,
            )
        )
    return rows


def decide(rows: Sequence[ComparedRow]) -> Decision:
    """The verdict of a run.

    ``slow`` where the median over the plateau, or over all sizes that matter, lies below the low edge of the band; ``broken`` where it
    lies below half of that, or results are wrong; ``normal`` inside the band or above it.
    """
    wrong = sum(1 for r in rows if r.wrong)
    known = [r for r in rows if r.ratio is not None and _margin(r) is not None]
    if not known:
        return Decision("broken" if wrong else "not comparable", wrong_rows=wrong)
    largest = max(r.size_bytes for r in known)
    matter = [r for r in known if r.size_bytes >= MATTERS_BYTES] or [r for r in known if r.size_bytes == largest]
    plateau = [r for r in matter if r.size_bytes * PLATEAU >= largest]
    group, margin = plateau, median(_margin(r) or 0.0 for r in plateau)
    overall = median(_margin(r) or 0.0 for r in matter)
    if overall < min(margin, 1.0):
        group, margin = matter, overall
    ratio = median(r.ratio or 0.0 for r in group)
    verdict: Verdict = "broken" if wrong or margin < BROKEN else "slow" if margin < 1.0 else "normal"
    return Decision(verdict, min(r.size_bytes for r in group), max(r.size_bytes for r in group), ratio, margin, wrong)


def marked(rows: Sequence[ComparedRow], decision: Decision) -> list[ComparedRow]:
    """The rows with those marked that the verdict rests on."""
    low, high = decision.from_bytes, decision.to_bytes
    if low is None or high is None:
        return list(rows)
    return [replace(r, decides=r.ratio is not None and low <= r.size_bytes <= high) for r in rows]


def measured_rate(row: ComparedRow) -> float | None:
    """The measured rate on the scale of the expected one: the ratio times the expectation."""
    if row.ratio is None or row.expected_busbw_Bps is None:
        return row.busbw_Bps if row.busbw_Bps is not None else row.algbw_Bps
    return row.ratio * row.expected_busbw_Bps


def _margin(row: ComparedRow) -> float | None:
    if row.ratio is None or not row.expected_busbw_Bps or not row.low_busbw_Bps:
        return None
    return row.ratio * row.expected_busbw_Bps / row.low_busbw_Bps


def _ratio(sample: CollectiveSample, expected: Expectation, i: int) -> float | None:
    """Measured over expected rate. A time has one meaning and is taken first; rates depend on the convention of the tool."""
    if sample.time_s:
        return float(expected.time_s[i]) / sample.time_s
    rate = sample.busbw_Bps if expected.unit == "busbw" else sample.algbw_Bps
    if rate is None and sample.algbw_Bps is not None:
        rate = sample.algbw_Bps * expected.factor
    if rate is None and sample.busbw_Bps is not None:
        rate = sample.busbw_Bps
    return rate / float(expected.rate_Bps[i]) if rate else None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _busbw(sample: CollectiveSample, factor: float | None) -> float | None:
    if factor is None:
        return None
    if sample.algbw_Bps is not None:
        return sample.algbw_Bps * factor
    return sample.size_bytes / sample.time_s * factor if sample.time_s else None


def _state(ratio: float | None, low: float, high: float, wrong: int | None) -> RowState:
    """``low`` and ``high`` are the edges of the time interval over the expected time."""
    if wrong:
        return "broken"
    if ratio is None or not math.isfinite(low) or not math.isfinite(high):
        return "not comparable"
    if ratio > 1 / low:
        return "faster"
    margin = ratio * high
    return "broken" if margin < BROKEN else "slow" if margin < 1.0 else "normal"

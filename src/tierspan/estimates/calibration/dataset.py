"""Training measurements as a data set: cases, measured step times, weights and groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tierspan.estimates.calibration.folds import group_text
from tierspan.estimates.cases import Case, arrays_of
from tierspan.estimates.measured import MeasuredCase, measured_cases
from tierspan.estimates.step import Cases, estimate_step
from tierspan.formats.measurements import excluded_reason, measured_step_time_s
from tierspan.quantities.errors import InputError
from tierspan.specs.arrays import Array
from tierspan.specs.measurement import TrainingRow
from tierspan.specs.profile.profile import Profile

DERIVED = "DERIVED_SERIES"
DERIVED_GROUPS = 144
"""Timings behind the derived series (validation README): they may be fitted with the weight of so many rows."""
DATA_WEIGHT = 9.0
"""Weight of the data against the priors. Tried: 2, 4, 6, 8, 9, 12 and 16, by the errors of groups and of sources left out; not searched further."""
NO_UNITS = "accelerator has no units for this precision"


@dataclass(frozen=True, slots=True)
class TrainingData:
    """Rows of a training file with what can be predicted of them.

    ``items`` are all rows in order; ``position[i]`` is the place of item i in ``cases`` (-1: not predictable, ``reason`` says why).
    ``measured_s``, ``weights``, ``scored`` go with ``cases``; weight 0 keeps a row out of fits.
    """

    items: tuple[MeasuredCase, ...]
    position: np.ndarray
    reason: tuple[str, ...]
    cases: tuple[Case, ...]
    rows: tuple[TrainingRow, ...]
    arrays: Cases
    measured_s: Array
    weights: Array
    scored: np.ndarray


def training_data(rows: Sequence[TrainingRow]) -> TrainingData:
    """Build the data set. A row whose accelerator has no units for its precision is not predicted."""
    items = tuple(measured_cases(rows))
    usable = [i for i, item in enumerate(items) if item.case is not None]
    cases = [c for i in usable if (c := items[i].case) is not None]
    arrays = arrays_of(cases, Profile("priors", {}))
    finite = np.isfinite(estimate_step(arrays).step_time_s)
    reason = [_reason(item.refusal) for item in items]
    position = np.full(len(items), -1)
    kept: list[int] = []
    for place, ok in zip(usable, finite, strict=True):
        if ok:
            position[place] = len(kept)
            kept.append(place)
        else:
            reason[place] = NO_UNITS
    good = [c for c, ok in zip(cases, finite, strict=True) if ok]
    chosen = [rows[i] for i in kept]
    measured = np.array([measured_step_time_s(r) or np.nan for r in chosen])
    flags = [excluded_reason(r) for r in chosen]
    scored = np.array([f is None for f in flags]) & np.isfinite(measured)
    derived = np.array([f == DERIVED and "DEGENERATE" not in r.flags for f, r in zip(flags, chosen, strict=True)]) & np.isfinite(measured)
    return TrainingData(
        items,
        position,
        tuple(reason),
        tuple(good),
        tuple(chosen),
        arrays_of(good, Profile("priors", {})),
        measured,
        _weights(chosen, scored, derived),
        scored,
    )


def _weights(rows: Sequence[TrainingRow], scored: np.ndarray, derived: np.ndarray) -> Array:
    """A source counts with the square root of its scored rows, shared out to its groups by the square root of theirs.

    Derived series count together with the square root of their groups.
    """
    groups = [group_text(r.source, r.model, r.accelerator) for r in rows]
    of_source = Counter(r.source for r, s in zip(rows, scored, strict=True) if s)
    of_group = Counter(g for g, s in zip(groups, scored, strict=True) if s)
    roots: Counter[str] = Counter()
    for source, group in {(r.source, g) for r, g, s in zip(rows, groups, scored, strict=True) if s}:
        roots[source] += np.sqrt(of_group[group])
    weights = np.array(
        [np.sqrt(of_source[r.source] / of_group[g]) / roots[r.source] if s else 0.0 for r, g, s in zip(rows, groups, scored, strict=True)]
    )
    ends = _series_ends(rows, derived)
    if ends.size:
        weights[ends] = np.sqrt(DERIVED_GROUPS) / ends.size
    return DATA_WEIGHT * weights


def _series_ends(rows: Sequence[TrainingRow], derived: np.ndarray) -> np.ndarray:
    """Smallest and largest member of each derived series: it is a straight line, so that its two ends say all there is in it."""
    series: dict[tuple[object, ...], list[int]] = {}
    for i in np.flatnonzero(derived):
        r = rows[int(i)]
        series.setdefault((r.source, r.raw["heads"], r.hidden, r.seq_len, r.tp, r.pp, r.micro_batch, r.recompute), []).append(int(i))
    ends: set[int] = set()
    for members in series.values():
        ordered = sorted(members, key=lambda i: (rows[i].value or 0.0, i))
        ends |= {ordered[0], ordered[-1]}
    return np.array(sorted(ends), dtype=np.int64)


def _reason(refusal: InputError | None) -> str:
    return "" if refusal is None else refusal.message_id

"""Rows of a file of communication benchmarks as measured cases, and the source page of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from tierspan.estimates.communication.cases import CollectiveCase
from tierspan.estimates.communication.constants import CommunicationProfile
from tierspan.estimates.communication.estimate import batch_of, evaluate, regime_of
from tierspan.estimates.communication.fit import Data, layout_of, parts_of
from tierspan.estimates.communication.rows import ReadRow, read_rows
from tierspan.formats.measurements import excluded_reason, measured_collective_time_us
from tierspan.laws.communication.base import Array
from tierspan.specs.measurement import CollectiveRow

MICRO = 1e-6


@dataclass(frozen=True, slots=True)
class CollectiveData:
    """Rows of a file and those of them that make cases.

    ``read`` has one entry a row of the file; ``index`` the positions of the rows that have a case and a law that can run them, in the order of
    ``fit_data``. Excluded rows are predicted with weight 0.
    """

    rows: tuple[CollectiveRow, ...]
    read: tuple[ReadRow, ...]
    index: NDArray[np.int64]
    fit_data: Data
    pages: tuple[str, ...]
    regimes: tuple[str, ...]
    reasons: tuple[str, ...]

    def spread(self, values: Array) -> Array:
        """Values of the cases in the order of the file, NaN where there is no case."""
        full = np.full(len(self.rows), np.nan)
        full[self.index] = values
        return full


def page_of(row: CollectiveRow) -> str:
    """The source page of a row: its address, or its source where none is given."""
    return row.locator or row.source


def collective_data(rows: Sequence[CollectiveRow], profile: CommunicationProfile | None = None) -> CollectiveData:
    """Make the data set of a file's rows; constants of ``profile`` (default the shipped ones) stand in its batch."""
    read = tuple(read_rows(rows))
    reasons = [r.reason for r in read]
    candidates = [i for i, r in enumerate(read) if r.case is not None]
    cases = [c for i in candidates if (c := read[i].case) is not None]
    ran = np.isfinite(evaluate(batch_of(cases, profile)).time_s) if cases else np.empty(0, dtype=bool)
    for i, able in zip(candidates, ran, strict=True):
        if not able:
            reasons[i] = "no algorithm can run this"
    index = np.array([i for i, able in zip(candidates, ran, strict=True) if able], dtype=np.int64)
    kept = [c for c, able in zip(cases, ran, strict=True) if able]
    unique, case_of = _unique(kept)
    batch = batch_of(unique, profile)
    measured = np.array([(measured_collective_time_us(rows[i]) or np.nan) * MICRO for i in index], dtype=np.float64)
    scored = np.isfinite(measured) & np.array([excluded_reason(rows[i]) is None for i in index], dtype=bool)
    pages = tuple(page_of(rows[i]) for i in index)
    count = Counter(p for p, s in zip(pages, scored, strict=True) if s)
    weights = np.array([1.0 / np.sqrt(count[p]) if s else 0.0 for p, s in zip(pages, scored, strict=True)], dtype=np.float64)
    layout = layout_of(batch)
    data = Data(
        batch=batch,
        layout=layout,
        case_of=case_of,
        measured_s=np.where(np.isfinite(measured), measured, 1.0),
        weights=weights,
        messages=np.array([float(read[i].messages) for i in index], dtype=np.float64),
        parts=parts_of(batch, layout),
    )
    regimes = tuple(regime_of(unique[i], batch.places[i], batch.keys[i]) for i in case_of)
    return CollectiveData(tuple(rows), read, index, data, pages, regimes, tuple(reasons))


def _unique(cases: Sequence[CollectiveCase]) -> tuple[list[CollectiveCase], NDArray[np.int64]]:
    """The different ones among ``cases`` and the position of each case among them; clusters are told apart by tiers, size and accelerator."""
    position: dict[object, int] = {}
    kept: list[CollectiveCase] = []
    case_of = np.empty(len(cases), dtype=np.int64)
    for i, case in enumerate(cases):
        c = case.cluster
        key = (
            *(getattr(case, f.name) for f in fields(case) if f.name != "cluster"),
            c.accelerator.id, c.accelerators, c.node_size, tuple((t.name, t.domain_size, t.bandwidth_Bps) for t in c.tiers),
        )  # fmt: skip
        if key not in position:
            position[key] = len(kept)
            kept.append(case)
        case_of[i] = position[key]
    return kept, case_of

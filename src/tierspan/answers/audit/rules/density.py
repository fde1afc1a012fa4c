"""Peaks: sparse told as dense, dense told as sparse, sparsity left out, a peak told as what is reached, equivalents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tierspan.answers.audit.rules.base import Sheet
from tierspan.answers.audit.rules.surroundings import Check, Hit, Surroundings, explained, meanings, name_of, part_of, shown
from tierspan.formats.figures.basis import Meaning, settled
from tierspan.formats.figures.known import Part, near
from tierspan.formats.figures.words import DENSITY
from tierspan.specs.reading import Reading

_ML: Final = "github:stas00/ml-engineering compute/accelerator/README.md (2026-08-22)"
_REACHED: Final = re.compile(
    r"\btrain(?:s|ed|ing)?\s+(?:\w+\s+){0,4}at\b|achiev|sustain|measured|delivers?\s+in\s+(?:training|practice)|in\s+training|real[\s-]world"
    r"|实测|实际(?:训练)?(?:达到|算力)|持续|训练(?:时|中)?(?:速度|达到|可达)",
    re.IGNORECASE,
)
_REFERENCE: Final = re.compile(r"\d\s?\w*\s+(?:out\s+)?of\s+(?:the\s+|its\s+)?$", re.IGNORECASE)
"""Before the figure that another one is a share of: "measured 794 TFLOPS of 989"."""
_OF_PEAK: Final = re.compile(r"\bpeak\b|of\s+its|theoretical|峰值|理论", re.IGNORECASE)
_EQUIVALENT: Final = re.compile(r"equivalent|effective|等效|折合|等价", re.IGNORECASE)
_SEVERAL: Final = re.compile(r"super\s?chip|two\s+(?:GPUs|dies)|both\s+dies|超级芯片|两颗|双芯|双\s?die", re.IGNORECASE)
"""Twice the dense peak of one is then that of two."""
_OTHER: Final = {"dense": "sparse", "sparse": "dense"}


def _mislabelled(sheet: Sheet, label: str) -> Iterator[Hit]:
    for r in sheet.of("compute rate"):
        known = part_of(r)
        if known is None or r.density != label or not r.precision or explained(r, known):
            continue
        other = settled(replace(r, density=_OTHER[label]), meanings(r, known), known)  # type: ignore[arg-type]
        if other is not None:
            fits = next(m for m in meanings(r, known) if m.density == _OTHER[label] and near(r.printed_si, m.prints) and _same(m, r))
            yield Hit(_values(known, r, fits), r)


def _same(meaning: Meaning, r: Reading) -> bool:
    return meaning.precision == r.precision or {meaning.precision, r.precision} <= {"bf16", "fp16"}


def _values(known: Part, r: Reading, fits: Meaning) -> dict[str, object]:
    dense = fits.prints if fits.density == "dense" else fits.prints / 2.0
    return {
        "part": name_of(known),
        "precision": r.precision.upper(),
        "dense": shown(dense, "FLOP/s"),
        "sparse": shown(2 * dense, "FLOP/s"),
    }


def _unlabelled(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    notes = {d.name for d in sheet.documents if any(DENSITY["sparse"].search(line.text) and not re.search(r"\d{3}", line.text) for line in d.lines)}
    for r in sheet.of("compute rate"):
        known = part_of(r)
        if known is None or r.density != "sparse" or not any(reason.id == "audit.read.sparse_known" for reason in r.reasons) or r.file in notes:
            continue
        several = _SEVERAL.search(at.of(r).clause)
        if not several and not any(reason.id == "audit.read.precision" for reason in r.reasons):
            fits = [m for m in meanings(r, known) if m.density == "sparse" and near(r.printed_si, m.prints) and _same(m, r)]
            yield from (Hit({**_values(known, r, m), "sparse": shown(r.printed_si, "FLOP/s")}, r) for m in fits[:1])


def _unclear(sheet: Sheet) -> Iterator[Hit]:
    for r in sheet.of("compute rate"):
        if any(reason.id in ("audit.read.precision", "audit.read.no_precision") for reason in r.reasons):
            yield Hit({"half": shown(r.printed_si / 2.0, "FLOP/s")}, r)


def _as_reached(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for r in sheet.of("compute rate"):
        known = part_of(r)
        around = at.of(r)
        if known is None or not (_REACHED.search(around.clause) or r.peak == "sustained") or _OF_PEAK.search(around.clause):
            continue
        if _REFERENCE.search(around.before):
            continue
        peaks = [known.peaks[p] for p in ((r.precision,) if r.precision else ("bf16", "fp16", "fp8")) if p in known.peaks]
        one = r.printed_si / (known.accelerators if r.printed_si > 3 * max(known.peaks.values(), default=float("inf")) else 1)
        for peak in peaks:
            if near(one, peak) or near(one, 2 * peak):
                yield Hit({"part": name_of(known), "dense": shown(peak, "FLOP/s")}, r)
                break


def _equivalent(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for r in sheet.of("compute rate"):
        if _EQUIVALENT.search(at.of(r).clause):
            yield Hit({"half": shown(r.printed_si / 2.0, "FLOP/s")}, r)


RULES: tuple[Check, ...] = (
    Check("audit.sparse_as_dense", "error", (_ML, "https://awesomeagents.ai (9,000 TFLOPS dense FP8 of a B200)"), lambda s: _mislabelled(s, "dense")),
    Check("audit.dense_as_sparse", "warning", (_ML,), lambda s: _mislabelled(s, "sparse")),
    Check("audit.sparse_unlabelled", "warning", (_ML, "https://jishuzhan.net/article/1872432607539499010"), _unlabelled),
    Check("audit.peak_unclear", "question", (_ML,), _unclear),
    Check("audit.peak_as_reached", "warning", (f"{_ML}: 51 % to 97 % of the dense peak are reached",), _as_reached),
    Check("audit.equivalent_peak", "warning", (_ML,), _equivalent),
)

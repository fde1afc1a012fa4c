"""What is said to be reached and lies above what the part can do at all: "trains at 1,200 TFLOPS per GPU" on a part of 989 dense."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tierspan.answers.audit.rules.base import Sheet
from tierspan.answers.audit.rules.surroundings import Check, Hit, Surroundings, name_of, part_of, shown

_REACHED: Final = re.compile(
    r"\b(?:train(?:s|ed|ing)?|achiev\w*|reach\w*|sustain\w*|deliver(?:s|ed)\s+in|measured|effective|MFU)\b|实测|达到|训练|持续|有效算力",
    re.IGNORECASE,
)
_PEAK: Final = re.compile(r"\bpeak\b|theoretical|data\s?sheet|up\s+to|spars|峰值|理论|稀疏", re.IGNORECASE)
_TRAINED_IN: Final = ("bf16", "fp16", "fp8")
"""Precisions of training; a figure without one is held against the fastest of them."""


def _above(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for r in sheet.of("compute rate"):
        known = part_of(r)
        if known is None or r.scope not in ("", "accelerator") or (r.density == "sparse" and r.status == "certain"):
            continue
        line = at.of(r).line
        if not _REACHED.search(line) or _PEAK.search(line):
            continue
        listed = (r.precision,) if r.precision else _TRAINED_IN
        peaks = [known.peaks[p] for p in (*listed, *({"bf16": ("fp16",), "fp16": ("bf16",)}.get(r.precision, ()))) if p in known.peaks]
        if peaks and r.printed_si > 1.02 * max(peaks) and r.printed_si < 20.0 * max(peaks):
            yield Hit({"part": name_of(known), "peak": shown(max(peaks), "FLOP/s"), "share": f"{100 * r.printed_si / max(peaks):.0f}"}, r)


RULES: tuple[Check, ...] = (Check("audit.above_peak", "error", ("facts/README trap 29: peak against achievable",), _above),)

"""What was reached, the peak, and the share of it that a sentence prints: one of the three may be wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tierspan.answers.audit.rules.base import Sheet
from tierspan.answers.audit.rules.surroundings import SENTENCE, Check, Hit, Surroundings
from tierspan.specs.reading import Reading

_REACHED: Final = re.compile(r"reach|achiev|measur|\bran\b|\bran\s+at|sustain|obtain|实测|达到|达成|测得", re.IGNORECASE)
_PEAK: Final = re.compile(r"peak|theor|峰值|理论|\bspec", re.IGNORECASE)
_OF: Final = re.compile(r"\d\s?\w*FLOPS?\s+(?:out\s+)?of\b|效率|利用率", re.IGNORECASE)
_SPREAD: Final = 0.015


def _look(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for listed in _sentences(sheet, at):
        rates = [r for r in listed if r.quantity == "compute rate" and r.count == 1]
        shares = [r for r in listed if r.quantity == "percentage"]
        if len(rates) != 2 or len(shares) != 1:
            continue
        line = at.of(rates[0]).line
        low, high = sorted(rates, key=lambda r: r.printed_si)
        if not (_REACHED.search(line) and (_PEAK.search(line) or _OF.search(line))) or low.printed_si <= 0:
            continue
        ratio = low.printed_si / high.printed_si
        if abs(shares[0].printed_si / ratio - 1) > _SPREAD:
            yield Hit({"reached": low.text, "peak": high.text, "share": f"{100 * ratio:.3g} %"}, shares[0])


def _sentences(sheet: Sheet, at: Surroundings) -> Iterator[list[Reading]]:
    groups: dict[tuple[str, int, int], list[Reading]] = {}
    for r in sheet.of("compute rate", "percentage"):
        groups.setdefault((r.file, r.line, len(SENTENCE.findall(at.of(r).line[: r.column]))), []).append(r)
    yield from groups.values()


RULES: tuple[Check, ...] = (
    Check("audit.share_of_peak", "error", ("github:stas00/ml-engineering compute/accelerator/README.md (2026-08-22)",), _look),
)

"""FLOP/s by W, and a share of the peak, from the figures beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tierspan.answers.audit.closing.amounts import agree, leeway, rounding, shown
from tierspan.answers.audit.closing.blocks import blocks
from tierspan.answers.audit.closing.places import line_of, place_of
from tierspan.answers.audit.closing.rule import ProductRule
from tierspan.answers.audit.rules.base import Sheet
from tierspan.quantities.findings import Finding
from tierspan.specs.reading import Reading

_OF_PEAK: Final = re.compile(
    r"\bpeak\b|\bMFU\b|utili[sz]ation|峰值|利用率|达成率|为.{0,24}的|达到.{0,12}的|(?:measured|achieved|reached)\b.{0,24}\bof\b|实测.{0,40}效率",
    re.IGNORECASE,
)


def _per_watt(sheet: Sheet) -> Iterator[Finding]:
    for block in blocks(sheet):
        for line in block.lines():
            for e in line:
                if e.quantity == "efficiency" and e.unit_si == "FLOP/s/W":
                    yield from _efficiency(e, list(line) if any(r.quantity == "compute rate" for r in line) else list(block.readings))


def _efficiency(e: Reading, near: list[Reading]) -> Iterator[Finding]:
    rates = [r for r in near if r.quantity == "compute rate" and (not e.precision or not r.precision or r.precision == e.precision)]
    watts = [r for r in near if r.quantity == "power" and r.count == 1]
    if not rates or not watts:
        return
    if any(agree(e.printed_si, r.printed_si / w.printed_si, leeway(e, r, w)) for r in rates for w in watts):
        return
    r, w = rates[0], watts[0]
    values = {
        "text": e.text, "printed": shown(e.printed_si, e), "should": shown(r.printed_si / w.printed_si, e),
        "arithmetic": f"{shown(r.printed_si, r)} / {shown(w.printed_si, w)} = {shown(r.printed_si / w.printed_si, e)}",
    }  # fmt: skip
    yield Finding("audit.efficiency", "error", values, place_of(e))


def _of_peak(sheet: Sheet) -> Iterator[Finding]:
    for block in blocks(sheet):
        for line in block.lines():
            yield from _share(sheet, line)


def _share(sheet: Sheet, line: tuple[Reading, ...]) -> Iterator[Finding]:
    percents = [r for r in line if r.quantity == "percentage"]
    for unit in ("FLOP/s", "B/s"):
        rates = [r for r in line if r.unit_si == unit and r.count == 1]
        if len(percents) != 1 or len(rates) != 2 or not _OF_PEAK.search(line_of(sheet, percents[0])):
            continue
        low, high = sorted(rates, key=lambda r: r.printed_si)
        ratio = low.printed_si / high.printed_si
        p = percents[0]
        spread = 0.6 * rounding(p) * p.printed_si + 0.006 + ratio * (rounding(low) + rounding(high))
        if abs(ratio - p.printed_si) > spread:
            values = {
                "text": p.text, "printed": p.text.strip(), "should": f"{100 * ratio:.1f} %",
                "arithmetic": f"{shown(low.printed_si, low)} / {shown(high.printed_si, high)} = {100 * ratio:.1f} %",
            }  # fmt: skip
            yield Finding("audit.of_peak", "error", values, place_of(p))


RULES = (
    ProductRule("audit.efficiency", "error", ("cases/inputs/spec_zh/910b_conflict.txt", "facts/README: generic checks"), _per_watt),
    ProductRule("audit.of_peak", "error", ("facts/README trap 29",), _of_peak),
)

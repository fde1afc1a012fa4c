"""FLOP/s of a cluster by its count is the peak of one accelerator, at exactly one precision and density."""

from __future__ import annotations

from collections.abc import Iterator

from tierspan.answers.audit.closing.amounts import agree, leeway, number
from tierspan.answers.audit.closing.blocks import name_of, part_of
from tierspan.answers.audit.closing.places import line_of, place_of
from tierspan.answers.audit.closing.rule import ProductRule
from tierspan.answers.audit.rules.base import Sheet
from tierspan.formats.figures.basis import peak_meanings
from tierspan.formats.figures.known import Part
from tierspan.quantities.findings import Finding
from tierspan.quantities.printing import format_quantity
from tierspan.specs.reading import Reading

_ONE: tuple[str, ...] = ("accelerator", "die", "package", "superchip")


def _look(sheet: Sheet) -> Iterator[Finding]:
    for r in sheet.of("compute rate"):
        if r.scope in _ONE:
            continue
        beside = [x for x in sheet.readings if (x.file, x.line) == (r.file, r.line)]
        counts = [x.printed_si for x in beside if x.quantity == "count" and x.noun in ("gpu", "accelerator", "part") and x.printed_si > 1]
        others = [x for x in beside if x.quantity == "compute rate" and x is not r]
        if len(counts) != 1 or r.count != 1 or others or "=" in line_of(sheet, r):
            continue
        one = r.printed_si / counts[0]
        part = part_of(r)
        if r.status == "certain" and r.precision:
            continue
        values = {"text": r.text, "number": number(counts[0]), "each": format_quantity(one, "FLOP/s", digits=4)}
        fits = _fits(one, r, part, leeway(r)) if part is not None else []
        if fits:
            continue
        if part is not None and r.precision and part.peaks.get(r.precision, 0) > 0:
            yield Finding(
                "audit.peak_total.known", "warning", {**values, "part": name_of(part), "precision": r.precision.upper(),
                "peak": format_quantity(part.peaks[r.precision], "FLOP/s", digits=4)}, place_of(r),
            )  # fmt: skip
        elif not r.precision:
            yield Finding("audit.peak_total", "question", values, place_of(r))


def _fits(one: float, reading: Reading, part: Part, spread: float) -> list[str]:
    return [m.precision for m in peak_meanings(part) if m.divisor == 1 and agree(one, m.prints, spread) and reading.precision in ("", m.precision)]


RULES = (ProductRule("audit.peak_total", "question", ("facts/README traps 21 to 28", "facts/README: generic checks, FLOPS x count"), _look),)

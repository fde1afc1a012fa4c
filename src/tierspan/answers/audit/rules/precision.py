"""Peaks of several precisions against each other, matrix and vector units added up, clock x units against the peak."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from tierspan.answers.audit.rules.base import Sheet
from tierspan.answers.audit.rules.surroundings import Check, Hit, Surroundings, by_line, name_of, part_of, shown
from tierspan.formats.figures.known import near
from tierspan.specs.catalog.tables import facts
from tierspan.specs.reading import Reading

_ML: Final = "github:stas00/ml-engineering compute/accelerator/README.md (2026-08-22)"
_ASCEND: Final = "https://gitcode.com/cann/ops-cv/issues/997"
_STEPS: Final = {("bf16", "fp8"), ("fp16", "fp8"), ("fp8", "fp4"), ("bf16", "int8"), ("fp16", "int8")}
_CUBE: Final = re.compile(r"cube|matrix|矩阵", re.IGNORECASE)
_VECTOR: Final = re.compile(r"vector|向量|矢量", re.IGNORECASE)
_UNITS: Final = re.compile(
    r"(\d[\d,]*)\s?(?:个\s?|颗\s?)?(?:SMs?|CUs?|compute\s+units|tensor\s+cores?|(?:AI|cube|DaVinci)\s+cores?|matrix\s+cores?|AI\s?核|核心)",
    re.IGNORECASE,
)
_PER_CLOCK: Final = re.compile(
    r"(\d[\d,]*)\s?(?:FLOPs?|ops?|operations?)\s?(?:/|per|a)\s?(?:clock|clk|cycle)|每(?:周期|时钟)\s?(\d[\d,]*)\s?(?:FLOPs?|ops?|次)?"
    r"|(\d[\d,]*)\s?(?:FLOPs?|ops?)\s?/\s?(?:周期|时钟)",
    re.IGNORECASE,
)


def _one(r: Reading) -> tuple[str, str, str]:
    return r.file, r.catalog_id or r.subject, r.scope or "accelerator"


def _ladder(sheet: Sheet) -> Iterator[Hit]:
    groups: dict[tuple[str, str, str], list[Reading]] = {}
    for r in sheet.of("compute rate"):
        if r.precision and r.peak != "sustained":
            groups.setdefault(_one(r), []).append(r)
    for listed in groups.values():
        yield from _steps(listed)


def _steps(listed: Sequence[Reading]) -> Iterator[Hit]:
    by_density: dict[str, dict[str, list[Reading]]] = {}
    for r in listed[:200]:
        by_density.setdefault(_stated(r), {}).setdefault(r.precision, []).append(r)
    for table in by_density.values():
        for wide, narrow in sorted(_STEPS):
            # several figures of one precision are no ladder: variants, or dense beside sparse
            if len(table.get(wide, ())) == 1 and len(table.get(narrow, ())) == 1:
                first, second = table[wide][0], table[narrow][0]
                if abs(first.line - second.line) <= 12 and (hit := _step(first, second)) is not None:
                    yield hit


def _stated(r: Reading) -> str:
    """The density that the sheet states; "" where it was taken."""
    taken = ("audit.read.sparse_known", "audit.read.dense_known", "audit.read.no_density")
    return "" if any(reason.id in taken for reason in r.reasons) else r.density


def _step(first: Reading, second: Reading) -> Hit | None:
    ratio = second.printed_si / first.printed_si if first.printed_si else 0.0
    known = part_of(first)
    right = 2.0
    if known is not None:
        wide, narrow = known.peaks.get(first.precision), known.peaks.get(second.precision)
        if wide is None or narrow is None:
            return None
        right = narrow / wide
    if near(ratio, right, 0.04):
        return None
    # without the part only the ratios that a lost label makes count
    if known is None and not any(near(ratio, right * times, 0.04) for times in (2.0, 0.5)):
        return None
    name = name_of(known) if known is not None else first.subject or "-"
    values = {
        "part": name, "wide": first.precision.upper(), "narrow": second.precision.upper(), "first": first.text, "ratio": f"{ratio:.3g}",
        "right": f"{right:.3g}",
    }  # fmt: skip
    return Hit(values, second)


def _cube_and_vector(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for r in sheet.of("compute rate"):
        known = part_of(r)
        sums = [f for f in facts("accelerator_facts").get(known.accelerator_id, ()) if "cube + vector" in f.basis and not f.used] if known else []
        for fact in sums:
            if known is not None and near(r.printed_si, fact.value, 0.005) and fact.key in ("peak_flops.bf16", "peak_flops.fp16"):
                cube = known.peaks["bf16"]
                yield Hit({"part": name_of(known), "cube": shown(cube, "FLOP/s"), "share": f"{100 * (r.printed_si / cube - 1):.0f}"}, r)
                break
        else:
            clause = at.of(r).clause
            if _CUBE.search(clause) and _VECTOR.search(clause) and re.search(r"\+|plus|and|加|合计|含", clause):
                yield Hit({"part": name_of(known) if known is not None else r.subject or "-", "cube": "?", "share": "6-12"}, r)


def _clock(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for listed in by_line(sheet.of("compute rate", "frequency")).values():
        clocks = [r for r in listed if r.quantity == "frequency" and r.printed_si >= 2e8]
        peaks = [r for r in listed if r.quantity == "compute rate"]
        if not clocks or not peaks:
            continue
        line = at.of(clocks[0]).line
        units, each = _UNITS.search(line), _PER_CLOCK.search(line)
        if units is None or each is None:
            continue
        count = float(units[1].replace(",", ""))
        per_clock = float(next(g for g in each.groups() if g).replace(",", ""))
        product = count * per_clock * clocks[0].printed_si
        if not any(near(p.printed_si, product, 0.04) or (p.density == "sparse" and near(p.printed_si, 2 * product, 0.04)) for p in peaks):
            values = {
                "units": f"{count:,.0f}", "each": f"{per_clock:,.0f}", "clock": clocks[0].text, "product": shown(product, "FLOP/s"),
                "ratio": f"{peaks[0].printed_si / product:.3g}",
            }  # fmt: skip
            yield Hit(values, peaks[0])


RULES: tuple[Check, ...] = (
    Check("audit.precision_ladder", "warning", (_ML, "https://www.amd.com/en/products/accelerators/instinct/mi400/mi455x.html"), _ladder),
    Check("audit.cube_and_vector", "warning", (_ASCEND,), _cube_and_vector),
    Check("audit.clock_times_units", "warning", ("https://glennklockwood.com/garden/peak-FLOPS",), _clock),
)

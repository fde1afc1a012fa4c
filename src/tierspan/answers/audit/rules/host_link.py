"""PCIe: both directions and one, the generation and the lanes, payload."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tierspan.answers.audit.rules.base import Sheet
from tierspan.answers.audit.rules.bounds import bound, sources
from tierspan.answers.audit.rules.surroundings import Around, Check, Hit, Surroundings, shown, stated_direction
from tierspan.specs.reading import Reading

_GENERATION: Final = re.compile(r"PCI[\s-]?(?:e|Express)?\s?(?:v|Gen\.?\s?)?([3-7])(?:\.0)?(?!\d)|Gen\.?\s?([3-7])(?!\d)", re.IGNORECASE)
_LANES: Final = re.compile(r"(?<![A-Za-z0-9])[x×]\s?(1|2|4|8|16|32)(?!\d)|(?<!\d)(1|2|4|8|16|32)\s?(?:lanes?|通道)", re.IGNORECASE)
_SUM: Final = re.compile(r"aggregate|total|\bnode\b|server|all\s|合计|聚合|整机|总", re.IGNORECASE)
_LOW, _HIGH = 0.9, 1.02
"""Share of the signalled rate that sheets print: payload is 0.94 to 0.985 of it."""


def _raw(r: Reading, around: Around) -> float | None:
    """The rate each way of the generation and lanes that the sentence names; None where it names no generation, or a sum of several."""
    text = f"{around.heads} {around.sentence}"
    found = _GENERATION.search(text)
    if r.tier != "host" or found is None or r.scope in ("node", "lane", "switch") or r.count > 1 or _SUM.search(around.clause):
        return None
    lanes = _LANES.search(text)
    number = int(lanes[1] or lanes[2]) if lanes else 16
    return bound(f"pcie.{found[1] or found[2]}.each") * number / 16


def _wrong_direction(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for r in sheet.of("bandwidth"):
        stated = stated_direction(r)
        raw = _raw(r, at.of(r)) if stated else None
        if raw is None:
            continue
        summed = stated == "per-direction" and 2 * _LOW * raw <= r.printed_si <= 2 * _HIGH * raw
        halved = stated == "both-directions" and _LOW * raw <= r.printed_si <= _HIGH * raw
        if summed or halved:
            yield Hit({"each": shown(raw, "B/s"), "both": shown(2 * raw, "B/s")}, r)


def _too_fast(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for r in sheet.of("bandwidth"):
        raw = _raw(r, at.of(r))
        if raw is not None and r.printed_si > 2.1 * raw:
            yield Hit({"each": shown(raw, "B/s"), "both": shown(2 * raw, "B/s"), "times": f"{r.printed_si / 2 / raw:.3g}"}, r)


_SOURCES: Final = ("NVIDIA H200 data sheet: 128 GB/s of PCIe Gen5, both ways", *sources("pcie."))
RULES: tuple[Check, ...] = (
    Check("audit.pcie_direction", "error", _SOURCES, _wrong_direction),
    Check("audit.pcie_too_fast", "error", _SOURCES, _too_fast),
)

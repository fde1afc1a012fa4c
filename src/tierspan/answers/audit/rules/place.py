"""Mass, floor, copper and cooling: pounds told as kilograms, a floor that is too weak, cables that are too long, air where liquid is needed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tierspan.answers.audit.rules.base import Sheet
from tierspan.answers.audit.rules.bounds import bound, sources
from tierspan.answers.audit.rules.surroundings import Check, Hit, Surroundings, by_line, name_of, pairs, part_of, shown
from tierspan.formats.figures.known import Part, near
from tierspan.quantities.unit_table import POUND_KG
from tierspan.specs.catalog.tables import facts

_LB: Final = re.compile(r"lbs?\b|pounds?|磅", re.IGNORECASE)
_COPPER: Final = re.compile(r"\bDACs?\b|copper|twinax|铜", re.IGNORECASE)
_ACTIVE: Final = re.compile(r"\bAECs?\b|\bACCs?\b|\bactive\b|有源", re.IGNORECASE)
_OPTICAL: Final = re.compile(r"optic|fib(?:er|re)|AOC|transceiver|光", re.IGNORECASE)
_FAST: Final = re.compile(
    r"(?:400|800|1600|1\.6)\s?[GT]|\b(?:100|112|200|224)\s?G\w*\s+(?:lane|PAM)|NDR|XDR|NVLink|每通道\s?(?:100|112)G", re.IGNORECASE
)
_REACH: Final = re.compile(r"\bDACs?\b|cable|reach|copper|线缆|铜缆|距离|长", re.IGNORECASE)
_DOMAIN: Final = re.compile(r"\bdomain\b|NVLink|UA\s?Link|scale[\s-]?up|super-?(?:pod|node)|超节点|高带宽域|卡间互[连联]", re.IGNORECASE)
_RACKS: Final = re.compile(r"(?<![\d.,])(\d{1,4})\s?(?:racks|cabinets|个机柜|个柜|柜|机柜)", re.IGNORECASE)
_ACROSS: Final = re.compile(r"across|over|between|span|connect|跨|覆盖|连接|互联", re.IGNORECASE)
_INSIDE: Final = re.compile(r"inside|within|intra|in\s+the\s+rack|柜内", re.IGNORECASE)
_AIR: Final = re.compile(r"air[\s-]?cool|cooled\s+by\s+air|风冷|空冷", re.IGNORECASE)
_LIQUID: Final = re.compile(r"liquid|water|immersion|cold\s?plate|rear[\s-]door|液冷|水冷|浸没|冷板", re.IGNORECASE)


def _weights(known: Part) -> list[float]:
    return [f.value for f in facts("system_facts").get(known.id, ()) if f.key == "weight" and f.used]


def _pounds(sheet: Sheet) -> Iterator[Hit]:
    for r in sheet.of("mass"):
        known = part_of(r)
        for weight in _weights(known) if known is not None and r.unit_si == "kg" else ():
            pounds = weight / POUND_KG
            if near(r.printed_si, pounds) or near(r.printed_si, weight * POUND_KG):
                yield Hit({"part": name_of(known) if known else "", "kg": f"{weight:,.0f}", "lb": f"{pounds:,.0f}"}, r)
                break


def _mass_pair(sheet: Sheet) -> Iterator[Hit]:
    for listed in by_line(r for r in sheet.of("mass") if r.unit_si == "kg").values():
        for first, second in pairs(listed):
            if bool(_LB.search(first.text)) != bool(_LB.search(second.text)) and not near(first.printed_si, second.printed_si, 0.03):
                yield Hit({"other": second.text, "kg": f"{first.printed_si:,.4g}", "lb": f"{first.printed_si / POUND_KG:,.4g}"}, first)


def _floor(sheet: Sheet) -> Iterator[Hit]:
    masses = [(r.file, r.printed_si, r.text) for r in sheet.of("mass") if r.unit_si == "kg" and r.printed_si > 200]
    for r in sheet.of("mass"):
        if r.unit_si != "kg/m2":
            continue
        listed = [(mass, text) for file, mass, text in masses if file == r.file]
        if not listed:
            parts = [k for x in sheet.readings if x.file == r.file and (k := part_of(x)) is not None and k.is_system]
            listed = [(weight, name_of(k)) for k in parts for weight in _weights(k)]
        for mass, text in listed[:1]:
            load = mass / bound("rack.footprint")
            if load > 1.02 * r.printed_si:
                yield Hit({"rack": text, "load": f"{load:,.0f}", "area": f"{bound('rack.footprint'):g}"}, r)


def _copper_reach(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for r in sheet.of("length"):
        around = at.of(r)
        words = f"{around.heads} {around.clause}"
        copper = _COPPER.search(f"{around.heads} {around.sentence}") and _REACH.search(words)
        if not copper or not 0.2 <= r.printed_si <= 200 or r.bound == "at least":
            continue
        if _OPTICAL.search(words) or not _FAST.search(f"{around.heads} {around.line}"):
            continue
        limit = bound("copper.active" if _ACTIVE.search(f"{around.heads} {around.sentence}") else "copper.passive")
        if r.printed_si > 1.05 * limit:
            yield Hit({"limit": shown(limit, "m")}, r)


def _copper_racks(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for r in sheet.of("count"):
        around = at.of(r)
        racks = _RACKS.search(around.sentence)
        if racks is None or int(racks[1]) < 3 or racks[1] not in r.text.replace(",", ""):
            continue
        text = around.sentence
        if _COPPER.search(text) and _DOMAIN.search(text) and _ACROSS.search(text) and not _OPTICAL.search(text) and not _INSIDE.search(text):
            yield Hit({"racks": racks[1], "limit": shown(bound("copper.passive"), "m")}, r)


def _air(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for r in sheet.of("power"):
        around = at.of(r)
        text = f"{around.heads} {around.line}"
        rack = r.scope == "rack" or re.search(r"\brack|cabinet|机柜|整柜|单柜", around.clause, re.IGNORECASE)
        if rack and _AIR.search(text) and not _LIQUID.search(text) and r.printed_si > bound("air.rack"):
            yield Hit({"limit": shown(bound("air.rack"), "W")}, r)


def _cooling(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    told = set()
    for r in sheet.readings:
        known = part_of(r)
        if known is None or not known.is_system or (r.file, known.id) in told:
            continue
        cooling = next((f.original for f in facts("system_facts").get(known.id, ()) if f.key == "cooling" and f.used), "")
        line = at.of(r).line
        if cooling.startswith("liquid") and _AIR.search(line) and not _LIQUID.search(line):
            told.add((r.file, known.id))
            yield Hit({"part": name_of(known)}, r)


RULES: tuple[Check, ...] = (
    Check("audit.pounds_as_kilograms", "warning", ("https://introl.com/blog/gb200-nvl72-deployment-72-gpu-liquid-cooled (3,000 kg)",), _pounds),
    Check("audit.mass_pair", "error", ("1 lb = 0.45359237 kg",), _mass_pair),
    Check("audit.floor_load", "warning", sources("rack."), _floor),
    Check("audit.copper_reach", "warning", sources("copper."), _copper_reach),
    Check("audit.copper_between_racks", "warning", sources("copper."), _copper_racks),
    Check("audit.air_cooled_rack", "warning", sources("air."), _air),
    Check("audit.cooling_differs", "warning", ("https://docs.nvidia.com/dgx/dgxgb200-user-guide/hardware.html",), _cooling),
)

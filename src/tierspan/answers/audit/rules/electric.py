"""Watts, volts and amperes must agree, by phases and feeds; two feeds of one rack are counted once."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import product as combinations
from typing import Final

from tierspan.answers.audit.closing.amounts import leeway, shown
from tierspan.answers.audit.closing.places import line_of, place_of
from tierspan.answers.audit.closing.rule import ProductRule
from tierspan.answers.audit.rules.base import Sheet
from tierspan.quantities.findings import Finding
from tierspan.quantities.printing import format_quantity
from tierspan.specs.reading import Reading

_THREE_PHASE: Final = re.compile(r"3[\s-]?(?:phase|ph\b|φ)|three[\s-]phase|三相", re.IGNORECASE)
_REDUNDANT: Final = re.compile(r"A\s?/\s?B|A\s?\+\s?B|\b2N\b|redundan|冗余|双路|主备", re.IGNORECASE)
_DIRECT: Final = re.compile(r"bus\s?bar|母排|母线|\bDC\b|VDC|直流", re.IGNORECASE)
_SUPPLY: Final = re.compile(r"feed|circuit|breaker|outlet|PDU|socket|馈|回路|插座|空开|断路器", re.IGNORECASE)
_EQUATION: Final = re.compile(r"[=＝]")


def _look(sheet: Sheet) -> Iterator[Finding]:
    for line in _lines(sheet):
        volts = [r for r in line if r.quantity == "voltage"]
        amperes = [r for r in line if r.quantity == "current"]
        watts = [r for r in line if r.quantity == "power"]
        if len(volts) != 1 or len(amperes) != 1:
            continue
        text = line_of(sheet, volts[0])
        three = bool(_THREE_PHASE.search(text))
        feed = volts[0].printed_si * amperes[0].printed_si * (math.sqrt(3.0) if three else 1.0)
        feeds = max([amperes[0].count, volts[0].count, *(r.printed_si for r in line if r.noun == "feed")])
        if feeds > 1:
            yield from _feeds(text, amperes[0], watts, feed, feeds, three, volts[0])
        elif len(watts) == 1 and watts[0].count == 1 and not _EQUATION.search(text):
            yield from _power(volts[0], amperes[0], watts[0], three, text)


def _lines(sheet: Sheet) -> Iterator[list[Reading]]:
    for key in dict.fromkeys((r.file, r.line) for r in sheet.readings):
        yield [r for r in sheet.readings if (r.file, r.line) == key]


def _feeds(text: str, amperes: Reading, watts: list[Reading], feed: float, feeds: float, three: bool, volts: Reading) -> Iterator[Finding]:
    values = {
        "text": amperes.text, "feed": format_quantity(feed, "VA"), "feeds": f"{feeds:g}",
        "arithmetic": f"{'√3 x ' if three else ''}{volts.printed_si:g} V x {amperes.printed_si:g} A = {format_quantity(feed, 'VA')}",
    }  # fmt: skip
    yield Finding("audit.power.feeds", "info", values, place_of(amperes))
    racks = [w for w in watts if w.scope == "rack"]
    if racks and _REDUNDANT.search(text) and racks[0].printed_si > feed * 1.02:
        yield Finding("audit.power.both_feeds", "warning", {**values, "power": shown(racks[0].printed_si, racks[0])}, place_of(racks[0]))


def _power(volts: Reading, amperes: Reading, watts: Reading, three: bool, text: str) -> Iterator[Finding]:
    product = volts.printed_si * amperes.printed_si
    direct = (
        bool(_DIRECT.search(text))
        or volts.printed_si < 100
        or (volts.printed_si >= 320 and not three and volts.printed_si not in (380, 400, 415, 480))
    )
    # of alternating current a part is derated (0.8) or is no work (power factor); phases are often left unsaid
    phases = (math.sqrt(3.0),) if three else (1.0,) if direct else (1.0, math.sqrt(3.0), 3.0)
    factors = (1.0,) if direct else (1.0, 0.99, 0.98, 0.95, 0.9, 0.8)
    spread = leeway(volts, amperes, watts) + 0.01
    if any(abs(watts.printed_si / (product * p * f) - 1) <= spread for p, f in combinations(phases, factors)):
        return
    most = product * max(phases)
    if not direct and watts.printed_si <= most and _SUPPLY.search(text):
        # a supply may be larger than what it feeds
        return
    values = {
        "text": watts.text, "printed": shown(watts.printed_si, watts), "should": format_quantity(most, "W"),
        "arithmetic": f"{'√3 x ' if three else ''}{volts.printed_si:g} V x {amperes.printed_si:,g} A = {format_quantity(most, 'W')}",
    }  # fmt: skip
    yield Finding("audit.power", "error", values, place_of(watts))


RULES = (ProductRule("audit.power", "error", ("facts/README: generic checks, A = W / V", "facts/README trap 37"), _look),)

"""So many things of so much each make the total that stands beside them, whatever the things are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tierspan.answers.audit.closing.amounts import agree, leeway, product, shown
from tierspan.answers.audit.closing.places import Spot, place_of, same_length, spot_of
from tierspan.answers.audit.closing.rule import ProductRule
from tierspan.answers.audit.closing.telltale import explained
from tierspan.answers.audit.rules.base import Sheet
from tierspan.quantities.findings import Finding
from tierspan.specs.reading import Reading

_UNITS: Final = ("B/s", "B", "W", "FLOP/s", "kg", "USD", "CNY")
_EACH_BEFORE: Final = re.compile(r"(?:(?:每|单)\s?(?:[张只口个颗台条卡块]|GPU)[^\d,;，；]{0,8}|各|\b(?:at|of|@))\s*[:：]?\s*$", re.IGNORECASE)
_EACH_AFTER: Final = re.compile(
    r"\s*(?:[A-Z]+\d*\s+)?(?:max(?:imum)?\s+)?(?:each(?!\s+(?:way|direction))|apiece|(?:per|a)\s+(?:module|port|GPU|card|NIC|PSU|piece|unit|switch|cable))\b",
    re.IGNORECASE,
)
_TOTAL_BEFORE: Final = re.compile(
    r"(?:(?<![向位])(?:合计|总计|共计?|折合|总量|出口带宽|总容量|总带宽|总功耗)|\b(?:total(?:ling)?|together|draw|makes?|in\s+all|sum)\b)[^\d,;，；]{0,12}$",
    re.IGNORECASE,
)
_TOTAL_AFTER: Final = re.compile(r"[^\d,;，；.]{0,24}?\b(?:in\s+(?:all|total)|total|together|altogether)\b", re.IGNORECASE)
_OPEN: Final = re.compile(r"\s*(?:of\s+\w+)?(?:\s*[(（]|,\s+since\s+each\s+of\s+its)\s*")
_BRACKET: Final = re.compile(r"(?<![\w.])(\d{1,6})\s*[个张块只台条]?\s*[(（][^()（）]*$")
_NEXT: Final = re.compile(r"\s*each\s*[,，;]\s*(?:the\s+\w+\s+can\s+(?:send|inject|move)\s+)?", re.IGNORECASE)
_SWITCH: Final = re.compile(r"switch|交换", re.IGNORECASE)


def _look(sheet: Sheet) -> Iterator[Finding]:
    for key in dict.fromkeys((r.file, r.line) for r in sheet.readings):
        line = [r for r in sheet.readings if (r.file, r.line) == key]
        spots = {id(r): spot_of(sheet, r) for r in line}
        if any("=" in spot.text or "＝" in spot.text for spot in spots.values()):
            continue
        for unit in _UNITS:
            yield from _line(line, spots, unit)


def _line(line: list[Reading], spots: dict[int, Spot], unit: str) -> Iterator[Finding]:
    rates = [r for r in line if r.unit_si == unit and r.count == 1]
    counts = [r for r in line if r.quantity == "count" and r.count == 1 and r.printed_si > 1 and r.noun not in ("", "ratio", "user", "link")]
    numbers = sorted({r.printed_si for r in counts} | {r.count for r in line if r.count > 1})
    framed = _bracketed(rates, spots)
    if framed:
        numbers = [framed]
    if len(rates) != 2 or len(numbers) != 1 or (not framed and _another_number(rates, counts, spots)):
        return
    eaches = [r for r in rates if _each(spots[id(r)]) or _framed(r, counts, spots)]
    totals = [r for r in rates if r not in eaches and (_total(spots[id(r)]) or _before_bracket(r, counts, spots))]
    if framed and not eaches:
        eaches = [r for r in rates if not _total(spots[id(r)])]
        totals = [r for r in rates if r not in eaches]
    if len(eaches) == 1 and not totals and unit == "B/s":
        # "21 ports, 200 Gb/s each, 4.2 Tb/s each way"
        start = spots[id(eaches[0])]
        totals = [r for r in rates if r not in eaches and _NEXT.fullmatch(start.text[start.end : spots[id(r)].start])]
    if len(eaches) != 1 or len(totals) != 1:
        return
    n, one, whole = numbers[0], eaches[0], totals[0]
    ratio = whole.printed_si / (n * one.printed_si)
    factors = [1.0]
    if unit == "B/s":
        if whole.direction == "both-directions" and one.direction != "both-directions":
            factors.append(2.0)
        if _SWITCH.search(spots[id(whole)].text) and whole.status != "certain":
            factors.append(2.0)
    if any(agree(ratio, f, leeway(one, whole)) for f in factors):
        return
    values = {
        "text": whole.text, "printed": shown(whole.printed_si, whole), "product": product(n, one),
        "why": explained(whole.printed_si, n * one.printed_si, unit, accelerators=(n,)),
    }  # fmt: skip
    yield Finding("audit.each", "error", values, place_of(whole))


def _bracketed(rates: list[Reading], spots: dict[int, Spot]) -> float:
    """The number before the bracket that holds both figures: "8 (400 Gb/s each, 3.2 Tb/s together)"; 0 where there is none."""
    if len(rates) != 2:
        return 0.0
    first, second = (spots[id(r)] for r in rates)
    found = _BRACKET.search(same_length(first.before))
    inside = first.text[first.end : second.start]
    return float(found[1]) if found and first.text == second.text and not re.search(r"[()（）]", inside) else 0.0


def _another_number(rates: list[Reading], counts: list[Reading], spots: dict[int, Spot]) -> bool:
    """Whether a number without a unit stands between the count and the first figure: it may be what is multiplied."""
    first = min((spots[id(r)] for r in rates), key=lambda s: s.start)
    ends = [spots[id(c)].end for c in counts if spots[id(c)].text == first.text and spots[id(c)].end <= first.start]
    return bool(ends) and bool(re.search(r"(?<![\w.])\d+(?![\w.])", first.text[max(ends) : first.start]))


def _each(spot: Spot) -> bool:
    return bool(_EACH_BEFORE.search(spot.before) or _EACH_AFTER.match(spot.after))


def _total(spot: Spot) -> bool:
    return bool(_TOTAL_BEFORE.search(spot.before) or _TOTAL_AFTER.match(spot.after))


def _framed(reading: Reading, counts: list[Reading], spots: dict[int, Spot]) -> bool:
    """Whether the figure stands between a count and what is counted: "12 个 400G 端口"."""
    spot = spots[id(reading)]
    behind = [spots[id(c)] for c in counts if spots[id(c)].text == spot.text and spots[id(c)].end <= spot.start]
    if any(re.fullmatch(r"\s*[个张只块台条]?\s*", spot.text[c.end : spot.start]) for c in behind):
        return True
    # "each of its 8 GPUs brings 80 GB"
    return any(
        re.search(r"\beach\s+of\s+(?:its|the)\s*$", c.before, re.I) and re.fullmatch(r"\s+[a-z]+\s+", spot.text[c.end : spot.start]) for c in behind
    )


def _before_bracket(reading: Reading, counts: list[Reading], spots: dict[int, Spot]) -> bool:
    """Whether the figure is followed by its parts in brackets: "640 GB (8 GPUs, 80 GB each)"."""
    spot = spots[id(reading)]
    return any(
        _OPEN.fullmatch(spot.text[spot.end : spots[id(c)].start]) for c in counts if spots[id(c)].text == spot.text and spots[id(c)].start > spot.end
    )


RULES = (ProductRule("audit.each", "error", ("facts/README: generic checks", "facts/README traps 6, 16, 37"), _look),)

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
_EACH_WORD: Final = re.compile(
    r"\beach\b(?!\s+(?:way|direction))|\bapiece\b|\bper\s+(?!direction)[a-z]+|\ba\s+(?:port|link|card|module|GPU|piece)\b|\btimes\s*$|\bspeed\b"
    r"|每(?!方?向|台|套|柜)[^向，。；\d]{0,8}|单[个口卡只张块]|速率",
    re.IGNORECASE,
)
_TOTAL_WORD: Final = re.compile(
    r"\bin\s+(?:all|total|sum)\b|\b(?:al)?together\b|\btotals?\b|\bsum\b|\bhence\b|\bthat\s+(?:makes|gives)\b|\bcan\s+(?:send|receive)\b|\bholds\b|\bgives?\b|\binto\b"
    r"|\bthroughput\b|\bcapacity\b|合计|总计|共计|一共|折合|总[^线，。]{0,4}|吞吐|出口带宽|共(?![享用同])",
    re.IGNORECASE,
)
_NO_TOTAL: Final = re.compile(
    r"max(?:imum)?\b|up\s+to|at\s+most|\bpeak\b|\brack\b|\bstorage\b|both\s+directions|bi-?directional|最大|峰值|满载|机柜|整柜|整机(?!吞吐)|存储|双向|bisection|对分",
    re.IGNORECASE,
)
"""A total of these words is no plain sum of what stands beside it."""
_PIECE: Final = re.compile(r"[,，;；:：(（)）|/]|\band\b|\bsince\b|因为|，")
_WHOLE_NUMBER: Final = re.compile(r"(?<![\w.,])(\d{1,6})(?![\w.]|,\d|\s?(?:[GTM]i?[Bb]|[kM]?W\b))")
_OPEN: Final = re.compile(r"\s*(?:of\s+\w+)?(?:\s*[(（]|,\s+since\s+each\s+of\s+its)\s*")
_BRACKET: Final = re.compile(r"(?<![\w.])(\d{1,6})\s*[个张块只台条]?\s*[(（][^()（）]*$")
_NEXT: Final = re.compile(r"\s*each\s*[,，;]\s*(?:the\s+\w+\s+can\s+(?:send|inject|move)\s+)?", re.IGNORECASE)
_SPLIT: Final = re.compile(r"storage|management|存储|管理", re.IGNORECASE)
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
    pieces = {id(r): _piece(r, line, spots) for r in rates}
    eaches = [r for r in rates if _each(spots[id(r)], pieces[id(r)]) or _framed(r, counts, spots)]
    totals = [r for r in rates if r not in eaches and (_total(spots[id(r)], pieces[id(r)]) or _before_bracket(r, counts, spots))]
    if framed and not eaches:
        eaches = [r for r in rates if not _total(spots[id(r)], pieces[id(r)])]
        totals = [r for r in rates if r not in eaches]
    if len(eaches) == 1 and not totals and unit == "B/s":
        # "21 ports, 200 Gb/s each, 4.2 Tb/s each way"
        start = spots[id(eaches[0])]
        totals = [r for r in rates if r not in eaches and _NEXT.fullmatch(start.text[start.end : spots[id(r)].start])]
    if len(eaches) != 1 or len(totals) != 1:
        return
    one, whole = eaches[0], totals[0]
    if unit == "W" and _NO_TOTAL.search(pieces[id(whole)]):
        return
    factors = [1.0]
    if unit == "B/s":
        if whole.direction == "both-directions" and one.direction != "both-directions":
            factors.append(2.0)
        if _SWITCH.search(spots[id(whole)].text) and whole.status != "certain":
            factors.append(2.0)
    text = spots[id(whole)].text
    # any number of the line that closes is the one that was meant: "of the 10 adapters 8 (400 Gb/s each, 3.2 Tb/s together)"
    written = {float(found[1]) for found in _WHOLE_NUMBER.finditer(text)} if not framed and _SPLIT.search(text) else set()
    if any(agree(whole.printed_si, f * n * one.printed_si, leeway(one, whole)) for f in factors for n in {*numbers, *written}):
        return
    n = numbers[-1]
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


def _each(spot: Spot, piece: str) -> bool:
    whole = _TOTAL_BEFORE.search(spot.before) or _TOTAL_AFTER.match(spot.after)
    said = _EACH_WORD.search(piece) and not _TOTAL_WORD.search(piece) and not whole
    return bool(_EACH_BEFORE.search(spot.before) or _EACH_AFTER.match(spot.after) or said)


def _total(spot: Spot, piece: str) -> bool:
    said = _TOTAL_WORD.search(piece) and not _NO_TOTAL.search(piece)
    return bool(_TOTAL_BEFORE.search(spot.before) or _TOTAL_AFTER.match(spot.after) or said)


def _piece(reading: Reading, line: list[Reading], spots: dict[int, Spot]) -> str:
    """The piece of the sentence with the figure in it, from the figure before to the figure behind, its head included."""
    spot = spots[id(reading)]
    others = [spots[id(r)] for r in line if r is not reading and spots[id(r)].text == spot.text]
    start = max((s.end for s in others if s.end <= spot.start), default=0)
    stop = min((s.start for s in others if s.start >= spot.end), default=len(spot.text))
    return f"{spot.head} {_PIECE.split(spot.text[start : spot.start])[-1]} {_PIECE.split(spot.text[spot.end : stop])[0]}"


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

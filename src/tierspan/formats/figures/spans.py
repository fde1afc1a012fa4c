"""Figures in a line of text: where each stands, its number and unit, the factor before or behind it ("8 x 400G"), and ranges."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from tierspan.formats.figures.nouns import NOUN, noun_of
from tierspan.quantities.errors import InputError
from tierspan.quantities.number_text import normalise
from tierspan.quantities.unit_table import known_symbols
from tierspan.quantities.units import Quantity, parse_quantity

NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][+-]?\d+(?![A-Za-z]))?"
_TIMES = r"[xX×*✕]"
_OWN_UNITS = {"GbE": "Gb/s", "Gbe": "Gb/s", "GBE": "Gb/s", "TbE": "Tb/s", "GB/sec": "GB/s", "TB/sec": "TB/s", "Gb/sec": "Gb/s", "GiB/sec": "GiB/s"}
"""Spellings that stand on sheets and that the unit table does not know."""
_BARE = ("G", "T", "P", "M", "K", "k")
_COMPOUND = r"(?:/(?:s|sec|W|GPU|kg|m2|m²|km|m|秒|卡|节点))?"


@dataclass(frozen=True, slots=True)
class Span:
    """A figure in a line: ``start`` and ``end`` of all of it, its ``quantity`` as printed, and the ``count`` that multiplies it.

    ``noun`` is set where the figure counts things ("72 GPUs": gpu); ``high`` is the second value of a range ("120-130 kW"), SI, else None.
    ``bare`` says that the unit was only a prefix (400G, 51.2T).
    """

    start: int
    end: int
    text: str
    quantity: Quantity
    count: float = 1.0
    noun: str = ""
    high: float | None = None
    bare: bool = False

    @property
    def bits(self) -> bool:
        """Whether the figure counts bits a second, spelled out or as a bare prefix (400G)."""
        return self.bare or (self.quantity.unit == "B/s" and "b" in self.quantity.symbol and "B" not in self.quantity.symbol)


@cache
def _pattern() -> re.Pattern[str]:
    symbols = {s for s in known_symbols() if not re.fullmatch(r"[A-Za-z]?[1]|\d.*", s)} | set(_OWN_UNITS)
    # single letters are read only directly behind the number, and not before another letter
    words = sorted((s for s in symbols if s not in _BARE), key=len, reverse=True)
    latin = [re.escape(w) for w in words if (w[0].isascii() and w[0].isalpha()) or w[0] in "μ"]
    other = [re.escape(w) for w in words if not ((w[0].isascii() and w[0].isalpha()) or w[0] in "μ")]
    unit = rf"(?:(?:{'|'.join(latin)}){_COMPOUND}(?![A-Za-z0-9])|(?:{'|'.join(other)}){_COMPOUND}|[{''.join(_BARE)}](?![A-Za-z0-9/]))"
    value = rf"(?<![A-Za-z0-9_.,/-])(?<!\\d:)(?P<lead>[~≈≤≥<>$¥€]?\s?)(?P<number>{NUMBER})"
    spread = rf"(?:\s?(?:-|–|—|~|to|至|到)\s?(?P<high>{NUMBER}))?"
    return re.compile(rf"{value}{spread}\s?(?P<unit>{unit})")


@cache
def _counts() -> re.Pattern[str]:
    return re.compile(
        rf"(?<![A-Za-z0-9_.,/-])(?<!\d:)(?P<number>{NUMBER})\s?{_TIMES}?\s?(?P<filler>(?:[A-Z0-9][\w+.-]*\s)?)(?:[个台张套块条片]\s?(?={NOUN}))?(?P<noun>{NOUN})",
        re.IGNORECASE,
    )


_NOUN_FIRST = re.compile(r"(?P<noun>\b(?:leaf|spine|core)(?:\s+switch(?:es)?)?)\s*[:：]?\s*(?P<number>\d+)(?![\w.]|,\d|\s?[%×*])", re.IGNORECASE)
_BEFORE = re.compile(rf"(?P<number>{NUMBER})\s*(?P<noun>(?:{NOUN}))?\s*{_TIMES}\s*$")
_BEHIND = re.compile(rf"^\s*{_TIMES}\s*(?P<number>{NUMBER})(?![\w.])(?!\s?{_TIMES})")
_PARTS = re.compile(rf"(?<![\w.,/-])(?P<number>{NUMBER})\s?{_TIMES}?\s?(?:NVIDIA\s|AMD\s|华为\s?|张|块|片|台|套)?\s?$")
_RATIO = re.compile(r"(?<![\w.:/-])(?P<a>\d+(?:\.\d+)?)\s?[:：]\s?(?P<b>\d+(?:\.\d+)?)(?![\w:：/-]|\.\d)")


def spans_of(text: str, named: Sequence[tuple[int, int]] = ()) -> tuple[Span, ...]:
    """The figures of a line from left to right; positions are those of the line as it was given (normalising keeps lengths).

    ``named`` are the places of names of parts (910B, H200-SXM-141GB): what stands inside is no figure, and a number right before one counts it.
    """
    plain = _same_length(text)
    parts = plain
    for start, end in named:
        plain = plain[:start] + "\x00" * (end - start) + plain[end:]
    taken: list[Span] = []
    for match in _pattern().finditer(plain):
        made = _figure(plain, match)
        if made is not None:
            taken.append(made)
    for match in _counts().finditer(plain):
        start, end = match.span()
        if match["filler"].strip() and _pattern().match(plain, start):
            continue
        if any(s.start < end and start < s.end for s in taken):
            continue
        number = match["number"]
        value = float(number.replace(",", ""))
        taken.append(Span(start, end, text[start:end], Quantity(value, "1", text[start:end], 1.0), noun=noun_of(match["noun"])))
    for match in _NOUN_FIRST.finditer(plain):
        start, end = match.span("number")
        if not any(s.start < end and start < s.end for s in taken):
            taken.append(Span(start, end, text[start:end], Quantity(float(match["number"]), "1", match["number"], 1.0), noun=noun_of(match["noun"])))
    for match in _RATIO.finditer(plain):
        start, end = match.span()
        if not any(s.start < end and start < s.end for s in taken) and float(match["b"]):
            value = float(match["a"]) / float(match["b"])
            taken.append(Span(start, end, text[start:end], Quantity(value, "1", text[start:end], 1.0), noun="ratio"))
    for start, _ in named:
        counted = _PARTS.search(plain[:start])
        if counted and not any(s.start < start and counted.start() < s.end for s in taken):
            value = float(counted["number"].replace(",", ""))
            taken.append(
                Span(
                    counted.start("number"),
                    start,
                    parts[counted.start("number") : start].strip(),
                    Quantity(value, "1", counted["number"], 1.0),
                    noun="part",
                )
            )
    return tuple(sorted(taken, key=lambda s: s.start))


def _figure(plain: str, match: re.Match[str]) -> Span | None:
    unit = match["unit"]
    spelled = _OWN_UNITS.get(unit, unit)
    start, end = match.start("number"), match.end()
    try:
        quantity = parse_quantity(f"{match['number']} {spelled}")
        high = parse_quantity(f"{match['high']} {spelled}").value if match["high"] else None
    except InputError:
        return None
    noun = noun_of(unit) if quantity.unit == "1" and unit != "%" else ""
    count = 1.0
    before = _BEFORE.search(plain[:start])
    behind = _BEHIND.search(plain[end:])
    if before:
        count = float(before["number"].replace(",", ""))
        start = before.start("number")
    elif behind and quantity.unit != "1":
        count = float(behind["number"].replace(",", ""))
        end += behind.end()
    return Span(start, end, plain[start:end].strip(), quantity, count, noun, high, unit in _BARE)


def _same_length(text: str) -> str:
    """Full-width digits, letters and signs as plain ones; each character keeps its place."""
    out = []
    for c in text:
        plain = normalise(c)
        out.append(plain if len(plain) == 1 else c)
    return "".join(out)

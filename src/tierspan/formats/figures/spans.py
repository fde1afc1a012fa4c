"""Figures in a line of text: where each stands, its number and unit, the factor before or behind it ("8 x 400G"), and ranges."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from tierspan.formats.figures.nouns import LONG_NOUN, NOUN, noun_of
from tierspan.quantities.errors import InputError
from tierspan.quantities.number_text import normalise
from tierspan.quantities.unit_table import known_symbols
from tierspan.quantities.units import Quantity, parse_quantity

NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][+-]?\d+(?![A-Za-z]))?"
NUMBER_ALONE = re.compile(NUMBER)
_TIMES = r"[xX×*✕]"
_OWN_UNITS = {"GbE": "Gb/s", "Gbe": "Gb/s", "GBE": "Gb/s", "TbE": "Tb/s", "GB/sec": "GB/s", "TB/sec": "TB/s", "Gb/sec": "Gb/s", "GiB/sec": "GiB/s"}
"""Spellings that stand on sheets and that the unit table does not know."""
_OWN_UNITS |= {
    f"{spelled}{flops}": f"{letter}FLOPS"
    for word, letter in (("giga", "G"), ("tera", "T"), ("peta", "P"), ("exa", "E"))
    for spelled in (word, word.capitalize(), word.upper())
    for flops in ("FLOPS", "FLOPs", "flops", "Flops", "FLOP/s", "flop/s", "OPS", "Ops")
}
_BARE = ("G", "T", "P", "M", "K", "k")
_COMPOUND = r"(?:/(?:s|sec|W|GPU|kg|m2|m²|km|m|秒|卡|节点))?"


@dataclass(frozen=True, slots=True)
class Span:
    """A figure in a line: ``start`` and ``end`` of all of it, its ``quantity`` as printed, and the ``count`` that multiplies it.

    ``noun`` is set where the figure counts things ("72 GPUs": gpu), ``of`` where its factor does ("18 links x 50 GB/s": link); ``high`` is the
    second value of a range ("120-130 kW"), SI, else None.
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
    of: str = ""

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
        rf"(?<![A-Za-z0-9_.,/-])(?<!\d:)(?P<number>{NUMBER})(?:\s?{_TIMES}?\s?|-(?=ports?\b|GPU\b|card\b))"
        rf"(?P<filler>(?:[个台张套块条片只颗]\s?)?(?:(?<!-)[A-Z0-9][\w+.-]*\s(?:\d\s)?)?(?:(?<!-)[A-Z]{{4,}}\s)?)"
        rf"(?:[个台张套块条片只颗]\s?(?={NOUN}))?(?P<noun>{NOUN})",
        re.IGNORECASE,
    )


_NOUN_FIRST = re.compile(r"(?P<noun>\b(?:leaf|spine|core)(?:\s+switch(?:es)?)?)\s*[:：]?\s*(?P<number>\d+)(?![\w.]|,\d|\s?[%×*:：])", re.IGNORECASE)
_BEFORE = re.compile(rf"(?P<number>{NUMBER})\s*(?P<noun>(?:{NOUN}))?\s*(?:{_TIMES}|\btimes\b)\s*$")
_BEHIND = re.compile(rf"^\s*{_TIMES}\s*(?P<number>{NUMBER})(?![\w.]|,\d)(?!\s?{_TIMES})(?!\s?[kM]?(?:V|A|W|VA|Hz)\b)")
_PARTS = re.compile(rf"(?<![\w.,/-])(?P<number>{NUMBER})\s?{_TIMES}?\s?(?:NVIDIA\s|AMD\s|华为\s?|张|块|片|台|套)?\s?$")
_PORTS_FIRST = re.compile(r"\b(?P<noun>ports)\s+(?P<number>\d+)(?=\s*(?:$|[|,;，；]))", re.IGNORECASE)
_LABELLED = re.compile(
    rf"(?P<noun>{LONG_NOUN})(?:[_\s]?per[_\s](?:node|server|GPU|rack|switch|host|device|accelerator|card|chip))?\s?"
    rf"(?:(?:数量?|总数|count|number)?\s*(?:[:：]|\.{{3,}})\s*|(?:数量?|总数)\s+)(?P<number>{NUMBER})(?=\s*(?:$|[,，;；(（|]))",
    re.IGNORECASE,
)
"""A number behind the name of what it counts: "Links: 18", "链路数量：18", "accelerators_per_node: 8"."""
_PRODUCT = re.compile(
    r"(?:NVLink|Tomahawk|Jericho|Quantum|Spectrum|ConnectX|BlueField|Rosetta|Gen|PCIe|HBM|UB|ICI|xGMI|Thor|Memory)[\s-]?$", re.IGNORECASE
)
"""Names whose number is a generation, not a count."""
_CLASSIFIERS = re.compile(r"[个台张套块条片只颗机卡]|pcs|pieces|switch(?:es)?|交换机|units?", re.IGNORECASE)
_STAGE = re.compile(r"(leaf|spine|core)(?:\s+(?:tier|layer|switch(?:es)?))?(?:交换机)?\s*[:：]?\s*$", re.IGNORECASE)
_RATIO = re.compile(r"(?<![\w.:/-])(?P<a>\d+(?:\.\d+)?)\s?[:：]\s?(?P<b>\d+(?:\.\d+)?)(?![\w:：/-]|[.,]\d|\s?[x×*])")

_SPARSITY = re.compile(r"\s*(?:structured\s+)?spars|\s*(?:结构化)?稀疏", re.IGNORECASE)
"""Behind 2:4 it is a pattern of zeros, no ratio of the sheet."""


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
        if any(s.start < end and start < s.end for s in taken) or _PRODUCT.search(plain[:start]):
            continue
        number = match["number"]
        if number.endswith(".0"):
            continue  # a version: "UALink 1.0 switch"
        value = float(number.replace(",", ""))
        stage = _STAGE.search(match["filler"])
        noun = stage[1].lower() if stage else _meant(noun_of(match["noun"]), match["noun"], plain[:start], plain[end:])
        taken.append(Span(start, end, text[start:end], Quantity(value, "1", text[start:end], 1.0), noun=noun))
    for labelled in (_NOUN_FIRST, _LABELLED, _PORTS_FIRST):
        for match in labelled.finditer(plain):
            start, end = match.span("number")
            noun = noun_of(match["noun"])
            if noun and not any(s.start < end and start < s.end for s in taken):
                taken.append(
                    Span(start, end, text[start:end], Quantity(float(match["number"].replace(",", "")), "1", match["number"], 1.0), noun=noun)
                )
    for match in _RATIO.finditer(plain):
        start, end = match.span()
        pattern = _SPARSITY.match(plain[end:])
        if not pattern and not any(s.start < end and start < s.end for s in taken) and float(match["b"]):
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


def counted_alone(text: str, row: str, column: str) -> tuple[Span, ...]:
    """A number that stands alone in a cell, where the head of its row or column names what it counts."""
    for head in (row, column):
        named = list(re.finditer(LONG_NOUN, head, re.IGNORECASE))
        if named and not re.search(r"(?i)\bper\b.*$|/s|rate|bandwidth|带宽|速率|[GT]b|W\b", head[named[-1].end() :]):
            noun = noun_of(named[0][0] if re.search(r"(?i)leaf|spine", named[0][0]) else named[-1][0])
            stripped = text.strip()
            start = text.index(stripped)
            value = float(stripped.replace(",", ""))
            return (Span(start, start + len(stripped), stripped, Quantity(value, "1", stripped, 1.0), noun=noun),)
    return ()


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
    if noun:
        noun = _meant(noun, unit, plain[:start], plain[end:])
        if _PRODUCT.search(plain[:start]):
            return None
    count, of = 1.0, ""
    before = _BEFORE.search(plain[:start])
    behind = _BEHIND.search(plain[end:])
    if before:
        count = float(before["number"].replace(",", ""))
        start = before.start("number")
        of = noun_of(before["noun"] or "")
    elif behind and quantity.unit != "1":
        count = float(behind["number"].replace(",", ""))
        end += behind.end()
    return Span(start, end, plain[start:end].strip(), quantity, count, noun, high, unit in _BARE, of)


def _meant(noun: str, spelled: str, before: str, after: str) -> str:
    """What a count counts where only its classifier says it: "Leaf: 32 pcs", "10 张 400G 网卡", "64 个 800G 端口", "存储网 2 张"."""
    if not _CLASSIFIERS.fullmatch(spelled.strip()):
        return noun
    stage = _STAGE.search(before)
    if stage:
        return stage[1].lower()
    rest = after.lstrip("个台张套块条片只颗 ")
    figure = _pattern().match(rest)
    behind = re.match(rf"\s?(?P<noun>{LONG_NOUN})", rest[figure.end() if figure else 0 :], re.IGNORECASE)
    if behind:
        return noun_of(behind["noun"])
    if figure and noun != "node" and re.fullmatch(r"G|[GT]b/s|[GT]bps|GbE", figure["unit"]):
        # a card that is rated in bits a second is a NIC
        return "nic"
    named = re.search(rf"(?P<noun>{LONG_NOUN})\s*[:：]?\s*$", before, re.IGNORECASE)
    if named:
        return noun_of(named["noun"])
    return "nic" if re.search(r"网\s?$", before) else noun


def _same_length(text: str) -> str:
    """Full-width digits, letters and signs as plain ones; each character keeps its place."""
    out = []
    for c in text:
        # a Chinese comma never groups digits: "，8 卡" is eight
        plain = c if c in "，：" else normalise(c)
        out.append(plain if len(plain) == 1 else c)
    return "".join(out)

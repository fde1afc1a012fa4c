"""Die, package, superchip: two dies make a package, two GPUs a superchip; a figure of one is not the figure of the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tierspan.answers.audit.closing.amounts import agree, leeway, number, product, shown
from tierspan.answers.audit.closing.blocks import Block, blocks
from tierspan.answers.audit.closing.places import line_of, place_of, spot_of
from tierspan.answers.audit.closing.rule import ProductRule
from tierspan.answers.audit.rules.base import Sheet
from tierspan.quantities.findings import Finding
from tierspan.specs.reading import Reading

_DIE: Final = re.compile(
    r"each\s+of\s+(?:the\s+|its\s+)?(?:\w+\s+)?(?:dies|GCDs)|(?:per|each(?:\s+of\s+the\s+\w+)?|单|每个?)\s?-?(?:(?:dies?|GCDs?|chiplets?)(?![a-z])|裸片|芯粒)",
    re.IGNORECASE,
)
_PACKAGE: Final = re.compile(r"(?:per|each|whole|the)\s?-?(?:[\w ]{0,32}\s)?package|整?封装", re.IGNORECASE)
_SUPERCHIP: Final = re.compile(r"super\s?chip|超级芯片", re.IGNORECASE)
_KINDS: Final = {
    "die": _DIE,
    "package": _PACKAGE,
    "superchip": _SUPERCHIP,
    "accelerator": re.compile(r"per\s+GPU|单颗\s?GPU|每[颗张]\s?GPU|each\s+GPU", re.IGNORECASE),
}
_WORDS: Final = {"one": 1, "two": 2, "dual": 2, "four": 4, "两": 2, "双": 2, "四": 4, "2": 2, "4": 4, "8": 8, "8个": 8}
_DIES: Final = re.compile(r"(?P<n>two|dual|four|两|双|四|2|4|8)\s?-?\s?[个颗]?\s?(?:dies?|GCDs?|chiplets?|裸片|芯粒)", re.IGNORECASE)
_GPUS: Final = re.compile(r"(?P<n>one|two|four|两|双|四|2|4|1)\s?[个颗张]?\s?(?:\w+\s)?(?:GPUs?)", re.IGNORECASE)


def _look(sheet: Sheet) -> Iterator[Finding]:
    for block in blocks(sheet):
        for quantity in ("compute rate", "memory", "memory bandwidth", "bandwidth"):
            yield from _pairs(sheet, block, quantity)


def _pairs(sheet: Sheet, block: Block, quantity: str) -> Iterator[Finding]:
    by: dict[str, list[Reading]] = {"die": [], "package": [], "superchip": [], "accelerator": []}
    for r in block.of(quantity):
        by[_kind(sheet, r)].append(r)
    for small, large, pattern, name in (("die", "package", _DIES, "audit.dies"), ("accelerator", "superchip", _GPUS, "audit.dies.superchip")):
        for one in by[small]:
            for whole in by[large]:
                if not _same(one, whole):
                    continue
                n = _number(pattern, f"{line_of(sheet, whole)} {line_of(sheet, one)}")
                if agree(whole.printed_si, n * one.printed_si, leeway(one, whole) + (0.03 if quantity == "memory" else 0.0)):
                    continue
                values = {"text": whole.text, "one": shown(one.printed_si, one), "printed": shown(whole.printed_si, whole), "number": number(n)}
                yield Finding(name, "error", {**values, "product": product(n, one)}, place_of(whole))


def _kind(sheet: Sheet, reading: Reading) -> str:
    spot = spot_of(sheet, reading)
    clause = re.split(r"[,;，；。:：]", spot.before)[-1]
    behind = re.split(r"(?<![A-Za-z\d])\d", re.split(r"[,;，；。]", spot.after)[0])[0]
    # the nearest word decides, and what stands behind the figure before what stands in front
    found = [(m.start(), kind) for kind, pattern in _KINDS.items() for m in pattern.finditer(behind)]
    if found:
        return min(found)[1]
    found = [(m.end(), kind) for kind, pattern in _KINDS.items() for m in pattern.finditer(clause)]
    if found:
        return max(found)[1]
    return "die" if reading.scope == "die" else "superchip" if reading.scope == "superchip" else "accelerator"


def _same(one: Reading, whole: Reading) -> bool:
    if one.unit_si != whole.unit_si or one.tier != whole.tier:
        return False
    if one.quantity == "compute rate":
        return bool(one.precision == whole.precision or not one.precision or not whole.precision) and (
            # a density that was only assumed keeps nothing apart
            one.density == whole.density or not one.density or not whole.density or "assumed" in (one.status, whole.status)
        )
    return one.direction == whole.direction


def _number(pattern: re.Pattern[str], text: str) -> int:
    # "for one GPU ... for the superchip (2 GPUs)": one is not how many there are
    return max((_WORDS.get(found["n"].lower(), 2) for found in pattern.finditer(text)), default=2, key=lambda n: (n > 1, -n)) or 2


RULES = (ProductRule("audit.dies", "error", ("facts/README traps 25, 30 and conflicts 1, 4",), _look),)

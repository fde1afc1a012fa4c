"""Power: a rack or server below the sum of its accelerators, supplies told as draw, two figures with an "or" between them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from tierspan.answers.audit.rules.base import Sheet
from tierspan.answers.audit.rules.surroundings import Around, Check, Hit, Surroundings, by_line, part_of, shown
from tierspan.formats.figures.known import near
from tierspan.specs.reading import Reading

_UNIT: Final = re.compile(
    r"\brack|cabinet|server|\bnode\b|\bsystem|\btotal|\bmax(?:imum)?\b|\bpeak\b|\bdraws?\b|\btakes?\b|\bneeds?\b|consum|input\s+power"
    r"|整柜|单柜|机柜|整机|单机|每台|服务器|总功耗|系统|最大功耗|功率|满载|不超过",
    re.IGNORECASE,
)
_PARTS: Final = re.compile(
    r"\btray|shelf|shelves|\bPSUs?\b|suppl(?:y|ies)|\bCPUs?\b|switch|fan|\bNIC|GPUs?\b|TDP|TGP|TBP|\beach\b|chip\b|accelerators?\b|托盘|电源|交换|风扇|单卡|每卡|网卡|颗|每张|芯片",
    re.IGNORECASE,
)
_LESS: Final = re.compile(r"idle|average|typical|cap(?:ped)?\b|limit|budget\s+of|static|saving|reduc|空闲|待机|平均|典型|限|节省|余", re.IGNORECASE)
_SUPPLY: Final = re.compile(r"suppl(?:y|ies)|\bPSUs?\b|shelf|shelves|nameplate|redundan|电源|铭牌|冗余", re.IGNORECASE)
_CARD: Final = re.compile(r"GPUs?|NPUs?|TPUs?|accelerators?|cards?\b|加速卡|卡|颗|张", re.IGNORECASE)
_COUNTED: Final = re.compile(r"(?<![\d.,])(\d{1,5})\s?[颗张块]\s?$")
_OR: Final = re.compile(r"(?:\bor\b|或者?|还是)\s*[(（]?\s*$", re.IGNORECASE)


def is_unit(r: Reading, around: Around) -> bool:
    """Whether a power is that of a rack or server as a whole."""
    words = f"{around.heads} {around.clause}"
    if _LESS.search(words) or r.peak in ("sustained", "typical") or r.count > 1 or r.bound == "at least":
        return False
    return (r.scope in ("rack", "node") or bool(_UNIT.search(words))) and not _PARTS.search(around.clause)


def _known_below(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for r in sheet.of("power"):
        known = part_of(r)
        if known is None or not known.is_system or not known.power_W or not is_unit(r, at.of(r)):
            continue
        count = known.node if r.scope == "node" else known.accelerators
        if known.power_W * 1.2 < r.printed_si < 0.97 * count * known.power_W:
            values = {"count": f"{count:,}", "one": shown(known.power_W, "W"), "sum": shown(count * known.power_W, "W")}
            yield Hit(values, r)


def _stated_below(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for listed in by_line(sheet.of("power", "count")).values():
        powers = [r for r in listed if r.quantity == "power"]
        counts = [r for r in listed if r.quantity == "count" and _CARD.search(r.text) and r.printed_si > 1]
        for one in powers:
            around = at.of(one)
            ahead = _COUNTED.search(around.before)
            count = one.count if one.count > 1 else float(ahead[1]) if ahead else counts[0].printed_si if len(counts) == 1 else 0.0
            if count <= 1 or not _of_card(one, around):
                continue
            for unit in powers:
                known = part_of(unit)
                told = known is not None and known.is_system and known.power_W and unit.printed_si < 0.97 * known.accelerators * known.power_W
                if unit is not one and not told and is_unit(unit, at.of(unit)) and one.printed_si < unit.printed_si < 0.97 * count * one.printed_si:
                    yield Hit({"count": f"{count:,.0f}", "one": one.text, "sum": shown(count * one.printed_si, "W")}, unit)


def _of_card(r: Reading, around: Around) -> bool:
    near_words = f"{re.split(r'[0-9=]', around.before)[-1]} {r.text} {around.after[:12]}"
    return r.scope == "accelerator" or bool(_CARD.search(near_words)) or bool(re.match(r"\s*(?:each|TDP)", around.after, re.IGNORECASE))


def _supplies(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    lines = by_line(sheet.of("power", "count"))
    for (file, line), listed in lines.items():
        for one in (r for r in listed if r.quantity == "power"):
            around = at.of(one)
            if not _SUPPLY.search(f"{around.heads} {around.clause}"):
                continue
            counts = [r for r in listed if r.quantity == "count" and _SUPPLY.search(f"{r.text} {at.of(r).after[:20]}")]
            count = one.count if one.count > 1 else counts[0].printed_si if len(counts) == 1 else 1.0
            if count < 2:
                continue
            near_by = [r for n in range(line - 3, line + 4) for r in lines.get((file, n), ()) if r.quantity == "power" and r is not one]
            for r in near_by:
                whole = r.count <= 1 and near(r.printed_si, count * one.printed_si, 0.01)
                if whole and not _SUPPLY.search(f"{at.of(r).heads} {at.of(r).clause}"):
                    yield Hit({"count": f"{count:,.0f}", "one": shown(one.printed_si, "W")}, r)


def _either_or(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    kinds = ("power", "memory", "memory bandwidth", "bandwidth", "compute rate", "mass", "latency")
    for listed in by_line(sheet.of(*kinds)).values():
        for first, second in pairwise(listed):
            if first.quantity == second.quantity and not near(first.printed_si, second.printed_si, 0.001) and _OR.search(at.of(second).before):
                yield Hit({"other": second.text}, first)


_RACK: Final = (
    "https://deploybase.ai/articles/nvidia-gb200-nvl72 (70 kW; its 72 GPUs alone take 86 kW)",
    "NVIDIA Mission Control: 135 kW planned for GB300",
)
RULES: tuple[Check, ...] = (
    Check("audit.power_below_parts", "error", _RACK, lambda sheet: (*_known_below(sheet), *_stated_below(sheet))),
    Check(
        "audit.supplies_as_draw", "warning",
        (
            "https://docs.nvidia.com/dgx/dgxb200-user-guide/introduction-to-dgxb200.html (6 x 3.3 kW of supplies, 14.3 kW maximum)",
            "https://docs.nvidia.com/base-command-manager/product-manuals/nvidia-mission-control/powershelf.md",
        ),
        _supplies,
    ),
    Check("audit.either_or", "question", ("https://introl.com/blog/why-nvidia-gb300-nvl72-blackwell-ultra-matters (120 or 132 kW)",), _either_or),
)  # fmt: skip

"""Accelerators x figure of one = figure of the node, the rack or the domain."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from tierspan.answers.audit.closing.amounts import agree, leeway, product, shown
from tierspan.answers.audit.closing.blocks import Block, blocks, part_of
from tierspan.answers.audit.closing.places import Spot, place_of, spot_of
from tierspan.answers.audit.closing.rule import ProductRule
from tierspan.answers.audit.closing.telltale import explained
from tierspan.answers.audit.rules.base import Sheet
from tierspan.quantities.findings import Finding
from tierspan.specs.reading import Reading

_WIDE: Final = ("node", "rack", "domain")
_TOTAL: Final = re.compile(
    r"total|aggregate|(?<!向)合计|总计|总(?!线)|整机|整柜|整[个台]|聚合|per\s+(?:node|server|rack|system)|combined|一共|共计", re.IGNORECASE
)
_BESIDE: Final = re.compile(r"[^=;；。:：\d]{0,40}[(（,，]\s*")
_ENDS: Final = re.compile(r"\s*(?:[)）;；。,，]|$)")
_ONE: Final = re.compile(r"单卡|每卡|每张卡|单颗|per\s+(?:GPU|NPU|accelerator|card|chip)|each\s+GPU", re.IGNORECASE)
_OTHER_MEMORY: Final = re.compile(r"host|system\s+memory|\bCPU|DDR|LPDDR|fast\s+memory|RAM\b|主机|内存(?!带宽)|系统", re.IGNORECASE)
_NOT_A_SUM: Final = re.compile(r"bisection|对分|all[\s-]?reduce|NVSwitch|交换", re.IGNORECASE)


def _look(sheet: Sheet) -> Iterator[Finding]:
    for block in blocks(sheet):
        yield from _written(sheet, block)
        for quantity in ("bandwidth", "memory bandwidth", "memory", "compute rate"):
            yield from _block(sheet, block, quantity)


def _block(sheet: Sheet, block: Block, quantity: str) -> Iterator[Finding]:
    readings = [r for r in block.of(quantity) if r.tier in ("scale-up", "memory", "")]
    spots = {id(r): spot_of(sheet, r) for r in readings}
    wholes = [r for r in readings if _is_whole(r, spots[id(r)])]
    ones = [r for r in readings if r.scope == "accelerator" and r not in wholes]
    for whole in wholes:
        fits = [one for one in ones if _comparable(one, whole)]
        counts = _counts(block, fits)
        if not fits or not counts or "=" in spots[id(whole)].before[-4:]:
            continue
        if any(_closes(n, one, whole) for n in counts for one in fits):
            continue
        one = fits[0]
        n = max(counts)
        yield Finding(
            "audit.total", "error",
            {
                "text": whole.text, "printed": shown(whole.printed_si, whole), "product": product(n, one),
                "why": explained(whole.printed_si, n * one.printed_si, whole.unit_si, accelerators=tuple(counts)),
            },
            place_of(whole),
        )  # fmt: skip


def _written(sheet: Sheet, block: Block) -> Iterator[Finding]:
    """A product written beside its total: ``7.2 TB/s (8 x 900 GB/s)``."""
    for line in block.lines():
        for whole, one in pairwise(line):
            if one.count <= 1 or whole.count != 1 or whole.quantity != one.quantity or whole.unit_si != one.unit_si or whole.quantity == "count":
                continue
            spot, other = spot_of(sheet, whole), spot_of(sheet, one)
            between = spot.text[spot.end : other.start]
            # watts of supplies and sums with more in them are no such pair
            if spot.text != other.text or not _BESIDE.fullmatch(between) or whole.quantity == "power" or not _ENDS.match(other.after):
                continue
            ratio = whole.printed_si / (one.count * one.printed_si)
            factors = [1.0]
            if whole.quantity == "bandwidth" and (whole.direction != one.direction or whole.status != "certain" or not whole.direction):
                factors += [0.5, 2.0]
            if any(agree(ratio, factor, leeway(one, whole)) for factor in factors):
                continue
            values = {
                "text": whole.text, "printed": shown(whole.printed_si, whole), "product": product(one.count, one),
                "why": explained(whole.printed_si, one.count * one.printed_si, whole.unit_si, accelerators=(one.count,)),
            }  # fmt: skip
            yield Finding("audit.total", "error", values, place_of(whole))


def _is_whole(reading: Reading, spot: Spot) -> bool:
    clause = f"{spot.head} {re.split(r'[,;，；。:：]', spot.before)[-1]} {re.split(r'[,;，；。(（]', spot.after)[0]}"
    if _NOT_A_SUM.search(f"{spot.head} {spot.before[-40:]} {spot.after[:24]}"):
        return False
    if reading.quantity == "memory" and _OTHER_MEMORY.search(f"{spot.head} {spot.before[-24:]} {spot.after[:24]}"):
        return False
    if reading.count != 1:
        return False
    if _ONE.search(clause):
        return False
    return reading.scope in _WIDE or (reading.scope in ("", "cluster", "accelerator") and bool(_TOTAL.search(clause)))


def _comparable(one: Reading, whole: Reading) -> bool:
    if one.file != whole.file or one.unit_si != whole.unit_si or one.printed_si >= whole.printed_si * 4:
        return False
    if whole.quantity == "compute rate":
        return bool(one.precision) and one.precision == whole.precision and (not one.density or not whole.density or one.density == whole.density)
    return whole.quantity != "bandwidth" or one.tier == whole.tier or not one.tier or not whole.tier


def _counts(block: Block, ones: list[Reading]) -> list[float]:
    stated = [r.printed_si for r in block.counted("gpu", "accelerator", "part") if r.printed_si > 1]
    stated += [r.count for r in ones if r.count > 1]
    if stated:
        return sorted(set(stated))
    part = next((p for r in block.readings if (p := part_of(r)) is not None and p.is_system), None)
    return sorted({float(n) for n in (part.node, part.accelerators, part.domain) if n > 1}) if part is not None else []


def _closes(count: float, one: Reading, whole: Reading) -> bool:
    ratio = whole.printed_si / (count * one.printed_si)
    spread = leeway(one, whole)
    if one.count > 1 and (one.file, one.line) == (whole.file, whole.line) and whole.quantity != "bandwidth":
        # the product is written out beside its total
        return agree(ratio, 1.0, spread)
    if whole.quantity == "bandwidth":
        if one.direction and one.direction == whole.direction:
            return agree(ratio, 1.0, spread)
        if one.direction and whole.direction:
            return agree(ratio, 2.0 if whole.direction == "both-directions" else 0.5, spread)
        return any(agree(ratio, factor, spread) for factor in (0.5, 1.0, 2.0))
    if whole.quantity == "compute rate" and one.density != whole.density:
        return any(agree(ratio, factor, spread) for factor in (0.5, 1.0, 2.0))
    # what a vendor rounds per card and in total differs by a little more for memory (186 and 192 GB)
    return agree(ratio, 1.0, spread + (0.03 if whole.quantity == "memory" else 0.0))


RULES = (
    ProductRule(
        "audit.total",
        "error",
        ("facts/README traps 4, 6, 24, 25 and conflicts 9, 14", "facts/README: generic checks, accelerators x per-accelerator"),
        _look,
    ),
)

"""NICs x rate = rate of the node; which of the NICs are for compute; whether the slot behind a NIC carries its rate."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from tierspan.answers.audit.closing.amounts import agree, leeway, number, product, shown
from tierspan.answers.audit.closing.blocks import Block, blocks, part_of
from tierspan.answers.audit.closing.places import Spot, line_of, place_of, same_length, spot_of
from tierspan.answers.audit.closing.rule import ProductRule
from tierspan.answers.audit.closing.telltale import explained
from tierspan.answers.audit.rules.base import Sheet
from tierspan.quantities.errors import InputError
from tierspan.quantities.findings import Finding
from tierspan.quantities.printing import format_quantity
from tierspan.quantities.qualifiers import split_qualifiers
from tierspan.specs.reading import Reading

_STORAGE: Final = re.compile(r"storage|存储", re.IGNORECASE)
_NIC: Final = re.compile(
    r"\bNICs?\b|network\s+cards?|\bHCAs?\b|\badapters?\b|网卡|ConnectX|\bCX-?\d|network_card|host_network|BlueField", re.IGNORECASE
)
_ROLE: Final = re.compile(r"(?<![\w.])(?P<n>\d{1,2})\s+(?:of\s+them\s+)?for\s+(?:the\s+)?(?P<role>compute|storage)", re.IGNORECASE)
_ROCE: Final = re.compile(r"\bRoCE|Infini\s?Band|\bIB\b", re.IGNORECASE)
_DUAL: Final = re.compile(r"dual[\s-]?port|twin[\s-]?port|2[\s-]?port|two[\s-]?port|双口|双端口|2口", re.IGNORECASE)
_SLOT: Final = re.compile(
    r"(?:PCI[\s-]?e?\s*)?Gen\s?(?P<g>[3-7])(?:\.0)?[\s,]*[x×]\s?(?P<n>\d{1,2})|PCI[\s-]?e?\s*(?P<g2>[3-7])(?:\.0)?[\s,]*[x×]\s?(?P<n2>\d{1,2})", re.I
)
_GENERATION: Final = re.compile(r"(?:PCI[\s-]?e?\s*)?Gen\s?([3-7])\b|PCI[\s-]?e?\s*([3-7])(?:\.0)?\b", re.IGNORECASE)
_WHOLE: Final = re.compile(r"per\s+(?:node|server|host)|total|aggregate|合计|整机|每台|总|单节点|每节点", re.IGNORECASE)


@cache
def _lanes() -> dict[int, tuple[float, float]]:
    """Raw and usable bytes a second of one lane each way, by generation."""
    with (Path(__file__).parents[1] / "closing" / "data" / "pcie.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {int(row["generation"]): (float(row["lane_Gbps"]) * 1e9 / 8, float(row["lane_Gbps"]) * float(row["coding"]) * 1e9 / 8) for row in rows}


def _totals(sheet: Sheet) -> Iterator[Finding]:
    for block in blocks(sheet):
        for line in block.lines():
            yield from _line_total(sheet, line)


def _line_total(sheet: Sheet, line: tuple[Reading, ...]) -> Iterator[Finding]:
    rates = [r for r in line if r.quantity == "bandwidth" and r.tier in ("scale-out", "storage", "")]
    rates = [r for r in rates if not _of_storage(r, spot_of(sheet, r)) or r.count == 1]
    if len(rates) != 2 or not _NIC.search(line_of(sheet, rates[0])):
        return
    one, whole = sorted(rates, key=lambda r: r.printed_si)
    spot = spot_of(sheet, whole)
    if whole.count != 1 or "=" in spot.text or whole.scope in ("nic", "port", "accelerator", "switch") or not _WHOLE.search(spot.text):
        return
    counts = [r for r in line if r.quantity == "count" and r.noun == "nic"]
    numbers = [r.printed_si for r in counts] + ([one.count] if one.count > 1 else [])
    storage = [r.printed_si for r in counts if _of_storage(r, spot_of(sheet, r))]
    for found in _ROLE.finditer(same_length(spot.text)):
        (storage if _STORAGE.search(found["role"]) else numbers).append(float(found["n"]))
    if not numbers:
        return
    rest = [n for n in numbers if n not in storage]
    if storage and len(rest) >= 2 and not any(n + s == m for i, n in enumerate(rest) for s in storage for j, m in enumerate(rest) if i != j):
        told = {"text": whole.text, "all": number(rest[0]), "compute": number(rest[1]), "storage": number(storage[0])}
        yield Finding("audit.nics.split", "error", {**told, "sum": number(rest[1] + storage[0])}, place_of(whole))
        return
    compute = rest or numbers
    split = [n for n in compute if any(n + s == m for s in storage for m in compute)]
    allowed = split or compute
    direction = _direction(spot.text)
    times = (1.0, 2.0) if direction == "both-directions" else (1.0,)
    spread = leeway(one, whole)
    if any(agree(whole.printed_si, t * n * one.printed_si, spread) for n in allowed for t in times):
        return
    n = max(allowed)
    values: dict[str, object] = {"text": whole.text, "printed": shown(whole.printed_si, whole), "product": product(n, one)}
    if split and agree(whole.printed_si, max(numbers) * one.printed_si, spread):
        yield Finding("audit.nics.storage_counted", "error", {**values, "storage": number(max(storage))}, place_of(whole))
        return
    yield Finding("audit.nics", "error", {**values, "why": explained(whole.printed_si, n * one.printed_si, "B/s")}, place_of(whole))


def _of_storage(reading: Reading, spot: Spot) -> bool:
    clause = re.split(r"[,;，；、。]", spot.before)[-1]
    return (
        reading.tier == "storage" or bool(_STORAGE.search(clause)) or bool(re.match(r"\s*(?:for\s+)?(?:storage|用于存储)", spot.after, re.IGNORECASE))
    )


def _direction(text: str) -> str:
    try:
        return split_qualifiers(text)[0].direction or ""
    except InputError:
        return ""


def _roles(sheet: Sheet) -> Iterator[Finding]:
    for block in blocks(sheet):
        accelerators = [r.printed_si for r in block.counted("gpu", "accelerator") if 1 < r.printed_si <= 20]
        part = next((p for r in block.readings if (p := part_of(r)) is not None), None)
        per_node = min(accelerators) if accelerators else float(part.node) if part is not None and part.node > 1 else 0.0
        if not per_node:
            continue
        for r in block.readings:
            line = line_of(sheet, r)
            if not _NIC.search(line) and not _ROCE.search(line):
                continue
            cards = r.count if r.quantity == "bandwidth" and r.tier == "scale-out" and r.count > 1 else 0.0
            if r.quantity == "count" and r.noun == "nic":
                cards = r.printed_si
            if not (1 < cards <= 20) or _of_storage(r, spot_of(sheet, r)):
                continue
            spare = [x.count for x in block.readings if x.quantity == "bandwidth" and x.count > 1 and _of_storage(x, spot_of(sheet, x))]
            spot = spot_of(sheet, r)
            compute = re.match(r"\s*(?:for\s+)?compute", spot.after, re.IGNORECASE) or re.search(r"计算\s*$", spot.before)
            if compute and cards - per_node in spare:
                told = {"text": r.text, "storage": number(cards - per_node), "printed": number(cards)}
                yield Finding(
                    "audit.nics.storage_counted",
                    "error",
                    {**told, "product": f"{number(cards)} - {number(cards - per_node)} = {number(per_node)}"},
                    place_of(r),
                )
                continue
            values = {"text": r.text, "nics": number(cards), "accelerators": number(per_node), "rest": number(cards - per_node)}
            if cards > per_node and cards % per_node and not _STORAGE.search(block.text):
                yield Finding("audit.nics.roles", "question", values, place_of(r))
            elif _DUAL.search(line):
                yield Finding("audit.nics.dual", "question", values, place_of(r))
            elif cards < per_node and per_node % cards == 0:
                yield Finding("audit.nics.shared", "info", {**values, "share": number(per_node / cards)}, place_of(r))


def _slots(sheet: Sheet) -> Iterator[Finding]:
    for block in blocks(sheet):
        yield from _slot_rates(sheet, block)
        for line in block.lines():
            text = line_of(sheet, line[0])
            slot = _SLOT.search(text)
            nic = next((r for r in line if r.quantity == "bandwidth" and r.tier == "scale-out" and r.count <= 20), None)
            if slot is None or nic is None or not _NIC.search(text):
                continue
            generation, lanes = int(slot["g"] or slot["g2"]), int(slot["n"] or slot["n2"])
            usable = _lanes()[generation][1] * lanes
            if usable < 0.97 * nic.printed_si:
                values = {
                    "text": nic.text, "slot": f"PCIe Gen{generation} x{lanes}", "usable": format_quantity(usable, "B/s", bits=True),
                    "need": _smallest(nic.printed_si),
                }  # fmt: skip
                yield Finding("audit.pcie.nic", "error", values, place_of(nic))


def _smallest(rate_Bps: float) -> str:
    for generation, (_, usable) in sorted(_lanes().items()):
        if usable * 16 >= 0.97 * rate_Bps:
            return f"PCIe Gen{generation} x16"
    return "PCIe Gen7 x16"


def _slot_rates(sheet: Sheet, block: Block) -> Iterator[Finding]:
    for r in block.of("bandwidth"):
        if r.tier != "host":
            continue
        spot = spot_of(sheet, r)
        text = f"{spot.head} {spot.before}"
        slots = list(_SLOT.finditer(text))
        generations = list(_GENERATION.finditer(text))
        if not generations:
            continue
        generation = int(generations[-1][1] or generations[-1][2])
        lanes = int(slots[-1]["n"] or slots[-1]["n2"]) if slots and slots[-1].end() >= generations[-1].end() else 16
        raw, usable = (rate * lanes for rate in _lanes()[generation])
        stated = _direction(f"{spot.before[-28:]}|{spot.after[:32]}") and r.direction
        each = r.printed_si * (0.5 if stated == "both-directions" else 1.0)
        ways = (1.0,) if stated else (1.0, 2.0)
        count = r.count if r.count > 1 else 1.0
        if any(0.84 * way * usable <= each <= 1.02 * way * raw for way in ways) or count > 1 or each > 8 * raw:
            continue
        values = {
            "text": r.text, "slot": f"PCIe Gen{generation} x{lanes}", "usable": format_quantity(usable, "B/s"),
            "both": format_quantity(2 * usable, "B/s"),
            "why": explained(each, usable, "B/s", links=float(lanes)),
        }  # fmt: skip
        yield Finding("audit.pcie", "error", values, place_of(r))


def _nics(sheet: Sheet) -> Iterator[Finding]:
    yield from _totals(sheet)
    yield from _roles(sheet)


RULES = (
    ProductRule("audit.nics", "error", ("facts/README traps 6, 15, 16, 17, 18", "facts/README: generic checks"), _nics),
    ProductRule("audit.pcie", "error", ("facts/README trap 12",), _slots),
)

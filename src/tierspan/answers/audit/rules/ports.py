"""Ports x rate of a port = capacity of a switch, in one direction or in both."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tierspan.answers.audit.closing.amounts import agree, leeway, number, product, shown
from tierspan.answers.audit.closing.blocks import Block, blocks
from tierspan.answers.audit.closing.places import Spot, place_of, spot_of
from tierspan.answers.audit.closing.rule import ProductRule
from tierspan.answers.audit.closing.telltale import explained
from tierspan.answers.audit.rules.base import Sheet
from tierspan.quantities.errors import InputError
from tierspan.quantities.findings import Finding
from tierspan.quantities.qualifiers import split_qualifiers
from tierspan.specs.reading import Reading

_CAPACITY: Final = re.compile(r"switch(?!es\b)|switching|capacity|throughput|容量|交换|吞吐", re.IGNORECASE)
_INFINIBAND: Final = re.compile(r"Quantum|Infini\s?Band|\bIB\b", re.IGNORECASE)


def _look(sheet: Sheet) -> Iterator[Finding]:
    for block in blocks(sheet):
        for line in block.lines():
            yield from _line(sheet, block, line)


def _line(sheet: Sheet, block: Block, line: tuple[Reading, ...]) -> Iterator[Finding]:
    rates = [r for r in line if r.quantity == "bandwidth" and r.tier in ("scale-out", "")]
    spots = {id(r): spot_of(sheet, r) for r in rates}
    ports = [r for r in rates if r.scope == "port" or r.count > 1 or re.match(r"\s*(?:ports?|端口|口)", spots[id(r)].after)]
    wholes = [r for r in rates if r.count == 1 and r not in ports and r.printed_si >= 1e11 and _is_capacity(r, spots[id(r)])]
    if len(wholes) == 1 and not ports:
        ports = [r for r in rates if r not in wholes and 4 * r.printed_si < wholes[0].printed_si]
    if len(wholes) != 1 or len(ports) != 1:
        return
    whole, port = wholes[0], ports[0]
    stated = _direction(spots[id(whole)])
    counts = [r.printed_si for r in line if r.quantity == "count" and r.noun == "port" and r.printed_si > 1] + (
        [port.count] if port.count > 1 else []
    )
    if not counts:
        times = whole.printed_si / port.printed_si
        if agree(times, round(times), leeway(whole, port)) and not stated and times >= 8:
            values = {"text": whole.text, "port": shown(port.printed_si, port), "number": number(round(times)), "half": number(round(times) / 2)}
            yield Finding("audit.ports.count", "question", values, place_of(whole))
        return
    if "=" in spots[id(whole)].text:
        return
    ratio = whole.printed_si / (max(counts) * port.printed_si)
    spread = leeway(whole, port)
    wanted = {"per-direction": 1.0, "both-directions": 2.0}.get(stated)
    if agree(ratio, wanted or 1.0, spread):
        return
    values = {"text": whole.text, "printed": shown(whole.printed_si, whole), "product": product(max(counts), port)}
    if wanted is None and agree(ratio, 2.0, spread):
        known = _INFINIBAND.search(f"{spots[id(whole)].text} {block.text}")
        yield Finding("audit.ports.both", "info" if known else "warning", values, place_of(whole))
        return
    values["why"] = explained(whole.printed_si, (wanted or 1.0) * max(counts) * port.printed_si, "B/s")  # type: ignore[assignment]
    yield Finding("audit.ports", "error", values, place_of(whole))


def _is_capacity(reading: Reading, spot: Spot) -> bool:
    return reading.scope == "switch" or bool(_CAPACITY.search(f"{spot.head} {spot.before[-24:]} {spot.after[:24]}"))


def _direction(spot: Spot) -> str:
    try:
        found, _ = split_qualifiers(f"{spot.head} {spot.text}")
    except InputError:
        return ""
    return found.direction or ""


RULES = (ProductRule("audit.ports", "error", ("facts/README traps 9, 13, 15", "facts/README: generic checks, switch Tb/s / ports"), _look),)

"""Racks: what they are made of, and how many servers they hold; servers x cards = all cards."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final

from tierspan.answers.audit.closing.amounts import agree, number, shown
from tierspan.answers.audit.closing.places import place_of, same_length
from tierspan.answers.audit.closing.rule import ProductRule
from tierspan.answers.audit.rules.base import Sheet
from tierspan.quantities.errors import Place
from tierspan.quantities.findings import Finding
from tierspan.specs.reading import Reading

_RACK: Final = r"(?:racks?|cabinets?|个?机?柜)"
_KIND: Final = r"(?:compute|computing|network|networking|switch|UB|bus|fabric|GPU|NPU|storage|计算|网络|交换|总线|互[联连])"
_SUM: Final = (
    re.compile(
        rf"(?P<whole>\d+)\s?{_RACK}[^.;。；\d]{{0,24}}?(?P<a>\d+)\s?{_KIND}\s?{_RACK}?s?\s*(?:\+|and|plus|,|，|和|、|加|与)+\s*(?P<b>\d+)\s?{_KIND}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?P<whole>\d+)\s?{_RACK}[^.;。；\d]{{0,24}}?{_KIND}\s?{_RACK}\s?(?P<a>\d+)\s?[个台]?\s*[+，,、和与]+\s*{_KIND}\s?{_RACK}\s?(?P<b>\d+)",
        re.IGNORECASE,
    ),
)
_WANTED: Final = re.compile(r"want|need|plan|place|install|deploy|put|拟|需|部署|放置|安装|采购", re.IGNORECASE)


def _sums(sheet: Sheet) -> Iterator[Finding]:
    for document in sheet.documents:
        for line in document.lines:
            for pattern in _SUM:
                for m in pattern.finditer(same_length(line.text)):
                    whole, a, b = (float(m[name]) for name in ("whole", "a", "b"))
                    if whole != a + b:
                        values = {"text": m[0], "printed": number(whole), "should": number(a + b), "arithmetic": f"{a:g} + {b:g} = {a + b:g}"}
                        yield Finding("audit.racks.sum", "error", values, Place(file=document.name, line=line.number))


def _held(sheet: Sheet) -> Iterator[Finding]:
    for name in dict.fromkeys(r.file for r in sheet.readings):
        readings = [r for r in sheet.readings if r.file == name]
        racks = [r for r in readings if r.quantity == "count" and r.noun == "rack"]
        each = [r for r in readings if r.quantity == "power" and r.scope == "rack" and r.count == 1]
        servers = [r for r in readings if r.quantity == "count" and r.noun == "node"]
        draws = [
            r for s in servers for r in readings if r.quantity == "power" and r.line == s.line and r.column > s.column and r.scope in ("node", "")
        ]
        if len(racks) == len(each) == len(servers) == 1 and len(draws) == 1:
            yield from _fit(racks[0], each[0], servers[0], draws[0])


def _fit(racks: Reading, rack: Reading, servers: Reading, server: Reading) -> Iterator[Finding]:
    each = math.floor(rack.printed_si / server.printed_si + 1e-9)
    held = each * racks.printed_si
    if held >= servers.printed_si:
        return
    values = {
        "text": servers.text, "rack": shown(rack.printed_si, rack), "server": shown(server.printed_si, server), "each": number(each),
        "racks": number(racks.printed_si), "held": number(held), "servers": number(servers.printed_si),
        "needed": number(math.ceil(servers.printed_si / each)) if each else "∞",
        "sum": f"{number(servers.printed_si)} x {shown(server.printed_si, server)} = {shown(servers.printed_si * server.printed_si, server)}",
        "room": f"{number(racks.printed_si)} x {shown(rack.printed_si, rack)} = {shown(racks.printed_si * rack.printed_si, rack)}",
    }  # fmt: skip
    yield Finding("audit.racks.servers", "error", values, place_of(servers))


def _cards(sheet: Sheet) -> Iterator[Finding]:
    for key in dict.fromkeys((r.file, r.line) for r in sheet.readings):
        line = [r for r in sheet.readings if (r.file, r.line) == key and r.quantity == "count"]
        whole = [r for r in line if r.noun in ("gpu", "accelerator", "part") and r.count == 1 and r.printed_si > 20]
        parts = [r for r in line if r.noun in ("gpu", "accelerator") and r.count > 1 and r.printed_si <= 20]
        if len(whole) != 1 or len(parts) != 1 or any("=" in r.text for r in line):
            continue
        one = parts[0]
        if not agree(whole[0].printed_si, one.count * one.printed_si, 0.002):
            values = {
                "text": whole[0].text, "printed": number(whole[0].printed_si), "should": number(one.count * one.printed_si),
                "arithmetic": f"{number(one.count)} x {number(one.printed_si)} = {number(one.count * one.printed_si)}",
            }  # fmt: skip
            yield Finding("audit.racks.cards", "error", values, place_of(whole[0]))


def _look(sheet: Sheet) -> Iterator[Finding]:
    yield from _sums(sheet)
    yield from _held(sheet)
    yield from _cards(sheet)


RULES = (ProductRule("audit.racks", "error", ("facts/README traps 40, 41, 42, 43", "cases/inputs/spec_en/dc_power_wish.txt"), _look),)

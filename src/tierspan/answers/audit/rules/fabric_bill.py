"""A bill of leaf, spine and core switches must close: ports up against ports of the spines, ports down against endpoints, totals, blocking."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final

from tierspan.answers.audit.closing.amounts import number
from tierspan.answers.audit.closing.bill import Bill, bills
from tierspan.answers.audit.closing.places import place_of
from tierspan.answers.audit.closing.rule import ProductRule
from tierspan.answers.audit.rules.base import Sheet
from tierspan.quantities.findings import Finding

_RADIXES: Final = (32, 36, 40, 48, 64, 72, 80, 96, 128, 144, 256, 512)
_NONBLOCKING: Final = re.compile(r"non[\s-]?blocking|无阻塞|无收敛|full[\s-]bisection|rail[\s-]optimi[sz]ed\s+1:1", re.IGNORECASE)


def _look(sheet: Sheet) -> Iterator[Finding]:
    for bill in bills(sheet):
        yield from _spines(bill)
        yield from _endpoints(bill)
        yield from _blocking(bill)
        yield from _totals(bill)


def _spines(bill: Bill) -> Iterator[Finding]:
    leaf, spine = bill.leaf, bill.spine
    if leaf is None or spine is None or not (leaf.count and leaf.up and spine.count and spine.ports):
        return
    up = leaf.count * leaf.up
    # where core switches stand above, half of the spines' ports lead there
    ports = spine.count * spine.ports * (0.5 if bill.core is not None and bill.core.count else 1.0)
    if ports >= up * 0.999:
        return
    larger = next((r for r in _RADIXES if spine.count * r >= up), None)
    more = math.ceil(up / spine.ports)
    values = {
        "text": spine.reading.text, "uplinks": f"{number(leaf.count)} x {number(leaf.up)} = {number(up)}",
        "ports": f"{number(spine.count)} x {number(spine.ports)} = {number(spine.count * spine.ports)}",
        "larger": f"{number(spine.count)} x {larger}" if larger else f"{number(more)} x {number(spine.ports)}",
        "more": f"{number(more)} x {number(spine.ports)}",
    }  # fmt: skip
    yield Finding("audit.bill.spine", "error", values, place_of(spine.reading))


def _endpoints(bill: Bill) -> Iterator[Finding]:
    leaf = bill.leaf
    if leaf is None or not (leaf.count and leaf.down and bill.endpoints):
        return
    down = leaf.count * leaf.down
    values = {
        "text": leaf.reading.text, "down": f"{number(leaf.count)} x {number(leaf.down)} = {number(down)}", "endpoints": number(bill.endpoints),
        "needed": number(math.ceil(bill.endpoints / leaf.down)),
    }  # fmt: skip
    if down < bill.endpoints * 0.999:
        yield Finding("audit.bill.endpoints", "error", values, place_of(leaf.reading))
    elif down >= 2 * bill.endpoints:
        yield Finding("audit.bill.spare", "info", values, place_of(leaf.reading))


def _blocking(bill: Bill) -> Iterator[Finding]:
    leaf = bill.leaf
    if leaf is None or not (leaf.down and leaf.up):
        return
    actual = leaf.down / leaf.up
    spelled = {"down": number(leaf.down), "up": number(leaf.up), "ratio": f"{actual:.3g}:1"}
    for r in bill.ratios:
        printed = r.printed_si
        if abs(printed / actual - 1) < 0.02:
            continue
        values = {"text": r.text, **spelled}
        if abs(printed * actual - 1) < 0.02:
            yield Finding("audit.bill.direction", "warning", values, place_of(r))
        else:
            yield Finding("audit.bill.ratio", "error", values, place_of(r))
    if not bill.ratios and actual > 1.02 and _NONBLOCKING.search(bill.text):
        yield Finding("audit.bill.ratio", "error", {"text": _NONBLOCKING.search(bill.text)[0], **spelled}, place_of(leaf.reading))  # type: ignore[index]


def _totals(bill: Bill) -> Iterator[Finding]:
    stages = [s for s in (bill.leaf, bill.spine, bill.core) if s is not None and s.count]
    if bill.total is None or len(stages) < 2:
        return
    one = sum(s.count for s in stages)
    printed = bill.total.printed_si
    names = " + ".join(number(s.count) for s in stages)
    if bill.pods > 1 and bill.per_pod:
        arithmetic = f"{number(bill.pods)} x ({names}) = {number(bill.pods * one)}"
        good = printed == bill.pods * one
    else:
        arithmetic = f"{names} = {number(one)}"
        good = printed == one or (bill.pods > 1 and printed == bill.pods * one)
    values = {"text": bill.total.text, "arithmetic": arithmetic, "printed": number(printed)}
    yield Finding("audit.bill.closes" if good else "audit.bill.total", "info" if good else "error", values, place_of(bill.total))


RULES = (
    ProductRule(
        "audit.bill",
        "error",
        ("cases/inputs/spec_en/quote_1024gpu_fabric.txt", "cases/inputs/spec_zh/fabric_512.txt", "facts/README: generic checks"),
        _look,
    ),
)

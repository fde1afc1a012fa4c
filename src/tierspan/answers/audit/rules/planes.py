"""Bandwidth of separate networks does not add: UB + RDMA + VPC, NVLink + InfiniBand."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from tierspan.answers.audit.closing.amounts import agree, rounding, shown
from tierspan.answers.audit.closing.blocks import blocks
from tierspan.answers.audit.closing.places import place_of
from tierspan.answers.audit.closing.rule import ProductRule
from tierspan.answers.audit.rules.base import Sheet
from tierspan.quantities.findings import Finding
from tierspan.specs.reading import Reading

_PLANES = ("scale-up", "scale-out", "management", "storage", "host", "memory")


def _look(sheet: Sheet) -> Iterator[Finding]:
    for block in blocks(sheet):
        rates = [r for r in block.of("bandwidth", "memory bandwidth") if r.printed_si > 0]
        for whole in rates:
            parts = [
                r
                for r in rates
                if r is not whole and r.tier in _PLANES and r.printed_si * r.count < whole.printed_si and abs(r.line - whole.line) <= 3
            ]
            found = _sum(whole, parts)
            if found:
                names = " + ".join(f"{r.tier} {shown(r.printed_si * r.count, r)}" for r in found)
                values = {"text": whole.text, "arithmetic": f"{names} = {shown(whole.printed_si, whole)}"}
                yield Finding("audit.planes", "error", values, place_of(whole))


def _sum(whole: Reading, parts: list[Reading]) -> tuple[Reading, ...]:
    for size in (2, 3):
        for chosen in combinations(parts[:8], size):
            tiers = {r.tier for r in chosen}
            if len(tiers) != size or ("scale-up" not in tiers and "scale-out" not in tiers):
                continue
            for basis in ([r.printed_si * r.count for r in chosen], [r.printed_si * r.count * _two_way(r) for r in chosen]):
                # the smallest must matter more than rounding does, or the whole is simply the largest one
                exact = agree(whole.printed_si, sum(basis), 0.004) and min(basis) > 0.03 * whole.printed_si
                near = agree(whole.printed_si, sum(basis), 0.004 + rounding(whole)) and min(basis) > 3 * (0.004 + rounding(whole)) * whole.printed_si
                if exact or near:
                    return chosen
    return ()


def _two_way(reading: Reading) -> float:
    return 2.0 if reading.direction == "per-direction" else 1.0


RULES = (
    ProductRule("audit.planes", "error", ("facts/README traps 7, 16, 17", "facts/scaleup_fabrics: UB, RDMA and VPC planes of CloudMatrix384"), _look),
)

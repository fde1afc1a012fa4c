"""The capacity limit of each part: accelerators of a domain, memory and dense peak of one and of all, racks, hosts, medium of the links."""

from __future__ import annotations

from collections.abc import Sequence

from tierspan.answers.catalog_compare.rows import Cell, ComparedRow, Side, cell, row
from tierspan.quantities.facts import Fact

PRECISIONS = ("bf16", "fp16", "fp8", "fp4", "int8")
_BOTH_UNITS = ("cube + vector", "cube+vector")


def rows(sides: Sequence[Side]) -> list[ComparedRow]:
    """All rows; sums over a domain count each accelerator once and pool nothing."""
    made = [
        row("domain_size", "capacity", "1", sides, lambda side: cell(_domain(side), float(side.domain))),
        row("accelerator_memory", "capacity", "B", sides, lambda side: cell(side.of_card("memory"))),
        row("domain_memory", "capacity", "B", sides, lambda side: Cell(side.domain * side.card.memory_bytes, mark="derived")),
    ]
    for precision in told_precisions(sides):
        made += [_peak(sides, precision), _domain_peak(sides, precision)]
    made += [
        row("unit_accelerators", "capacity", "1", sides, lambda side: Cell(float(side.system.unit_accelerators))),
        row("racks", "capacity", "1", sides, lambda side: cell(side.of_system("racks"))),
        row("host_cpus_an_accelerator", "capacity", "1", sides, _host_share),
        row("scale_up_medium", "capacity", "", sides, lambda side: cell(side.of_system("scale_up_medium"))),
    ]
    return [one for one in made if one is not None]


def told_precisions(sides: Sequence[Side]) -> list[str]:
    """Precisions in which at least one part has a peak; FP16 only where a part has no BF16."""
    found = [name for name in PRECISIONS if any(side.peak(name) is not None for side in sides)]
    return [name for name in found if name != "fp16" or any(side.peak("bf16") is None for side in sides)]


def peak_cell(side: Side, precision: str, times: float = 1.0) -> Cell:
    """The dense peak of a part in one precision and no other."""
    fact = side.of_card(f"peak_flops.{precision}")
    return Cell(None) if fact is None else cell(fact, fact.value * times)


def _peak(sides: Sequence[Side], precision: str) -> ComparedRow | None:
    return row(
        f"accelerator_peak.{precision}",
        "capacity",
        "FLOP/s",
        sides,
        lambda side: peak_cell(side, precision),
        basis=units_counted,
        refusal="catalog_compare.peak_units",
    )


def _domain_peak(sides: Sequence[Side], precision: str) -> ComparedRow | None:
    return row(
        f"domain_peak.{precision}",
        "capacity",
        "FLOP/s",
        sides,
        lambda side: peak_cell(side, precision, side.domain),
        basis=units_counted,
        refusal="catalog_compare.peak_units",
    )


def units_counted(one: Cell) -> str:
    """Which units a dense peak counts: matrix units alone, or the vector units beside them."""
    return "matrix and vector units" if any(words in one.basis + one.note for words in _BOTH_UNITS) else "matrix units"


def _domain(side: Side) -> Fact | None:
    return next((fact for fact in side.system.tiers[0].facts if fact.key == "domain_size"), None)


def _host_share(side: Side) -> Cell:
    hosts = side.of_system("host_cpus")
    named = side.of_system("host_cpu")
    if hosts is None:
        return Cell(None)
    return Cell(hosts.value / side.system.unit_accelerators, "", named.original if named else hosts.basis, "", hosts.source.mark)

"""Power, cooling and what the room must carry, of each part."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tierspan.answers.catalog_compare.capacity import peak_cell, told_precisions, units_counted
from tierspan.answers.catalog_compare.rows import Cell, ComparedRow, Side, cell, row
from tierspan.quantities.facts import Fact

_WORDS: Final = (
    ("estimate", r"\bestimate"),
    ("planning budget", r"\bplanning\b"),
    ("nominal", r"\bnominal\b"),
    ("maximum", r"\bmaximum\b|\bmax\b"),
    ("board power", r"\bboard power\b|\bTBP\b"),
    ("TDP", r"\bTDP\b"),
)
"""What a power figure counts, by the words of its basis; the first that is found holds."""


def rows(sides: Sequence[Side]) -> list[ComparedRow]:
    """Power of one accelerator and of the unit, per rack, per watt in one precision; cooling, weight, supply."""
    refusal = "catalog_compare.power_basis"
    made = [
        row("accelerator", "power", "W", sides, lambda side: cell(side.of_card("power")), basis=power_word, refusal=refusal),
        row("unit", "power", "W", sides, lambda side: cell(side.of_system("unit_power")), basis=power_word, refusal=refusal),
        row("unit_an_accelerator", "power", "W", sides, _share, basis=power_word, refusal=refusal),
        row("rack", "power", "W", sides, _rack, basis=power_word, refusal=refusal),
    ]
    common = [name for name in told_precisions(sides) if all(side.peak(name) is not None for side in sides)]
    made += [_peak_a_watt(sides, precision) for precision in common[:1]]
    made += [
        row("cooling", "power", "", sides, lambda side: cell(side.of_system("cooling"))),
        row("weight", "power", "kg", sides, lambda side: cell(side.of_system("weight"))),
        row("supply_voltage", "power", "", sides, lambda side: cell(side.of_system("supply_voltage"))),
        row("busbar_current", "power", "A", sides, lambda side: cell(side.of_system("busbar_current"))),
    ]
    return [one for one in made if one is not None]


def _peak_a_watt(sides: Sequence[Side], precision: str) -> ComparedRow | None:
    return row(
        f"peak_a_watt.{precision}",
        "power",
        "FLOP/s/W",
        sides,
        lambda side: _per_watt(side, precision),
        basis=_power_and_units,
        refusal="catalog_compare.power_basis",
    )


def _power_and_units(one: Cell) -> str:
    word = power_word(one)
    return word if word == "not stated" else f"{word}, {units_counted(one)}"


def power_word(one: Cell) -> str:
    """What a power figure counts, as one word: maximum, nominal, TDP ...; ``not stated`` where the source leaves it open."""
    return word_of(f"{one.basis} {one.note}")


def word_of(text: str) -> str:
    """The same of a text."""
    return next((word for word, pattern in _WORDS if re.search(pattern, text, re.IGNORECASE)), "not stated")


def _share(side: Side) -> Cell:
    unit = side.of_system("unit_power")
    return Cell(None) if unit is None else cell(unit, unit.value / side.system.unit_accelerators)


def _rack(side: Side) -> Cell:
    unit, racks = side.of_system("unit_power"), side.of_system("racks")
    return Cell(None) if unit is None or racks is None else cell(unit, unit.value / racks.value)


def _per_watt(side: Side, precision: str) -> Cell:
    """Dense peak over the power of the whole unit, accelerators, hosts, switches and fans included."""
    unit, peak = side.of_system("unit_power"), peak_cell(side, precision, side.system.unit_accelerators)
    if unit is None or peak.value is None:
        return Cell(None)
    return Cell(peak.value / unit.value, "", _joined(unit, peak.basis), unit.note, unit.source.mark)


def _joined(unit: Fact, peak: str) -> str:
    return f"{unit.basis}; {peak}"

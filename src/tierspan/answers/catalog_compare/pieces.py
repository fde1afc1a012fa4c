"""Fabrics, networks, switches, modules, cables and fibres side by side: what their sources tell, compared where the basis is the same to the word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tierspan.answers.catalog_compare.rows import Cell, ComparedRow, Dimension, cell, row
from tierspan.quantities.facts import Fact
from tierspan.specs.catalog import Part

_FIRST: Final = ("openness", "backers", "status", "memory_semantics", "in_network_reduction", "topology", "phy", "link_layer", "transport", "medium")
_ORDER: Final[tuple[Dimension, ...]] = ("nature", "bandwidth", "latency", "capacity", "power")
_OF_UNIT: Final[dict[str, Dimension]] = {
    "text": "nature",
    "B/s": "bandwidth",
    "s": "latency",
    "s/m": "latency",
    "W": "power",
    "A": "power",
    "V": "power",
}


def rows(parts: Sequence[Part]) -> tuple[ComparedRow, ...]:
    """A row for every fact that one of the parts has, words first; a key that means two quantities makes two rows."""
    keys: dict[tuple[str, str], None] = dict.fromkeys((key, "text") for key in _FIRST)
    keys |= dict.fromkeys((fact.key, fact.unit) for part in parts for fact in part.facts if fact.used)
    made = [_row(parts, key, unit) for key, unit in keys]
    told = [one for one in made if one is not None]
    return tuple(sorted(told, key=lambda one: _ORDER.index(one.dimension)))


def _row(parts: Sequence[Part], key: str, unit: str) -> ComparedRow | None:
    dimension = _OF_UNIT.get(unit, "capacity")
    shown = "" if unit == "text" else unit
    basis = None if unit == "text" else _basis
    return row(key, dimension, shown, parts, lambda part: cell(_fact(part, key, unit)), basis=basis, refusal="catalog_compare.basis")


def _fact(part: Part, key: str, unit: str) -> Fact | None:
    return next((fact for fact in part.facts if (fact.key, fact.unit) == (key, unit) and fact.used), None)


def _basis(one: Cell) -> str:
    return one.basis or "not stated"

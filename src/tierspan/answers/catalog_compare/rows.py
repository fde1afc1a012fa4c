"""A side of the comparison, and a row of it: values on one basis, or the reason why they are not compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar

from tierspan.quantities.facts import Fact
from tierspan.specs.hardware import Accelerator, System

Dimension = Literal["nature", "bandwidth", "latency", "capacity", "power"]
_OPEN = frozenset({"assumed", "not stated"})
"""Words of a basis that leaves open what is counted: even two of them are not compared."""
_TOLD = ("bandwidth", "unit_power", "weight", "pooled_memory", "power", "memory", "memory_bandwidth", "busbar_current", "racks")


class Named(Protocol):
    """What a row needs of a part: its id."""

    @property
    def id(self) -> str:
        """Its id in the catalogue."""
        ...


N = TypeVar("N", bound=Named)


@dataclass(frozen=True, slots=True)
class Side:
    """One part: its accelerator, and the system whose tiers, racks and power are told."""

    id: str
    kind: Literal["accelerator", "system"]
    card: Accelerator
    system: System
    assumed: str = ""

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Every figure of the accelerator, the system and its tiers."""
        return (*self.card.facts, *self.system.facts, *(fact for tier in self.system.tiers for fact in tier.facts))

    def peak(self, precision: str) -> float | None:
        """Dense peak of one accelerator in FLOP/s, ``None`` where no sheet names one."""
        return self.card.peak_flops.get(precision)

    def of_card(self, key: str) -> Fact | None:
        """The figure of the accelerator that is used."""
        return _used(self.card.facts, key)

    def of_system(self, key: str) -> Fact | None:
        """The figure of the system that is used."""
        return _used(self.system.facts, key)

    @property
    def domain(self) -> int:
        """Accelerators in one scale-up domain."""
        return self.system.tiers[0].domain_size or self.system.unit_accelerators

    def conflicts(self) -> Iterator[tuple[str, str, str]]:
        """Key, reading taken and readings refused of the figures compared here about which sources disagree."""
        for listed in (self.card.facts, self.system.facts, *(tier.facts for tier in self.system.tiers)):
            for fact in listed:
                if fact.used and fact.conflict and (fact.key in _TOLD or fact.key.startswith("peak_flops.")):
                    others = [other.original.removesuffix(" per 1") for other in listed if other.key == fact.key and not other.used]
                    yield fact.key.replace("_", " "), fact.original, ", ".join(dict.fromkeys(others))


@dataclass(frozen=True, slots=True)
class Cell:
    """A value of one part, SI in the unit of its row; ``None`` is unknown. ``text`` stands where the value is words.

    ``ratio`` is the value over that of the first part, ``None`` where either is unknown or the two are not compared.
    """

    value: float | None
    text: str = ""
    basis: str = ""
    note: str = ""
    mark: str = ""
    ratio: float | None = None


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One figure over all parts. ``refused`` is the message that says why the parts are not compared ("" = they are)."""

    id: str
    dimension: Dimension
    unit: str
    cells: tuple[Cell, ...]
    refused: str = ""
    values: Mapping[str, object] = field(default_factory=dict)


def cell(fact: Fact | None, value: float | None = None) -> Cell:
    """A fact as a cell, with another value where that is derived from it."""
    if fact is None:
        return Cell(value)
    if fact.is_text:
        return Cell(None, fact.original, fact.basis, fact.note, fact.source.mark)
    return Cell(fact.value if value is None else value, "", fact.basis, fact.note, fact.source.mark)


def row(
    name: str,
    dimension: Dimension,
    unit: str,
    sides: Sequence[N],
    found: Callable[[N], Cell],
    *,
    basis: Callable[[Cell], str] | None = None,
    refusal: str = "",
) -> ComparedRow | None:
    """The row of a figure; ``None`` where no part has it.

    Args:
        name: id of the row inside its dimension.
        dimension: which of the tables it stands in.
        unit: SI unit of the values.
        sides: the parts.
        found: the cell of a part.
        basis: what a value counts, as a word; values whose words differ, or leave it open, are not compared.
        refusal: the message that says so, with the words in ``{bases}``.
    """
    cells = [found(side) for side in sides]
    if all(one.value is None and not one.text for one in cells):
        return None
    refused, values = "", dict[str, object]()
    if basis is not None:
        bases = {side.id: basis(one) for side, one in zip(sides, cells, strict=True) if one.value is not None}
        if len(bases) > 1 and (len(set(bases.values())) > 1 or not _OPEN.isdisjoint(bases.values())):
            refused, values = refusal, {"bases": bases}
    first = cells[0].value
    if not refused and first:
        cells = [cells[0], *(_with_ratio(one, first) for one in cells[1:])]
    return ComparedRow(f"{dimension}.{name}", dimension, unit, tuple(cells), refused, values)


def _with_ratio(one: Cell, first: float) -> Cell:
    if one.value is None:
        return one
    return Cell(one.value, one.text, one.basis, one.note, one.mark, one.value / first)


def _used(listed: Sequence[Fact], key: str) -> Fact | None:
    return next((fact for fact in listed if fact.key == key and fact.used), None)

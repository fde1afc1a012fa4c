"""Everything of the catalogue that is neither an accelerator nor a system: fabrics, networks, switches, optics, cables, fibres.

Each is a list of facts, words and numbers alike, from ``kinds/<kind>.csv`` and from users' own files. The kind ``unverified`` holds accelerators and
systems whose figures no source supports well enough: they are told, and nothing takes them.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from tierspan.quantities.errors import Place, UnknownNameError
from tierspan.quantities.facts import Fact
from tierspan.specs.catalog.names import folded
from tierspan.specs.catalog.tables import Row, fact_of, own_tables, remembered
from tierspan.specs.hardware import Tier

KINDS: Final = ("fabric", "network", "switch", "optics", "cable", "fibre", "unverified")
FOLDER: Final = Path(__file__).parent / "kinds"
OWN_TABLE: Final = "parts"
"""Name of the users' own rows; each carries its ``kind`` beside the columns of a fact."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part and its facts; those with ``used`` are what is told of it, the others disagree or are not trusted."""

    id: str
    kind: str
    name: str
    owner: str
    facts: tuple[Fact, ...]

    def words(self, key: str) -> str:
        """The words of a fact, "" where nothing is known."""
        return next((fact.original for fact in self.facts if fact.key == key and fact.used and fact.is_text), "")

    def number(self, key: str) -> float | None:
        """The value of a fact in SI, ``None`` where nothing is known."""
        return next((fact.value for fact in self.facts if fact.key == key and fact.used and not fact.is_text), None)


def part_ids(kind: str | None = None) -> tuple[str, ...]:
    """Ids of the parts of one kind, or of all kinds in their order."""
    return tuple(found.id for found in _parts().values() if kind in (None, found.kind))


def shipped_part_ids() -> frozenset[str]:
    """Ids of the parts that ship."""
    return frozenset(row["id"] for kind in KINDS for row in _file(kind))


def part(name: str, *, place: Place | None = None) -> Part:
    """The part of this id, name or alias.

    Raises:
        UnknownNameError: nothing in the catalogue has this name.
    """
    found = _names().get(folded(name))
    if found is None:
        raise UnknownNameError("catalog.unknown_thing", name, known_part_names(), place=place)
    return _parts()[found]


def carrier(tier: Tier) -> Part | None:
    """The fabric or network that a tier is made of, for what the generations of one share (openness); ``None`` where the catalogue has none."""
    words = next((row for row in _file("carriers") if row["words"] == tier.transport or row["words"] in tier.name), None)
    return _parts()[words["part"]] if words else None


@remembered
def known_part_names() -> tuple[str, ...]:
    """Ids and aliases, for suggestions."""
    return (*_parts(), *(row["alias"] for row in _file("aliases")))


@remembered
def _parts() -> dict[str, Part]:
    rows: dict[str, list[Row]] = {}
    kinds: dict[str, str] = {}
    for kind, row in _rows():
        kinds.setdefault(row["id"], kind)
        rows.setdefault(row["id"], []).append(row)
    return {id_: _part(id_, kinds[id_], listed) for id_, listed in rows.items()}


def _part(id_: str, kind: str, listed: list[Row]) -> Part:
    told = {row["key"]: row["value"] for row in listed if row["unit"] == "text" and row["used"] == "1"}
    facts = tuple(fact_of(row) for row in listed if row["key"] not in ("name", "owner"))
    return Part(id_, kind, told.get("name", id_), told.get("owner", ""), facts)


def _rows() -> Iterator[tuple[str, Row]]:
    for kind in KINDS:
        yield from ((kind, row) for row in _file(kind))
    yield from ((row["kind"], row) for row in own_tables().get(OWN_TABLE, ()))


@remembered
def _names() -> dict[str, str]:
    table = {folded(row["alias"]): row["id"] for row in _file("aliases")}
    return table | {folded(found.name): found.id for found in _parts().values()} | {folded(id_): id_ for id_ in _parts()}


@cache
def _file(name: str) -> tuple[Row, ...]:
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))

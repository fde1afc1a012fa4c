"""Reads the catalogue's CSV files into rows and facts."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import Final, cast

from tierspan.quantities.facts import Fact, Source, SourceKind
from tierspan.specs.catalog.units import unit_factor

DATA: Final = Path(__file__).parent / "data"


@cache
def rows(name: str) -> tuple[dict[str, str], ...]:
    """Rows of ``data/<name>.csv`` as text."""
    with (DATA / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


@cache
def rows_by_id(name: str) -> dict[str, dict[str, str]]:
    """Rows of ``data/<name>.csv`` by their ``id``, in the order of the file."""
    return {row["id"]: row for row in rows(name)}


@cache
def facts(name: str) -> dict[str, tuple[Fact, ...]]:
    """Facts of ``data/<name>.csv`` by the id of the thing they describe, in the order of the file."""
    found: dict[str, list[Fact]] = {}
    for row in rows(name):
        found.setdefault(row["id"], []).append(_fact(row))
    return {thing: tuple(listed) for thing, listed in found.items()}


def used(listed: tuple[Fact, ...]) -> dict[str, float]:
    """Value by key of the facts that predictions take."""
    return {fact.key: fact.value for fact in listed if fact.used}


def _fact(row: dict[str, str]) -> Fact:
    factor, si_unit = unit_factor(row["unit"])
    return Fact(
        key=row["key"],
        # Divided where the unit is a small one, so that 2.5 us is 2.5e-06 and not a neighbour of it.
        value=float(row["value"]) * factor if factor >= 1e-2 else float(row["value"]) / round(1 / factor),
        unit=si_unit,
        source=Source(row["source"], cast("SourceKind", row["source_kind"]), row["date"]),
        basis=row["basis"],
        original=row["value"] if row["unit"] == "1" else f"{row['value']} {row['unit']}",
        note=row["note"],
        conflict=row["conflict"] == "1",
        used=row["used"] == "1",
    )

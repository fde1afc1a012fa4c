"""Reads the catalogue's CSV files into rows and facts."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, ParamSpec, TypeVar, cast

from tierspan.quantities.facts import TEXT_UNIT, Fact, Source, SourceKind
from tierspan.specs.catalog.units import unit_factor

P = ParamSpec("P")
R = TypeVar("R")
Row = dict[str, str]
DATA: Final = Path(__file__).parent / "data"
UNMEASURED: Final = Path(__file__).parent / "unmeasured"
"""The same tables for what no measurement refers to: more accelerators and systems, and more figures of the others. No fit depends on them."""


_caches: list[Callable[[], None]] = []
_own: Mapping[str, Sequence[Row]] | None = None


def remembered(function: Callable[P, R]) -> Callable[P, R]:
    """A function of the catalogue's tables that is computed once, until users' own parts come or go."""
    kept = cache(function)
    _caches.append(kept.cache_clear)
    return cast("Callable[P, R]", kept)


def own_tables() -> Mapping[str, Sequence[Row]]:
    """The users' own parts, as rows of the same tables; those that ``TIERSPAN_PARTS`` names until others are set.

    Raises:
        InputError: a file of them breaks a rule.
    """
    global _own
    if _own is None:
        from tierspan.specs.catalog.own import from_environment

        _own = from_environment()
    return _own


def set_own_tables(tables: Mapping[str, Sequence[Row]] | None) -> Mapping[str, Sequence[Row]] | None:
    """Let these be the users' own parts (``None``: read ``TIERSPAN_PARTS`` again); returns the earlier ones."""
    global _own
    earlier, _own = _own, tables
    for forget in _caches:
        forget()
    return earlier


@remembered
def rows(name: str) -> tuple[Row, ...]:
    """Rows of the table ``name`` as text: those that ship, then the users' own."""
    return (*shipped_rows(name), *own_tables().get(name, ()))


@cache
def shipped_rows(name: str) -> tuple[Row, ...]:
    """Rows of the table ``name`` as text: those of ``data``, then those of ``unmeasured``."""
    found: list[Row] = []
    for path in (folder / f"{name}.csv" for folder in (DATA, UNMEASURED)):
        if path.exists():
            with path.open(encoding="utf-8", newline="") as file:
                found += csv.DictReader(file)
    return tuple(found)


@remembered
def rows_by_id(name: str) -> dict[str, Row]:
    """Rows of the table ``name`` by their ``id``, in the order of the files."""
    return {row["id"]: row for row in rows(name)}


@remembered
def facts(name: str) -> dict[str, tuple[Fact, ...]]:
    """Facts of the table ``name`` by the id of the thing they describe, in the order of the files."""
    found: dict[str, list[Fact]] = {}
    for row in rows(name):
        found.setdefault(row["id"], []).append(fact_of(row))
    return {thing: tuple(listed) for thing, listed in found.items()}


def used(listed: tuple[Fact, ...]) -> dict[str, float]:
    """Value by key of the facts that predictions take."""
    return {fact.key: fact.value for fact in listed if fact.used and not fact.is_text}


def fact_of(row: Mapping[str, str]) -> Fact:
    """The fact of one row.

    Raises:
        ValueError: the unit is not known, or the value is no number.
    """
    if row["unit"] == TEXT_UNIT:
        value, si_unit = math.nan, TEXT_UNIT
    else:
        factor, si_unit = unit_factor(row["unit"])
        # Divided where the unit is a small one, so that 2.5 us is 2.5e-06 and not a neighbour of it.
        value = float(row["value"]) * factor if factor >= 1e-2 else float(row["value"]) / round(1 / factor)
    return Fact(
        key=row["key"],
        value=value,
        unit=si_unit,
        source=Source(row["source"], cast("SourceKind", row["source_kind"]), row["date"]),
        basis=row["basis"],
        original=row["value"] if row["unit"] in ("1", TEXT_UNIT) else f"{row['value']} {row['unit']}",
        note=row["note"],
        conflict=row["conflict"] == "1",
        used=row["used"] == "1",
    )

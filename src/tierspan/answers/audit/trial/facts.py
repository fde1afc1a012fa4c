"""Facts that statements are made of: those of the catalogue, and the trial's own file for what no part of it holds."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from tierspan.quantities.facts import Fact
from tierspan.specs.catalog import tables
from tierspan.specs.catalog.tables import rows, rows_by_id
from tierspan.specs.catalog.things import system_ids

DATA: Final = Path(__file__).parent / "data"
Own = Mapping[str, Mapping[str, str]]


@cache
def own(kind: str) -> Mapping[str, Own]:
    """Facts of ``data/facts.csv`` whose id begins with ``<kind>/``: thing, then key, then the row."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    with (DATA / "facts.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            group, thing = row["id"].split("/", 1)
            if group == kind:
                found.setdefault(thing, {})[row["key"]] = row
    return found


def sources_of(facts: Own) -> tuple[str, ...]:
    """Where the facts of one thing come from, each once."""
    return tuple(dict.fromkeys(row["source"] for row in facts.values()))


@cache
def used(table: str, thing: str) -> Mapping[str, Fact]:
    """Facts in use of a thing of the catalogue, by key (values in SI)."""
    return {fact.key: fact for fact in tables.facts(f"{table}_facts").get(thing, ()) if fact.used}


def accelerators() -> tuple[str, ...]:
    """Ids of the accelerators of the catalogue."""
    return tuple(rows_by_id("accelerators"))


@cache
def name_of(table: str, thing: str) -> str:
    """The name that a sheet would print: without what the catalogue adds in brackets."""
    name = rows_by_id(table)[thing]["name"]
    # GB200 alone may be the superchip with two of them
    return re.split(r" \(|, partner", name)[0] + (" GPU" if "(one GPU)" in name else "")


def branded(system: str) -> bool:
    """Whether the system has a name of its own, not a description."""
    return not name_of("systems", system).startswith(("Platform", "Server", "Node"))


def systems() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Systems with a whole host: id, accelerator, fabrics from the innermost tier out."""
    for thing in system_ids():
        row = rows_by_id("systems")[thing]
        fabrics = tuple(line["fabric"] for line in rows("tiers") if line["id"] == thing and line["carries_training"] == "1")
        yield thing, row["accelerator"], fabrics


@cache
def fabric_of(accelerator: str) -> str:
    """The scale-up fabric of an accelerator in its usual system."""
    home = rows_by_id("accelerators")[accelerator]["default_system"]
    return next(fabrics[0] for thing, _, fabrics in systems() if thing == home)


def from_facts(*facts: Fact) -> tuple[str, ...]:
    """Where these facts come from, each once."""
    return tuple(dict.fromkeys(fact.source.reference for fact in facts))

"""Figures that rules hold sheets against and that no part of the catalogue has: ``data/bounds.csv``, each with its source."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from tierspan.specs.catalog.units import unit_factor

_FILE: Final = Path(__file__).parent / "data" / "bounds.csv"
_OWN_UNITS: Final = {"m2": 1.0}


@cache
def _rows() -> Mapping[str, Mapping[str, str]]:
    with _FILE.open(encoding="utf-8", newline="") as file:
        return {row["key"]: row for row in csv.DictReader(file)}


@cache
def bound(key: str) -> float:
    """The figure ``key`` in SI units.

    Raises:
        KeyError: no row has this key.
    """
    row = _rows()[key]
    factor = _OWN_UNITS.get(row["unit"]) or unit_factor(row["unit"])[0]
    return float(row["value"]) * factor


@cache
def family(prefix: str) -> Mapping[str, float]:
    """The figures of a family, by what follows ``<prefix>.`` in their key."""
    return {key.removeprefix(f"{prefix}."): bound(key) for key in _rows() if key.startswith(f"{prefix}.")}


@cache
def sources(*prefixes: str) -> tuple[str, ...]:
    """Where the figures of these families come from, each source once."""
    return tuple(dict.fromkeys(row["source"] for prefix in prefixes for key, row in _rows().items() if key.startswith(prefix)))

"""Constants of the laws: priors with their sources, fitted values, and what each case takes."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

import numpy as np

from tierspan.estimates.communication.cases import DATA, Keys
from tierspan.laws.communication.protocols import Constants

_FACTOR = {"us": 1e-6, "GB/s": 1e9, "1": 1.0, "MB": 1e6}
_ORDER = ("library_transport", "library", "transport", "generation", "fabric", "harness")
Values = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Prior:
    """Prior of one constant under one key, in SI: log-normal with ``sigma``, between ``low`` and ``high``."""

    name: str
    by: str
    key: str
    value: float
    sigma: float
    low: float
    high: float
    source: str


@dataclass(frozen=True, slots=True)
class CommunicationProfile:
    """Fitted values by constant and key (priors stand where there is none) and the record of the fit."""

    version: str
    values: Values = field(default_factory=dict)
    record: Mapping[str, Any] = field(default_factory=dict)


@cache
def priors() -> dict[str, dict[str, Prior]]:
    """Priors by constant and key."""
    found: dict[str, dict[str, Prior]] = {}
    with (DATA / "priors.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            unit = _FACTOR[row["unit"]]
            value, low, high = (float(row[c]) * unit for c in ("value", "low", "high"))
            found.setdefault(row["name"], {})[row["key"]] = Prior(
                row["name"], row["by"], row["key"], value, float(row["sigma"]), low, high, row["source"]
            )
    return found


@cache
def shipped() -> CommunicationProfile:
    """The constants that ship, or the priors where none do."""
    path = DATA / "fitted.json"
    if not path.exists():
        return CommunicationProfile("priors")
    raw = json.loads(path.read_text(encoding="utf-8"))
    return CommunicationProfile(raw["version"], raw["values"], raw["record"])


def key_for(name: str, keys: Keys) -> str:
    """The key under which a case's constant stands: the most specific that has a prior, else ``*`` ("" where there is none)."""
    table = priors()[name]
    present = {p.by for p in table.values()}
    for by in _ORDER:
        if by in present and keys.of(by) in table and table[keys.of(by)].by == by:
            return keys.of(by)
    return "*" if "*" in table else ""


def value_of(name: str, keys: Keys, profile: CommunicationProfile, missing: float = float("nan")) -> float:
    """A constant of a case; ``missing`` where no key of it has a prior."""
    key = key_for(name, keys)
    if not key:
        return missing
    return float(profile.values.get(name, {}).get(key, priors()[name][key].value))


def gather(keys: Sequence[Keys], latency_s: Sequence[float], profile: CommunicationProfile) -> Constants:
    """Constants of every case; a transport without a prior of its own hops at the catalogue's latency of its tier (``latency_s``)."""
    seen: dict[tuple[Keys, float], list[float]] = {}
    names = [f.name for f in fields(Constants)]
    rows = []
    for k, latency in zip(keys, latency_s, strict=True):
        if (k, latency) not in seen:
            seen[k, latency] = [value_of(n, k, profile, latency) for n in names]
        rows.append(seen[k, latency])
    table = np.array(rows, dtype=np.float64).reshape(len(rows), len(names)).T
    return Constants(**dict(zip(names, table, strict=True)))

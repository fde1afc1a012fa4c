"""A site file: what one rack may draw, weigh and be cooled by, what feeds it, and what the room adds."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final

from tierspan.formats.scenario.document import Document, read_document
from tierspan.quantities.errors import InputError
from tierspan.quantities.units import parse_quantity
from tierspan.specs.inline_fields import Fields
from tierspan.specs.site import COOLING, Site, Supply

_LIMITS: Final = {
    "rack_power_kW": (1e3, 1e4), "rack_footprint_m2": (1.0, 100.0), "floor_load_kg_m2": (1.0, 1e5), "rack_mass_kg": (1.0, 1e5),
    "busbar_A": (1.0, 1e6), "busbar_voltage_V": (1.0, 1e5), "rack_distance_m": (1.0, 1e4), "total_power_kW": (1e3, 1e8),
    "electricity_price_per_kWh": (1.0, 1e3), "carbon_g_per_kWh": (1.0, 1e4),
}  # fmt: skip
"""Keys of plain numbers whose name carries the unit: factor to SI, and what no room exceeds (in the unit of the key)."""
_MOST_PUE: Final = 5.0
_UNITS: Final = {"rack_power": ("W", "rack_power_kW"), "total_power": ("W", "total_power_kW"), "rack_distance": ("m", "rack_distance_m")}
"""Keys that take a text with a unit instead ("17 kW")."""


def read_site(path: str | Path) -> Site:
    """Read a site file.

    Raises:
        InputError: the file cannot be read, a key is unknown, or a value has the wrong type or range (file, line and key are named).
    """
    return site_of(read_document(path))


def site_of(document: Document) -> Site:
    """The site of a document; a scenario's section ``site`` is taken where there is one. See ``read_site``."""
    inner = document.data.get("site")
    fields = Fields(inner if isinstance(inner, dict) else document.data, document.place_of, "site" if isinstance(inner, dict) else "")
    name = fields.text("name") or ""
    racks, units = fields.count("racks"), fields.count("rack_units")
    cooling = fields.text("cooling", choices=COOLING)
    numbers = {key: _number(fields, key) for key in _LIMITS}
    for key, (unit, other) in _UNITS.items():
        numbers[other] = _with_unit(fields, key, unit, other, numbers[other])
    supply = _supply(fields)
    pue = _between(fields, "pue", 1.0, _MOST_PUE)
    currency = fields.text("currency") or ""
    fields.finish()
    if numbers["electricity_price_per_kWh"] is not None and not currency:
        raise InputError("site.currency_missing", place=fields.place("electricity_price_per_kWh"))
    return Site(
        name=name, racks=racks, rack_power_W=numbers["rack_power_kW"], cooling=cooling, floor_load_kg_m2=numbers["floor_load_kg_m2"],  # type: ignore[arg-type]
        rack_mass_kg=numbers["rack_mass_kg"], rack_footprint_m2=numbers["rack_footprint_m2"], rack_units=units, supply=supply,
        busbar_A=numbers["busbar_A"], busbar_voltage_V=numbers["busbar_voltage_V"], rack_distance_m=numbers["rack_distance_m"],
        total_power_W=numbers["total_power_kW"], pue=pue, electricity_price_per_kWh=numbers["electricity_price_per_kWh"], currency=currency,
        carbon_g_per_kWh=numbers["carbon_g_per_kWh"], file=document.file,
    )  # fmt: skip


def _supply(fields: Fields) -> Supply | None:
    inner = fields.child("supply")
    if inner is None:
        return None
    voltage, current = _required(inner, "voltage_V", 1e5), _required(inner, "current_A", 1e5)
    direct = inner.flag("direct_current")
    phases = inner.count("phases") if inner.has("phases") else (1 if direct else 3)
    if phases not in (1, 3):
        raise InputError("site.phases", place=inner.place("phases"), value=phases)
    feeds = inner.count("feeds") or 1
    redundancy = inner.text("redundancy", choices=("N", "N+1", "2N")) or "N"
    if (redundancy == "2N" and feeds % 2) or (redundancy == "N+1" and feeds < 2):
        raise InputError("site.feeds", place=inner.place("feeds"), redundancy=redundancy, feeds=feeds)
    share = inner.share("continuous_share") if inner.has("continuous_share") else 1.0
    inner.finish()
    return Supply(voltage, current, phases, feeds, redundancy, direct, share)  # type: ignore[arg-type]


def _number(fields: Fields, key: str) -> float | None:
    """The value of a key whose name carries its unit, in SI; None where it is absent."""
    factor, most = _LIMITS[key]
    value = _between(fields, key, 0.0, most)
    return None if value is None else value * factor


def _required(fields: Fields, key: str, most: float) -> float:
    value = _between(fields, key, 0.0, most)
    if value is None:
        raise InputError("key.missing", place=fields.place(key), key=fields.path(key))
    return value


def _between(fields: Fields, key: str, low: float, high: float) -> float | None:
    value = fields.raw(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError("value.type", place=fields.place(key), key=fields.path(key), value=value, expected="a number")
    if not math.isfinite(value) or value <= 0 or not low <= value <= high:
        raise InputError("value.out_of_range", place=fields.place(key), key=fields.path(key), value=value, low=f"{low:g}", high=f"{high:g}")
    return float(value)


def _with_unit(fields: Fields, key: str, unit: str, other: str, given: float | None) -> float | None:
    text = fields.text(key)
    if text is None:
        return given
    if given is not None:
        raise InputError("key.conflict", place=fields.place(key), key=fields.path(key), other=fields.path(other))
    found = parse_quantity(text, place=fields.place(key))
    if found.unit != unit:
        raise InputError("units.wrong_dimension", place=fields.place(key), key=fields.path(key), value=text, unit=found.unit, wanted=unit)
    factor, most = _LIMITS[other]
    if not 0.0 < found.value <= most * factor:
        raise InputError("value.out_of_range", place=fields.place(key), key=fields.path(key), value=text, low=0, high=f"{most * factor:g} {unit}")
    return found.value

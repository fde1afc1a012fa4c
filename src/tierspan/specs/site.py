"""A room for machines, as its owner describes it: what a rack may draw, weigh and be cooled by, and what feeds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Cooling = Literal["air", "rear-door", "liquid"]
COOLING: Final[tuple[Cooling, ...]] = ("air", "rear-door", "liquid")
"""From what takes away the least heat of a rack to what takes the most."""


@dataclass(frozen=True, slots=True)
class Supply:
    """What feeds one rack: ``feeds`` circuits of ``current_A`` at ``voltage_V`` (between phases where there are three).

    ``redundancy`` is ``2N`` where half of the feeds must carry all of the load, ``N+1`` where all but one must, ``N`` where every feed counts.
    ``continuous_share`` is the part of the breaker's current that may be drawn for hours (0.8 in North American practice), 1 where not said.
    """

    voltage_V: float
    current_A: float
    phases: Literal[1, 3] = 3
    feeds: int = 1
    redundancy: Literal["N", "N+1", "2N"] = "N"
    direct_current: bool = False
    continuous_share: float = 1.0


@dataclass(frozen=True, slots=True)
class Site:
    """A room; ``None`` where its owner does not say.

    ``rack_power_W`` and ``rack_mass_kg`` are limits of one rack, ``floor_load_kg_m2`` of the floor under it, ``rack_footprint_m2`` the area on which
    a rack stands. ``rack_distance_m`` is the cable path between neighbouring racks, ``row_length_m`` that between the ends of a row.
    """

    name: str = ""
    racks: int | None = None
    rack_power_W: float | None = None
    cooling: Cooling | None = None
    floor_load_kg_m2: float | None = None
    rack_mass_kg: float | None = None
    rack_footprint_m2: float | None = None
    rack_units: int | None = None
    supply: Supply | None = None
    busbar_A: float | None = None
    busbar_voltage_V: float | None = None
    rack_distance_m: float | None = None
    total_power_W: float | None = None
    pue: float | None = None
    electricity_price_per_kWh: float | None = None
    currency: str = ""
    carbon_g_per_kWh: float | None = None
    file: str = ""

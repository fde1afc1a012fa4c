"""The machines that a sheet is about: what each needs of a room, from the sheet where it says so, else from the catalogue."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from tierspan.answers.audit.claims.amounts import amounts_of
from tierspan.specs.catalog import accelerator, default_system, system, system_ids
from tierspan.specs.catalog.tables import facts
from tierspan.specs.hardware import System
from tierspan.specs.reading import Reading

_VOLTS: Final = re.compile(r"(\d+(?:\.\d+)?)(?:\s*-\s*(\d+(?:\.\d+)?))?\s*V")


@dataclass(frozen=True, slots=True)
class Machine:
    """One kind of machine on the sheet; ``None`` and "" where nobody says.

    ``unit_power_W`` is the largest figure for the unit one buys, ``from_sheet`` whether the sheet gave it; ``racks`` of one unit, 0 where several
    units share a rack. ``mass_kg`` is that of one unit, ``other_mass_kg`` a lighter one that a source prints. ``volts`` is the range of the supply.
    ``wanted`` counts the units that the sheet asks for.
    """

    system: System
    named: bool
    unit_power_W: float | None
    from_sheet: bool
    racks: int
    mass_kg: float | None
    other_mass_kg: float | None
    cooling: str
    volts: tuple[float, float] | None
    direct_current: bool
    busbar_A: float | None
    rack_units: int | None
    medium: str
    wanted: int | None

    @property
    def id(self) -> str:
        """Id of the system."""
        return self.system.id

    @property
    def rack_power_W(self) -> float | None:
        """Power of one rack of the unit, or of one unit where several share a rack."""
        return None if self.unit_power_W is None else self.unit_power_W / max(self.racks, 1)

    @property
    def rack_mass_kg(self) -> float | None:
        """Mass of one rack of the unit, or of one unit where several share a rack."""
        return None if self.mass_kg is None else self.mass_kg / max(self.racks, 1)


def machines_of(readings: Sequence[Reading]) -> tuple[Machine, ...]:
    """The machines in the order in which the sheet names them; an accelerator stands for the server that it usually comes in."""
    found: dict[str, Machine] = {}
    named = {r.catalog_id for r in readings if r.catalog_id in system_ids()}
    cards = {system(s).accelerator for s in named}
    for reading in readings:
        part = reading.catalog_id
        if not part or (part not in named and part in cards):
            continue
        thing = part if part in named else default_system(part)
        if thing not in found:
            # once a system is named, what is told of its accelerator is told of it
            own = (part, thing, system(thing).accelerator)
            found[thing] = _machine(system(thing), part in named, [r for r in readings if r.catalog_id in own])
    return tuple(found.values())


def _machine(found: System, named: bool, readings: Sequence[Reading]) -> Machine:
    listed = facts("system_facts").get(found.id, ())
    keys = ("unit_power", "weight", "busbar_current", "rack_units")
    numbers = {key: [f.value for f in listed if f.key == key and not f.is_text] for key in keys}
    words = {key: " ".join(f.original for f in listed if f.key == key and f.is_text) for key in ("cooling", "supply_voltage", "scale_up_medium")}
    racks = next((int(f.value) for f in listed if f.key == "racks" and f.used), 0)
    volts = [(float(a), float(b or a)) for a, b in _VOLTS.findall(words["supply_voltage"])]
    machine = Machine(
        system=found, named=named, unit_power_W=max(numbers["unit_power"], default=None), from_sheet=False, racks=racks,
        mass_kg=max(numbers["weight"], default=None), other_mass_kg=min(numbers["weight"], default=None),
        cooling="liquid" if "liquid" in words["cooling"] else "air" if "air" in words["cooling"] else "",
        volts=max(volts, default=None), direct_current="DC" in words["supply_voltage"], busbar_A=max(numbers["busbar_current"], default=None),
        rack_units=next((int(v) for v in numbers["rack_units"]), None), medium=words["scale_up_medium"], wanted=_wanted(found, racks, readings),
    )  # fmt: skip
    return _as_printed(machine, readings)


def _as_printed(machine: Machine, readings: Sequence[Reading]) -> Machine:
    """What the sheet itself prints goes before the catalogue; of several figures the largest."""
    card = accelerator(machine.system.accelerator)
    devices = (card.power_W or 0.0) * machine.system.unit_accelerators
    floor = max(0.5 * devices, 1.5 * (card.power_W or math.inf))
    power = [r.printed_si for r in readings if r.quantity == "power" and r.scope not in ("accelerator", "cluster", "die") and r.printed_si >= floor]
    if power and max(power) <= 20.0 * max(devices, 1.0):
        machine = replace(machine, unit_power_W=max(power) * (machine.racks or 1 if any(r.scope == "rack" for r in readings) else 1), from_sheet=True)
    mass = [r.printed_si for r in readings if r.quantity == "mass" and r.unit_si == "kg" and r.printed_si >= 10.0]
    if mass:
        machine = replace(machine, mass_kg=max(mass), other_mass_kg=min(mass))
    return machine


def _wanted(found: System, racks: int, readings: Sequence[Reading]) -> int | None:
    """Units that the sheet asks for: the servers or sets that it counts, else its accelerators divided by what a unit holds."""
    units = {"set", "rack"} if racks else {"node", "set"}
    most, cards = 0.0, 0.0
    for reading in readings:
        if reading.quantity != "count" or reading.count != 1.0 or reading.scope == "rack":
            continue
        amount = next(iter(amounts_of(reading.text)), None)
        value = amount.value if amount is not None else reading.printed_si
        noun = amount.noun if amount is not None and amount.noun else reading.noun
        if reading.noun == "part":
            # "128 x HGX H100" counts the unit, "256 H100" its accelerators
            noun = "set" if reading.catalog_id == found.id else "accelerator"
        if noun in units and not (noun == "rack" and racks > 1):
            most = max(most, value)
        elif noun in ("accelerator", "gpu"):
            cards = max(cards, value)
    if most:
        return int(most)
    return math.ceil(cards / found.unit_accelerators) if cards > found.unit_accelerators else None

"""What the machines of a sheet ask of a room, against what the room has: pass, derate or fail, and what a capped rack does."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from tierspan.answers.audit.machines import Machine, machines_of
from tierspan.answers.audit.result import Light, RoomCheck
from tierspan.answers.audit.room_laws import IDLE_SHARE, capped_throughput, current_A, feed_power_W, floor_load_kg_m2
from tierspan.quantities.printing import format_number, format_quantity
from tierspan.specs.catalog.parts import part, part_ids
from tierspan.specs.reading import Reading, Reason
from tierspan.specs.site import Site, Supply

_LEAST_SHARE: Final = 0.5
"""A machine that gets less than this share of its power is not derated but out of place: an assumption, told with the answer."""


def room_of(readings: Sequence[Reading], site: Site | None) -> tuple[RoomCheck, ...]:
    """The checks of every machine that the sheet names, in the order of the sheet; none without a site."""
    if site is None:
        return ()
    machines = machines_of(readings)
    if not machines:
        return (_check("machine", None, None, "1", "unknown", "no_machine"),)
    return tuple(check for machine in machines for check in _checks(machine, site))


def _checks(machine: Machine, site: Site) -> Iterator[RoomCheck]:
    fits = _units_per_rack(machine, site)
    yield from _power(machine, site, fits)
    yield _cooling(machine, site)
    yield _floor(machine, site, fits)
    yield from _supply(machine, site)
    yield from _busbar(machine, site)
    yield _reach(machine, site)
    yield from _places(machine, site, fits)


def _units_per_rack(machine: Machine, site: Site) -> int | None:
    """Servers that fit one rack by power and height; None for what fills racks of its own, or where power is not known."""
    if machine.racks or machine.unit_power_W is None or site.rack_power_W is None:
        return None
    by_power = math.floor(site.rack_power_W / machine.unit_power_W + 1e-9)
    if site.rack_units is not None and machine.rack_units is not None:
        by_power = min(by_power, site.rack_units // machine.rack_units)
    return by_power


def _power(machine: Machine, site: Site, fits: int | None) -> Iterator[RoomCheck]:
    need, have = machine.rack_power_W, site.rack_power_W
    if need is None:
        yield _check("rack_power", None, have, "W", "unknown", "power_unknown", part=machine.id)
        return
    if have is None:
        yield _check("rack_power", need, None, "W", "unknown", "power_no_site", part=machine.id, need=_W(need))
        return
    if need <= have:
        if fits is not None:
            yield _check("rack_power", need, have, "W", "pass", "power_servers", part=machine.id, need=_W(need), have=_W(have), fits=fits)
        else:
            yield _check("rack_power", need, have, "W", "pass", "power_pass", part=machine.id, need=_W(need), have=_W(have))
        return
    share = have / need
    if share < _LEAST_SHARE:
        yield _check("rack_power", need, have, "W", "fail", "power_fail", part=machine.id, need=_W(need), have=_W(have), share=_share(share))
        return
    yield _check("rack_power", need, have, "W", "derate", "power_derate", part=machine.id, need=_W(need), have=_W(have), share=_share(share))
    least, most = capped_throughput(share)
    yield _check(
        "throughput", 1.0, least, "1", "derate", "throughput", part=machine.id, share=_share(share), least=_share(least), most=_share(most),
        idle=_share(IDLE_SHARE),
    )  # fmt: skip


def _cooling(machine: Machine, site: Site) -> RoomCheck:
    if not machine.cooling:
        return _check("cooling", None, None, "", "unknown", "cooling_unknown", part=machine.id)
    if site.cooling is None:
        return _check("cooling", None, None, "", "unknown", f"cooling_no_site_{machine.cooling}", part=machine.id)
    if machine.cooling == "liquid" and site.cooling != "liquid":
        return _check("cooling", None, None, "", "fail", f"cooling_fail_{site.cooling.replace('-', '_')}", part=machine.id)
    return _check("cooling", None, None, "", "pass", f"cooling_pass_{machine.cooling}", part=machine.id)


def _floor(machine: Machine, site: Site, fits: int | None) -> RoomCheck:
    mass, unit = machine.rack_mass_kg, "kg/m2"
    if mass is None:
        return _check("floor_load", None, site.floor_load_kg_m2, unit, "unknown", "floor_unknown", part=machine.id)
    mass *= max(fits or 1, 1)
    if site.rack_mass_kg is not None and mass > site.rack_mass_kg:
        lighter = machine.other_mass_kg / max(machine.racks, 1) * max(fits or 1, 1) if machine.other_mass_kg is not None else mass
        values = {"part": machine.id, "mass": _n(mass), "have": _n(site.rack_mass_kg)}
        if lighter <= site.rack_mass_kg:
            return _check("rack_mass", mass, site.rack_mass_kg, "kg", "unknown", "mass_conflict", other=_n(lighter), **values)
        return _check("rack_mass", mass, site.rack_mass_kg, "kg", "fail", "mass_fail", **values)
    if site.floor_load_kg_m2 is None or site.rack_footprint_m2 is None:
        return _check("floor_load", None, site.floor_load_kg_m2, unit, "unknown", "floor_no_site", part=machine.id, mass=_n(mass))
    load = floor_load_kg_m2(mass, site.rack_footprint_m2)
    values = {"part": machine.id, "mass": _n(mass), "area": _n(site.rack_footprint_m2), "load": _n(load), "have": _n(site.floor_load_kg_m2)}
    if load > site.floor_load_kg_m2:
        other = machine.other_mass_kg
        lighter = other is not None and machine.mass_kg is not None and other < 0.9 * machine.mass_kg
        if lighter and other is not None and floor_load_kg_m2(other / max(machine.racks, 1), site.rack_footprint_m2) <= site.floor_load_kg_m2:
            return _check("floor_load", load, site.floor_load_kg_m2, unit, "unknown", "floor_conflict", other=_n(other), **values)
        return _check("floor_load", load, site.floor_load_kg_m2, unit, "fail", "floor_fail", **values)
    return _check("floor_load", load, site.floor_load_kg_m2, unit, "pass", "floor_pass" if machine.racks else "floor_servers", **values)


def _supply(machine: Machine, site: Site) -> Iterator[RoomCheck]:
    supply, need = site.supply, machine.rack_power_W
    if supply is None:
        yield _check("supply", need, None, "W", "unknown", "supply_no_site", part=machine.id)
        return
    if not machine.direct_current and machine.volts is not None:
        yield _voltage(machine, machine.volts, supply)
    if need is None:
        yield _check("supply", None, None, "W", "unknown", "power_unknown", part=machine.id)
        return
    have = feed_power_W(supply.voltage_V, supply.current_A, supply.phases, supply.feeds, supply.redundancy, supply.continuous_share)
    carrying = {"N": supply.feeds, "N+1": supply.feeds - 1, "2N": supply.feeds // 2}[supply.redundancy]
    amperes = current_A(need, supply.voltage_V, supply.phases)
    light: Light = "pass" if need <= have else "derate" if have >= _LEAST_SHARE * need else "fail"
    yield _check(
        "supply_current", amperes, supply.current_A * carrying * supply.continuous_share, "A", light, f"supply_{light}", part=machine.id,
        need=_W(need), amperes=_n(amperes), volts=_n(supply.voltage_V), feeds=carrying, have=_W(have), redundancy=supply.redundancy,
    )  # fmt: skip


def _voltage(machine: Machine, volts: tuple[float, float], supply: Supply) -> RoomCheck:
    """A supply is fed between phases or between phase and neutral; 5 % of slack for what a grid may deviate."""
    low, high = volts
    offered = [supply.voltage_V, *([supply.voltage_V / math.sqrt(3.0)] if supply.phases == 3 else [])]
    fits = not supply.direct_current and any(0.95 * low <= v <= 1.05 * high for v in offered)
    values = {"part": machine.id, "low": _n(low), "high": _n(high), "volts": " / ".join(_n(v) for v in offered)}
    return _check("supply_voltage", low, offered[-1], "V", "pass" if fits else "fail", "voltage_pass" if fits else "voltage_fail", **values)


def _busbar(machine: Machine, site: Site) -> Iterator[RoomCheck]:
    need = machine.rack_power_W
    volts = site.busbar_voltage_V or (machine.volts[1] if machine.direct_current and machine.volts is not None else None)
    have = site.busbar_A or machine.busbar_A
    if volts is None or (have is None and not machine.direct_current):
        return
    if need is None or have is None:
        yield _check("busbar", None, have, "A", "unknown", "busbar_unknown", part=machine.id)
        return
    amperes = current_A(need, volts)
    light: Light = "pass" if amperes <= have else "derate" if have >= _LEAST_SHARE * amperes else "fail"
    owner = "site" if site.busbar_A else "machine"
    values = {"part": machine.id, "need": _W(need), "volts": _n(volts), "amperes": _n(amperes), "have": _n(have)}
    yield _check("busbar", amperes, have, "A", light, f"busbar_{owner}_{'pass' if light == 'pass' else 'fail'}", **values)


def _reach(machine: Machine, site: Site) -> RoomCheck:
    """Whether copper reaches across the scale-up domain: from one end of its racks to the other."""
    inner = machine.system.tiers[0].domain_size if machine.system.tiers else None
    if not machine.racks and (inner or machine.system.node_size) > machine.system.node_size:
        return _check("copper_reach", None, None, "m", "unknown", "reach_racks", part=machine.id)
    if machine.racks <= 1:
        return _check("copper_reach", None, None, "m", "pass", "reach_inside", part=machine.id)
    longest = max((v for i in part_ids("cable") if "copper" in part(i).words("medium") and (v := part(i).number("reach"))), default=None)
    if site.rack_distance_m is None or longest is None:
        return _check("copper_reach", None, longest, "m", "unknown", "reach_unknown", part=machine.id, racks=machine.racks)
    span = (machine.racks - 1) * site.rack_distance_m
    optical = "optic" in machine.medium
    values = {"part": machine.id, "racks": machine.racks, "span": _n(span), "reach": _n(longest)}
    if span <= longest:
        return _check("copper_reach", span, longest, "m", "pass", "reach_pass", **values)
    return _check("copper_reach", span, longest, "m", "pass" if optical else "fail", "reach_optical" if optical else "reach_fail", **values)


def _places(machine: Machine, site: Site, fits: int | None) -> Iterator[RoomCheck]:
    """Racks that the wanted number takes, and the power of all of them with what the room adds."""
    if machine.wanted is None:
        return
    if site.racks is not None and (machine.racks or fits is not None):
        racks = machine.wanted * machine.racks if machine.racks else math.ceil(machine.wanted / fits) if fits else None
        if racks is None:
            yield _check("racks", None, site.racks, "1", "fail", "places_none", part=machine.id)
        else:
            light: Light = "pass" if racks <= site.racks else "fail"
            values = {"part": machine.id, "wanted": machine.wanted, "racks": racks, "have": site.racks, "fits": fits or 0}
            yield _check("racks", racks, site.racks, "1", light, f"places_{light}{'' if machine.racks else '_servers'}", **values)
    if machine.unit_power_W is not None and site.total_power_W is not None:
        total = machine.wanted * machine.unit_power_W
        light = "pass" if total <= site.total_power_W else "derate" if site.total_power_W >= _LEAST_SHARE * total else "fail"
        values = {"part": machine.id, "wanted": machine.wanted, "total": _W(total), "have": _W(site.total_power_W)}
        yield _check("total_power", total, site.total_power_W, "W", light, f"total_{'pass' if light == 'pass' else 'fail'}", **values)
        if site.pue is not None:
            yield _check("power_with_cooling", total * site.pue, None, "W", "pass", "total_pue", pue=_n(site.pue), total=_W(total * site.pue))


def _check(name: str, needed: float | None, available: float | None, unit: str, light: Light, message: str, /, **values: object) -> RoomCheck:
    return RoomCheck(name, needed, available, unit, light, Reason(f"audit.room.{message}", values))


def _W(value: float) -> str:
    return format_quantity(value, "W")


def _n(value: float) -> str:
    return format_number(value, 4)


def _share(value: float) -> str:
    return f"{100.0 * value:.0f} %"

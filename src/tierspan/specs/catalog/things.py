"""Accelerators and systems of the catalogue."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import cast

from tierspan.quantities.errors import Place
from tierspan.quantities.facts import Fact, Source, SourceKind
from tierspan.specs.catalog.names import resolve
from tierspan.specs.catalog.tables import facts, remembered, rows, rows_by_id, used
from tierspan.specs.hardware import Accelerator, System, Tier

_PEAK = "peak_flops."
_ACHIEVABLE = "achievable."
_PLAIN_NETWORK = "roce-400"


def accelerator_ids() -> tuple[str, ...]:
    """Ids of all accelerators, in the order of the data file."""
    return tuple(rows_by_id("accelerators"))


def system_ids() -> tuple[str, ...]:
    """Ids of all systems, in the order of the data file."""
    return tuple(rows_by_id("systems"))


def accelerator(name: str, *, place: Place | None = None) -> Accelerator:
    """The accelerator of this id or alias.

    Raises:
        UnknownNameError: nothing in the catalogue has this name.
    """
    return _accelerator(resolve("accelerator", name, place=place).id)


def system(name: str, *, place: Place | None = None) -> System:
    """The system of this id or alias.

    Raises:
        UnknownNameError: nothing in the catalogue has this name.
    """
    return _system(resolve("system", name, place=place).id)


def default_system(name: str, *, place: Place | None = None) -> str:
    """Id of the system that an accelerator given without one comes in (the plain node, rack or pod of its vendor).

    Raises:
        UnknownNameError: nothing in the catalogue has this name.
    """
    return rows_by_id("accelerators")[resolve("accelerator", name, place=place).id]["default_system"]


def fitting_system(name: str, *, node_size: int | None = None, domain_size: int | None = None, place: Place | None = None) -> str:
    """Id of the system of an accelerator that a measured node and scale-up domain fit in.

    The default system where nothing is known or it fits exactly; else one with exactly this node; else the first that is large
    enough; else the default system, which ``cluster`` then refuses with the reason.

    Raises:
        UnknownNameError: nothing in the catalogue has this name.
    """
    first = default_system(name, place=place)
    mine = [found for found in map(_system, (first, *system_ids())) if found.accelerator == resolve("accelerator", name).id]
    room = [found for found in mine if (domain_size or 1) <= (found.tiers[0].domain_size or math.inf)]
    exact = [found for found in room if node_size in (None, found.node_size)]
    large = [found for found in room if (node_size or 1) <= found.node_size]
    return next(iter((*exact, *large)), mine[0]).id


@remembered
def _accelerator(thing: str) -> Accelerator:
    row = rows_by_id("accelerators")[thing]
    listed = facts("accelerator_facts")[thing]
    values = used(listed)
    return Accelerator(
        id=thing,
        name=row["name"],
        vendor=row["vendor"],
        peak_flops={key.removeprefix(_PEAK): value for key, value in values.items() if key.startswith(_PEAK)},
        memory_bytes=values["memory"],
        memory_bandwidth_Bps=values["memory_bandwidth"],
        power_W=values.get("power"),
        kind=row["kind"],
        year=int(row["year"]) if row["year"] else None,
        achievable={key.removeprefix(_ACHIEVABLE): value for key, value in values.items() if key.startswith(_ACHIEVABLE)},
        facts=listed,
        memory_usable_bytes=values.get("memory_usable"),
        architecture=row["architecture"],
    )


@remembered
def _fabric(thing: str) -> Tier:
    row = rows_by_id("fabrics")[thing]
    listed = facts("fabric_facts")[thing]
    values = used(listed)
    latency = next(fact for fact in listed if fact.used and fact.key == "latency")
    return Tier(
        name=row["name"],
        kind=row["kind"],
        domain_size=None,
        bandwidth_Bps=values["bandwidth"],
        latency_s=latency.value,
        transport=row["transport"],
        topology=row["topology"],
        pair_bandwidth_Bps=values.get("pair_bandwidth"),
        in_network_reduction=row["in_network_reduction"] == "1",
        memory_semantics=row["memory_semantics"] == "1",
        latency_basis=latency.basis,
        facts=listed,
    )


def network_at(bandwidth_Bps: float) -> Tier:
    """A scale-out tier of which only the rate per accelerator and direction is known: RoCE, with the catalogue's latency."""
    return replace(_fabric(_PLAIN_NETWORK), name=f"RoCE {bandwidth_Bps * 8 / 1e9:.4g} Gb/s")


def _tier(row: dict[str, str]) -> Tier:
    tier = _fabric(row["fabric"])
    if not row["domain_size"]:
        return tier
    source = Source(row["source"], cast("SourceKind", row["source_kind"]), row["date"])
    size = Fact(
        "domain_size", float(row["domain_size"]), "1", source, basis="accelerators in one domain", original=row["domain_size"], note=row["note"]
    )
    return replace(tier, domain_size=int(row["domain_size"]), facts=(*tier.facts, size))


@remembered
def _system(thing: str) -> System:
    row = rows_by_id("systems")[thing]
    tiers = [line for line in rows("tiers") if line["id"] == thing]
    listed = facts("system_facts").get(thing, ())
    values = used(listed)
    return System(
        id=thing,
        name=row["name"],
        vendor=row["vendor"],
        accelerator=row["accelerator"],
        node_size=int(row["node_size"]),
        unit_accelerators=int(row["unit_accelerators"]),
        tiers=tuple(_tier(line) for line in tiers if line["carries_training"] == "1"),
        other_planes=tuple(_tier(line) for line in tiers if line["carries_training"] == "0"),
        unit_power_W=values.get("unit_power"),
        nics_per_node=values.get("nics_per_node"),
        facts=listed,
    )

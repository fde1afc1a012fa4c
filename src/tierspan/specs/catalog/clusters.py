"""A cluster of a catalogue system, with what the user says differs from it."""

from __future__ import annotations

import math
from dataclasses import replace

from tierspan.quantities.errors import InputError, Place
from tierspan.quantities.facts import Fact, Source
from tierspan.specs.catalog.things import accelerator, network_at, system
from tierspan.specs.hardware import Accelerator, Cluster, System, Tier, check_reach

_GIVEN = Source("given by the user", "inline")


def cluster(
    system_id: str,
    accelerators: int,
    *,
    node_size: int | None = None,
    domain_size: int | None = None,
    nic_Bps: float | None = None,
    place: Place | None = None,
) -> Cluster:
    """``accelerators`` of a catalogue system as a cluster.

    Args:
        system_id: id or alias of the system.
        accelerators: how many in all.
        node_size: accelerators per host where fewer are fitted than the system allows; the scale-up domain shrinks with the
            host where the two are one.
        domain_size: accelerators in one scale-up domain where it is smaller than the system allows (a slice of a pod).
        nic_Bps: scale-out bandwidth per accelerator and per direction in bytes/s, instead of the system's usual one.
        place: where the request was read, for errors.

    Raises:
        UnknownNameError: nothing in the catalogue has this name.
        InputError: a count or rate is not positive, or larger than the system has.
    """
    return cluster_of(system(system_id, place=place), accelerators, node_size=node_size, domain_size=domain_size, nic_Bps=nic_Bps, place=place)


def cluster_of(
    found: System,
    accelerators: int,
    *,
    card: Accelerator | None = None,
    node_size: int | None = None,
    domain_size: int | None = None,
    nic_Bps: float | None = None,
    place: Place | None = None,
    tiers_place: Place | None = None,
) -> Cluster:
    """The same as ``cluster`` for a system that is at hand.

    ``card`` is its accelerator where the catalogue's is not meant, ``tiers_place`` where its tiers were read. A system without a scale-out
    tier gets one of the rate ``nic_Bps`` where that is given (``things.network_at``).
    """
    for field, value in (("accelerators", accelerators), ("node_size", node_size), ("domain_size", domain_size), ("nic_Bps", nic_Bps)):
        if value is not None and not 0 < value < math.inf:
            raise InputError("value.not_positive", place=place, key=field, value=value)
    tiers = list(found.tiers)
    most = tiers[0].domain_size
    if domain_size is None and node_size is not None and node_size < found.node_size and most == found.node_size:
        domain_size = node_size
    if domain_size is not None:
        if most is not None and domain_size > most:
            raise InputError("catalog.domain_too_large", place=place, system=found.id, value=domain_size, largest=most)
        tiers[0] = _with_domain(tiers[0], domain_size, most)
    if node_size is not None and node_size > max(found.node_size, tiers[0].domain_size or node_size):
        raise InputError("catalog.node_too_large", place=place, system=found.id, value=node_size, largest=found.node_size)
    if nic_Bps is not None:
        if all(tier.kind == "scale-up" for tier in tiers):
            if tiers[-1].domain_size is None:
                raise InputError("cluster.nothing_beyond", place=tiers_place or place, tier=tiers[-1].name)
            tiers.append(network_at(nic_Bps))
        tiers = [_with_bandwidth(tier, nic_Bps) if tier.kind == "scale-out" else tier for tier in tiers]
    check_reach(tiers, accelerators, tiers_place or place)
    return Cluster(
        accelerator=card or accelerator(found.accelerator),
        accelerators=accelerators,
        node_size=node_size or found.node_size,
        tiers=tuple(tiers),
        system=found,
        other_planes=found.other_planes,
    )


def _with_domain(tier: Tier, size: int, most: int | None) -> Tier:
    if size == most:
        return tier
    given = Fact("domain_size", float(size), "1", _GIVEN, basis="accelerators in one domain", original=str(size))
    return replace(tier, domain_size=size, facts=_overridden(tier, given))


def _with_bandwidth(tier: Tier, bandwidth_Bps: float) -> Tier:
    given = Fact("bandwidth", bandwidth_Bps, "B/s", _GIVEN, basis="per direction, per accelerator", original=f"{bandwidth_Bps:g} B/s")
    return replace(tier, bandwidth_Bps=bandwidth_Bps, facts=_overridden(tier, given))


def _overridden(tier: Tier, given: Fact) -> tuple[Fact, ...]:
    return (given, *(replace(fact, used=False) if fact.key == given.key else fact for fact in tier.facts))

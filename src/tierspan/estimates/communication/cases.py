"""A collective to be estimated, and the keys under which its constants stand."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from tierspan.laws.communication.base import Setting
from tierspan.laws.communication.mesh import reachable_Bps, rings_of
from tierspan.specs.hardware import Cluster, Tier

DATA: Final = Path(__file__).parent / "data"
EFA_BEFORE: Final = 2022
"""Accelerators up to this year stand in instances of the first EFA generations."""


@dataclass(frozen=True, slots=True)
class CollectiveCase:
    """One collective on a cluster.

    ``size_bytes`` counts as nccl-tests does (the whole buffer). ``ranks_per_node`` ranks of the group on each host. ``algorithm``, ``protocol`` and
    ``nvls`` force what the library would choose (``None``: its choice). ``transport`` names the network's software path where it is not the
    catalogue's (``efa``, ``tcpxo``, ``roce-gib``, ``tcp`` ...). ``harness`` is who calls: ``process`` (one a rank), ``one_process`` or ``torch``.
    ``in_network`` says that switches of the network reduce (SHARP) and the library uses it; ``channels`` limits the channels of a ring.
    ``rail_aligned``: traffic between domains stays on NICs of equal number (as the libraries arrange it); else it meets in the spine.
    """

    operation: str
    size_bytes: float
    cluster: Cluster
    ranks: int
    ranks_per_node: int
    algorithm: str | None = None
    protocol: str | None = None
    nvls: bool | None = None
    transport: str | None = None
    library: str = "nccl"
    harness: str = "process"
    in_network: bool | None = None
    channels: int | None = None
    rail_aligned: bool = True


@dataclass(frozen=True, slots=True)
class Keys:
    """What decides the constants of a case: fabric generation, fabric, transport, library, caller."""

    generation: str
    fabric: str
    transport: str
    library: str
    harness: str

    def of(self, by: str) -> str:
        """The key of a constant that stands by ``by``."""
        if by == "library_transport":
            return f"{self.library}/{self.transport}"
        return str(getattr(self, by))


@dataclass(frozen=True, slots=True)
class Place:
    """A case on its tiers: members of one scale-up domain, domains, and the tiers it uses."""

    members: float
    groups: float
    up: Tier | None
    net: Tier | None
    up_Bps: float
    net_Bps: float

    @property
    def span(self) -> str:
        """Name of the outermost tier that the group needs."""
        tier = self.net if self.groups > 1 else self.up
        return tier.name if tier is not None else ""


def place_of(case: CollectiveCase) -> Place:
    """Where a case runs.

    Of a domain of several hosts every host brings ``ranks_per_node``; a last domain that is not full binds the share of the NICs. Without a
    scale-up tier every rank is a domain of its own.
    """
    c = case.cluster
    up = c.tiers[0] if c.tiers[0].kind == "scale-up" else None
    domain = c.scale_up_domain_size if up is not None else 1
    hosts = max(domain / c.node_size, 1.0)
    inside = min(case.ranks, case.ranks_per_node * hosts, domain)
    members = max(math.floor(inside), 1)
    groups = math.ceil(case.ranks / members)
    rest = case.ranks - members * (groups - 1)
    outer = [t for t in c.tiers if t is not up]
    net = None
    if groups > 1 and outer:
        needed = case.ranks if case.ranks_per_node >= c.node_size else c.accelerators
        net = next((t for t in outer if t.domain_size is None or t.domain_size >= needed), outer[-1])
        crossed = outer[: outer.index(net) + 1]
        net_Bps = min(t.bandwidth_Bps for t in crossed)
    else:
        net_Bps = outer[0].bandwidth_Bps if outer else math.nan
    return Place(float(min(members, rest)), float(groups), up, net or (outer[0] if outer else None), _up_Bps(up, members), net_Bps)


def keys_of(case: CollectiveCase, place: Place) -> Keys:
    """Keys of the constants of a case."""
    fabric, generation = "none", "none"
    if place.up is not None:
        fabric = place.up.transport
        digits = "".join(ch for ch in place.up.name.split("(")[0] if ch.isdigit())
        bridge = "bridge" in place.up.name.lower()
        generation = f"{fabric}-bridge" if bridge else f"{fabric}{digits[:1]}" if fabric == "nvlink" else fabric
    if generation in ("none",):
        generation = _generation_of(case.cluster)
    transport = case.transport or (place.net.transport if place.net is not None else "none")
    if transport == "efa":
        year = case.cluster.accelerator.year
        transport = "efa-1" if year is not None and year < EFA_BEFORE else "efa-2"
    return Keys(generation, fabric, transport, case.library, case.harness)


def setting_of(cases: Sequence[CollectiveCase], places: Sequence[Place], cross_rail: float) -> Setting:
    """Cases as arrays; ``cross_rail`` is the share of a NIC that traffic reaches which changes the rail."""

    def column(values: Sequence[float]) -> np.ndarray:
        return np.array(values, dtype=np.float64)

    return Setting(
        size_bytes=column([c.size_bytes for c in cases]),
        ranks=column([float(c.ranks) for c in cases]),
        members=column([p.members for p in places]),
        groups=column([p.groups for p in places]),
        up_Bps=column([p.up_Bps if p.up is not None else math.inf for p in places]),
        net_Bps=column([p.net_Bps * (1.0 if c.rail_aligned else cross_rail) for c, p in zip(cases, places, strict=True)]),
        in_switch=column([float(_in_switch(c, p)) for c, p in zip(cases, places, strict=True)]),
        in_network=column([float(_in_network(c, p)) for c, p in zip(cases, places, strict=True)]),
        channels=column([float(c.channels or math.inf) for c in cases]),
    )


def _in_switch(case: CollectiveCase, place: Place) -> bool:
    has = place.up is not None and place.up.in_network_reduction
    return has and case.nvls is not False


def _in_network(case: CollectiveCase, place: Place) -> bool:
    if case.in_network is not None:
        return case.in_network
    return case.algorithm == "collnet" or bool(place.net is not None and place.net.in_network_reduction)


def _generation_of(cluster: Cluster) -> str:
    """The generation of a cluster whose scale-up tier is not used, from its system: start and hops belong to the accelerator."""
    tier = cluster.system.tiers[0] if cluster.system is not None else None
    if tier is None or tier.kind != "scale-up":
        return "none"
    digits = "".join(ch for ch in tier.name.split("(")[0] if ch.isdigit())
    return f"nvlink{digits[:1]}" if tier.transport == "nvlink" else tier.transport


@cache
def _meshes() -> dict[str, Any]:
    raw: dict[str, Any] = json.loads((DATA / "meshes.json").read_text(encoding="utf-8"))
    return raw


def _up_Bps(up: Tier | None, members: float) -> float:
    if up is None:
        return math.nan
    mesh = _meshes().get(up.topology)
    if mesh is not None and 2 <= members <= len(mesh["links"]):
        return rings_of(mesh["links"], int(members)) * float(mesh["link_share_of_line"]) * up.bandwidth_Bps
    pair = up.pair_bandwidth_Bps or up.bandwidth_Bps
    return float(reachable_Bps(np.array(up.bandwidth_Bps), np.array(pair), np.array(members)))

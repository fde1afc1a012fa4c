"""A topology dump as a cluster: the system, the size of a host, the rate of the network, with what was assumed and found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tierspan.quantities.errors import InputError, Place
from tierspan.quantities.findings import Assumption, Finding
from tierspan.specs.catalog import cluster_of, fitting_system, resolve
from tierspan.specs.catalog import system as catalogue_system
from tierspan.specs.hardware import Cluster, System
from tierspan.specs.topology import TopologyDump
from tierspan.specs.topology_system.candidates import (
    accelerator_of,
    accelerators_possible,
    link_fact,
    named_accelerator,
    ordered,
    product_names,
    systems_possible,
)
from tierspan.specs.topology_system.checks import findings_of
from tierspan.specs.topology_system.inventory import Inventory, inventory, link_sum, links_per_gpu, ports_of, usual


@dataclass(frozen=True, slots=True)
class Described:
    """A dump as a cluster.

    ``nic_Bps`` is the scale-out rate of one accelerator where the dump tells it; ``node_size`` where it differs from the system's.
    """

    cluster: Cluster
    system: str
    assumptions: tuple[Assumption, ...]
    findings: tuple[Finding, ...]
    node_size: int | None = None
    nic_Bps: float | None = None

    @property
    def settings(self) -> Mapping[str, object]:
        """The keys of a cluster description, without the number of accelerators."""
        found: dict[str, object] = {"system": self.system}
        if self.node_size is not None:
            found["node_size"] = self.node_size
        if self.nic_Bps is not None:
            found["nic_Bps"] = self.nic_Bps
        return found


@dataclass(slots=True)
class _Notes:
    """Assumptions and questions on the way."""

    place: Place
    assumptions: list[Assumption] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def assume(self, name: str, value: object, reason: str, **values: object) -> None:
        self.assumptions.append(Assumption(name, value, reason, values))

    def ask(self, message: str, **values: object) -> None:
        self.findings.append(Finding(message, "question", values, self.place))


def cluster_of_topology(
    dump: TopologyDump, *, accelerators: int | None = None, accelerator: str | None = None, system: str | None = None
) -> tuple[Cluster, tuple[Assumption, ...], tuple[Finding, ...]]:
    """The cluster of a dump, what was assumed, and what was found; see ``describe_topology``."""
    found = describe_topology(dump, accelerators=accelerators, accelerator=accelerator, system=system)
    return found.cluster, found.assumptions, found.findings


def describe_topology(dump: TopologyDump, *, accelerators: int | None = None, accelerator: str | None = None, system: str | None = None) -> Described:
    """Describe a dump as a cluster of a catalogue system.

    Args:
        dump: what was read.
        accelerators: how many in all; left out: what the dump shows.
        accelerator: catalogue name of the accelerator, where the dump does not settle it.
        system: catalogue name of the system, likewise.

    Raises:
        InputError: the dump shows no accelerators, a product that the catalogue lacks, or nothing that singles out a system.
        UnknownNameError: the catalogue has no such accelerator or system.
    """
    place = Place(dump.place.file)
    found = inventory(dump)
    notes = _Notes(place)
    if not found.node_size:
        return _of_fabric(dump, notes, accelerators, accelerator, system)
    chosen = _system(found, notes, accelerator, system)
    nic_Bps = _network(found, chosen, notes, dump)
    size, seen = _size(found, chosen, notes)
    total = accelerators or seen
    if accelerators is None and found.whole and found.ranks is None and found.hosts == 1:
        notes.assume("accelerators", total, "topology.assume.one_host", count=total)
    node_size = size if size != chosen.node_size else None
    if node_size is not None and node_size > chosen.node_size:
        raise InputError("topology.host_too_large", place=place, found=node_size, system=chosen.id, most=chosen.node_size)
    built = cluster_of(chosen, total, node_size=node_size, nic_Bps=nic_Bps, place=place)
    _domain(found, chosen, notes)
    notes.findings += findings_of(dump, found, chosen)
    return Described(built, chosen.id, tuple(notes.assumptions), tuple(notes.findings), node_size, nic_Bps)


def _system(found: Inventory, notes: _Notes, accelerator: str | None, system: str | None) -> System:
    if system is not None:
        return catalogue_system(system)
    named, names = named_accelerator(found, notes.place) if accelerator is None else (resolve("accelerator", accelerator).id, {})
    if accelerator is not None:
        _told_differs(found, named, notes)
    if len(names) > 1:
        listed = ", ".join(f"{count} x {name}" for name, count in names.items())
        notes.findings.append(Finding("topology.mixed_products", "warning", {"names": listed, "taken": named}, notes.place))
    possible = (named,) if named else accelerators_possible(found)
    systems = systems_possible(found, possible, named=bool(named))
    ids = ordered({one.accelerator for one in systems})
    if not ids:
        if named:
            raise InputError("topology.host_too_large_for", place=notes.place, found=found.node_size, accelerator=named)
        raise InputError("topology.no_system", place=notes.place, gpus=found.node_size, links=links_per_gpu(found.nodes) or 0)
    if len(ids) > 1:
        notes.assume("accelerator", ids[0], "topology.assume.accelerator", taken=ids[0], candidates=", ".join(ids))
        notes.ask("topology.ask.accelerator", taken=ids[0], candidates=", ".join(ids), gpus=found.node_size, links=links_per_gpu(found.nodes) or "?")
    chosen = catalogue_system(fitting_system(ids[0], node_size=found.node_size))
    if chosen.id not in {one.id for one in systems}:
        chosen = next(one for one in systems if one.accelerator == ids[0])
    others = [one.id for one in systems if one.accelerator == ids[0] and one.id != chosen.id]
    if others:
        notes.assume("system", chosen.id, "topology.assume.system", taken=chosen.id, accelerator=ids[0], others=", ".join(others))
    return chosen


def _told_differs(found: Inventory, told: str, notes: _Notes) -> None:
    """Say where the accelerator that the caller names is another than the dump's."""
    for name in product_names(found):
        seen = accelerator_of(name)
        if seen and seen != told:
            notes.findings.append(Finding("topology.told_differs", "warning", {"told": told, "name": name}, notes.place))
            return


def _size(found: Inventory, chosen: System, notes: _Notes) -> tuple[int, int]:
    """Accelerators of a host and in all; where the list was cut and what is left does not add up, hosts count as full."""
    adds_up = found.ranks is None or found.hosts * found.node_size == found.ranks
    if found.whole or (adds_up and (found.ranks is not None or found.node_size >= chosen.node_size)):
        return found.node_size, found.accelerators
    full = chosen.node_size
    total = -(-(found.ranks or found.hosts * full) // full) * full
    notes.assume("node_size", full, "topology.assume.full_hosts", node_size=full, system=chosen.id, seen=found.node_size)
    notes.ask("topology.ask.cut", seen=len(found.gpus), total=total, node_size=full)
    return full, total


def _domain(found: Inventory, chosen: System, notes: _Notes) -> None:
    """A domain that is larger than a host cannot be seen from one."""
    size = chosen.tiers[0].domain_size
    if size is not None and size > chosen.node_size:
        notes.assume("domain_size", size, "topology.assume.domain", size=size, system=chosen.id, node_size=found.node_size)
    known, seen, summed = link_fact(chosen), links_per_gpu(found.nodes), link_sum(found.nodes)
    if known is None or seen is None:
        return
    values = {"seen": seen, "known": known, "system": chosen.id}
    if chosen.tiers[0].topology != "switched":
        if known not in (seen, summed):
            notes.findings.append(Finding("topology.links_differ", "warning", values, notes.place))
    elif seen != known:
        # As many links as behind a switch, and shared out among the peers: the board has none.
        message = "topology.direct_mesh" if summed == known else "topology.links_differ"
        notes.findings.append(Finding(message, "warning", values, notes.place))


def _network(found: Inventory, chosen: System, notes: _Notes, dump: TopologyDump) -> float | None:
    """Scale-out rate of one accelerator, from the ports of a host, else from the fabric of the same file; ``None``: the system's own."""
    out = next((tier for tier in chosen.tiers if tier.kind == "scale-out"), None)
    ports = [ports_of(node) for node in found.nodes if node.gpus]
    counts = usual(len(port.compute) for port in ports) or 0
    rate = usual(port.rate_Bps for port in ports if port.rate_Bps)
    if rate is not None:
        return rate / found.node_size
    fabric = _fabric_rate(dump)
    if fabric is not None:
        rate, per_host = fabric
        notes.assume("nic", rate * per_host / found.node_size, "topology.assume.nic_fabric", ports=per_host, gbps=_gbps(rate))
        return rate * per_host / found.node_size
    if out is None:
        return None
    taken = _gbps(out.bandwidth_Bps)
    if not counts:
        notes.assume("nic", out.bandwidth_Bps, "topology.assume.nic_unseen", gbps=taken, system=chosen.id, network=out.name)
    else:
        notes.assume("nic", out.bandwidth_Bps, "topology.assume.nic_rate", ports=counts, gpus=found.node_size, gbps=taken, system=chosen.id)
        if chosen.nics_per_node is not None and counts != chosen.nics_per_node * found.node_size / chosen.node_size:
            notes.ask("topology.ask.nic", ports=counts, gpus=found.node_size, system=chosen.id, known=round(chosen.nics_per_node), gbps=taken)
    return None


def _fabric_rate(dump: TopologyDump) -> tuple[float, int] | None:
    """Rate of a host port and ports of a host, where a fabric tells both."""
    for fabric in dump.fabrics:
        hosts = {node.id: node for node in fabric.of_kind("host")}
        rate = usual(link.rate_Bps for link in fabric.links if link.rate_Bps and (link.a in hosts or link.b in hosts))
        per_host = usual(fabric.hosts.values())
        if rate and per_host:
            return rate, per_host
    return None


def _of_fabric(dump: TopologyDump, notes: _Notes, accelerators: int | None, accelerator: str | None, system: str | None) -> Described:
    """A dump without accelerators: the network of hosts whose system the caller names."""
    if not dump.fabrics:
        unnamed = sum(node.unnamed_devices for node in dump.nodes)
        raise InputError("topology.no_accelerators", place=notes.place, unnamed=unnamed)
    if system is None and accelerator is None:
        raise InputError("topology.fabric_only", place=notes.place, hosts=max((len(fabric.hosts) for fabric in dump.fabrics), default=0))
    chosen = catalogue_system(system if system is not None else fitting_system(accelerator or ""))
    rate = _fabric_rate(dump)
    hosts = max(len(fabric.hosts) for fabric in dump.fabrics)
    nic_Bps = rate[0] * rate[1] / chosen.node_size if rate else None
    if rate is not None:
        notes.assume("nic", nic_Bps, "topology.assume.nic_fabric", ports=rate[1], gbps=_gbps(rate[0]))
        known = chosen.nics_per_node
        if known is not None and rate[1] != known:
            gbps = _gbps(nic_Bps or 0.0)
            notes.ask("topology.ask.nic", ports=rate[1], gpus=chosen.node_size, system=chosen.id, known=round(known), gbps=gbps)
    total = accelerators or hosts * chosen.node_size
    if not total:
        raise InputError("topology.fabric_only", place=notes.place, hosts=hosts)
    if accelerators is None:
        notes.assume("accelerators", total, "topology.assume.hosts", hosts=hosts, node_size=chosen.node_size)
    built = cluster_of(chosen, total, nic_Bps=nic_Bps, place=notes.place)
    notes.findings += findings_of(dump, inventory(dump), chosen)
    return Described(built, chosen.id, tuple(notes.assumptions), tuple(notes.findings), None, nic_Bps)


def _gbps(rate_Bps: float) -> str:
    return f"{rate_Bps * 8 / 1e9:g}"

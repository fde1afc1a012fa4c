"""What looks wrong in a dump: links that are missing, ports that are far, PCIe below the card, the library's fallbacks, sick cables."""

from __future__ import annotations

from collections.abc import Iterator

from tierspan.quantities.errors import Place
from tierspan.quantities.findings import Finding, Severity
from tierspan.specs.hardware import System
from tierspan.specs.topology import DIRECT_PATHS, Gpu, LibraryReport, Nic, NodeTopology, PcieLink, TopologyDump
from tierspan.specs.topology_system.candidates import table
from tierspan.specs.topology_system.fabric_checks import of_fabric
from tierspan.specs.topology_system.inventory import Inventory, ports_of, usual

_MESH_SHARE = 0.7  # links of one count below this share of all pairs: a mesh that is uneven by design
_LISTED = 5


def findings_of(dump: TopologyDump, found: Inventory, system: System | None = None) -> tuple[Finding, ...]:
    """Every finding of a dump, in a stable order; ``system`` is what the dump was taken for."""
    findings: list[Finding] = []
    for node in found.nodes:
        findings += _links(node)
        findings += _ports(node)
        findings += _pcie(node)
    findings += _hosts(found, Place(dump.place.file))
    for report in dump.reports:
        findings += _library(report, system)
    for fabric in dump.fabrics:
        findings += of_fabric(fabric)
    if dump.unread:
        first = dump.unread[0]
        findings.append(Finding("topology.unread", "info", {"count": len(dump.unread)}, Place(dump.place.file, first.line)))
    return tuple(findings)


def _links(node: NodeTopology) -> Iterator[Finding]:
    pairs = list(_pairs(node))
    yield from pairs
    named = {pair.values[end] for pair in pairs for end in ("a", "b")}
    usual_count = usual(gpu.links for gpu in node.gpus if gpu.links is not None and gpu.listed_whole)
    for gpu in node.gpus:
        if gpu.links_down:
            yield _at(node, "topology.links_down", "error", device=gpu.id, down=gpu.links_down, up=gpu.links or 0)
        elif usual_count and gpu.listed_whole and gpu.links is not None and gpu.links < usual_count and gpu.id not in named:
            yield _at(node, "topology.links_fewer", "warning", device=gpu.id, links=gpu.links, others=usual_count)


def _pairs(node: NodeTopology) -> Iterator[Finding]:
    """Pairs with fewer links than the others; in a mesh that is uneven by design only the sums count."""
    fast = [link for link in node.links if link.kind in ("NVLink", "xGMI")]
    counts = [link.count for link in fast if link.count is not None]
    most = usual(counts)
    pairs = len(node.gpus) * (len(node.gpus) - 1) // 2
    if most is None or counts.count(most) < _MESH_SHARE * pairs:
        return
    joined = {frozenset((link.a, link.b)) for link in fast}
    for link in fast:
        if link.count is not None and link.count < most:
            yield _at(node, "topology.pair_fewer", "warning", a=link.a, b=link.b, links=link.count, others=most)
    for link in node.links:
        if link.kind == "PCIe" and frozenset((link.a, link.b)) not in joined:
            yield _at(node, "topology.pair_none", "error", a=link.a, b=link.b, path=link.path or "PCIe", others=most)


def _ports(node: NodeTopology) -> Iterator[Finding]:
    ports = ports_of(node)
    if ports.management:
        yield _at(node, "topology.nic_management", "info", names=_names(ports.management), count=len(ports.management))
    if ports.far:
        far = ports.far[0]
        paths = sorted(set(far.paths.values()))
        yield _at(node, "topology.nic_far", "warning", names=_names(ports.far), count=len(ports.far), path="/".join(paths) or "?")
    if node.nics and node.gpus and not ports.compute:
        yield _at(node, "topology.nic_none", "warning", gpus=len(node.gpus))
    lost = [gpu.id for gpu in node.gpus if gpu.id in ports.near and ports.near[gpu.id] not in DIRECT_PATHS]
    if lost:
        path = "/".join(sorted({ports.near[name] for name in lost}))
        everyone = len(lost) == len(node.gpus)
        yield _at(node, "topology.no_direct_path", "question" if everyone else "warning", names=", ".join(lost), count=len(lost), path=path)
    off = [nic for nic in ports.compute if nic.gpu_direct is False]
    if off:
        yield _at(node, "topology.gdr_off", "warning", names=_names(tuple(off)), count=len(off))
    yield from _rates(node, ports.compute)


def _rates(node: NodeTopology, nics: tuple[Nic, ...]) -> Iterator[Finding]:
    lines = [float(row["rate_Gbps"]) for row in table("line_rates")]
    odd = [nic for nic in nics if nic.rate_Bps and not any(abs(nic.rate_Bps * 8 / 1e9 - rate) < 0.5 for rate in lines)]
    if odd:
        yield _at(node, "topology.nic_rate", "question", names=_names(tuple(odd)), count=len(odd), gbps=f"{(odd[0].rate_Bps or 0) * 8 / 1e9:g}")
    most = usual(nic.rate_Bps for nic in nics if nic.rate_Bps)
    for nic in nics:
        if most and nic.rate_Bps and nic.rate_Bps < most:
            yield _at(
                node, "topology.nic_slower", "warning", name=nic.id, gbps=f"{nic.rate_Bps * 8 / 1e9:g}", others=f"{most * 8 / 1e9:g}"
            )  # fmt: skip
    slots: dict[str, list[Nic]] = {}
    for nic in nics:
        slots.setdefault(nic.bus or nic.id, []).append(nic)
    for bus, mine in slots.items():
        limit = _bandwidth_Bps(mine[0].pcie)
        total = sum(nic.rate_Bps or 0.0 for nic in mine)
        if limit and total > limit:
            yield _at(node, "topology.nic_pcie", "warning", bus=bus, gbps=f"{total * 8 / 1e9:g}", limit=f"{limit * 8 / 1e9:.0f}")


def _pcie(node: NodeTopology) -> Iterator[Finding]:
    """Links of accelerators below their card or below the others, and bridges below what hangs on them."""
    best = max((gpu.pcie for gpu in node.gpus if gpu.pcie and gpu.pcie.known), key=_raw, default=None)
    below_card = [gpu for gpu in node.gpus if gpu.pcie and gpu.pcie_card and gpu.pcie.known and _raw(gpu.pcie) < _raw(gpu.pcie_card)]
    if below_card:
        first = below_card[0]
        values = {"runs": _text(first.pcie), "card": _text(first.pcie_card)}
        everyone = len(below_card) == len(node.gpus)
        yield _at(node, "topology.pcie_card", "question" if everyone else "warning", names=_names(tuple(below_card)), count=len(below_card), **values)
    for gpu in node.gpus:
        if best and gpu.pcie and gpu.pcie.known and gpu not in below_card and _raw(gpu.pcie) < _raw(best):
            yield _at(node, "topology.pcie_others", "warning", device=gpu.id, runs=_text(gpu.pcie), others=_text(best))
    slow = [(bus, link) for bus, link in node.bridges.items() if best and _raw(link) < _raw(best)]
    if slow and best:
        names = ", ".join(bus for bus, _ in slow[:_LISTED]) + (", ..." if len(slow) > _LISTED else "")
        yield _at(node, "topology.pcie_bridge", "question", names=names, count=len(slow), runs=_text(slow[0][1]), others=_text(best))


def _hosts(found: Inventory, place: Place) -> Iterator[Finding]:
    """Hosts that differ from the others."""
    if not found.whole:
        return
    sizes = [len(node.gpus) for node in found.nodes if node.gpus]
    for node in found.nodes:
        if node.gpus and len(node.gpus) != found.node_size and len(sizes) > 1:
            yield Finding("topology.host_size", "warning", {"host": node.host or "?", "found": len(node.gpus), "others": found.node_size}, place)
    ports = [len(ports_of(node).compute) for node in found.nodes if node.gpus]
    most = usual(ports)
    for node, count in zip([node for node in found.nodes if node.gpus], ports, strict=True):
        if most and count < most:
            yield Finding("topology.host_ports", "warning", {"host": node.host or "?", "found": count, "others": most}, place)


def _library(report: LibraryReport, system: System | None) -> Iterator[Finding]:
    place = report.place
    place = Place(place.file, place.line)
    network = {via.split("/")[1] for via in report.transports if via.startswith("NET/") and "/" in via}
    if report.network.casefold() == "socket" or network == {"Socket"}:
        yield Finding("topology.socket", "error", {"network": report.network or "Socket"}, place)
    elif report.gpu_direct is False:
        yield Finding("topology.gdr_log", "warning", {"network": report.network or "?"}, place)
    if report.nvls is False and system is not None and system.tiers[0].in_network_reduction:
        yield Finding("topology.nvls_off", "warning", {"system": system.id}, place)
    shared = sum(count for via, count in report.transports.items() if via.startswith("SHM"))
    if shared:
        yield Finding("topology.shared_memory", "warning", {"count": shared}, place)
    if report.warnings:
        yield Finding("topology.library_warnings", "info", {"count": len(report.warnings), "first": report.warnings[0]}, place)


def _raw(link: PcieLink | None) -> float:
    return (link.transfers_per_s or 0.0) * (link.lanes or 0) if link else 0.0


def _bandwidth_Bps(link: PcieLink | None) -> float | None:
    """Payload of a PCIe link before packet headers: 8b/10b coding up to 5 GT/s, 128b/130b above (PCI Express base specification)."""
    if link is None or not link.known:
        return None
    coding = 0.8 if (link.transfers_per_s or 0) <= 5e9 else 128 / 130
    return _raw(link) * coding / 8


def _text(link: PcieLink | None) -> str:
    if link is None:
        return "?"
    speed = "?" if link.transfers_per_s is None else f"{link.transfers_per_s / 1e9:g}"
    return f"{speed} GT/s x{link.lanes if link.lanes is not None else '?'}"


def _names(devices: tuple[Nic, ...] | tuple[Gpu, ...]) -> str:
    listed = [device.id for device in devices[:_LISTED]]
    return ", ".join(listed) + (", ..." if len(devices) > _LISTED else "")


def _at(node: NodeTopology, message: str, severity: Severity, **values: object) -> Finding:
    host = f" ({node.host})" if node.host else ""
    return Finding(message, severity, {**values, "host": host}, Place(node.place.file, node.place.line))

"""What a dump shows, put together over its parts: hosts with their accelerators and ports, the scale-up links of one accelerator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from tierspan.specs.topology import DIRECT_PATHS, PATHS, DeviceLink, Gpu, LibraryReport, Nic, NodeTopology, TopologyDump

T = TypeVar("T", int, float)
_SLOW_BPS = 25e9 / 8  # a port at or below this that does not read accelerator memory carries management traffic


@dataclass(frozen=True, slots=True)
class Inventory:
    """The hosts of a dump. ``ranks`` is what a library says about the whole job; ``whole`` is false where the list of accelerators was cut."""

    nodes: tuple[NodeTopology, ...]
    hosts: int
    node_size: int
    ranks: int | None = None
    nvls: bool | None = None
    whole: bool = True

    @property
    def gpus(self) -> tuple[Gpu, ...]:
        """Every accelerator that was read."""
        return tuple(gpu for node in self.nodes for gpu in node.gpus)

    @property
    def accelerators(self) -> int:
        """Accelerators in all."""
        return self.ranks if self.ranks and self.ranks >= self.hosts else self.hosts * self.node_size


def inventory(dump: TopologyDump) -> Inventory:
    """The hosts of all parts; parts that show the same host are joined."""
    nodes = _joined(dump.nodes)
    reports = dump.reports
    if not any(node.gpus for node in nodes):
        nodes = [node for report in reports for node in _nodes_of(report)] or nodes
    graphs = max((graphs.devices for graphs in dump.graphs), default=0)
    ranks = max((report.ranks or 0 for report in reports), default=0) or None
    hosts = max([len([node for node in nodes if node.gpus]), *(len(report.hosts) for report in reports)], default=0)
    node_size = max((_size(node) for node in nodes), default=0) or graphs
    read = sum(len(node.gpus) for node in nodes)
    whole = all(node.whole for node in nodes) if ranks is None else ranks <= read
    nvls = [report.nvls for report in reports if report.nvls is not None]
    return Inventory(tuple(nodes), max(hosts, 1 if node_size else 0), node_size, ranks, all(nvls) if nvls else None, whole)


def _size(node: NodeTopology) -> int:
    """Accelerators of a host; where a list was cut, device numbers tell more than the count."""
    return max([len(node.gpus), *((gpu.index or 0) + 1 for gpu in node.gpus if node.place.key == "report")])


def _nodes_of(report: LibraryReport) -> list[NodeTopology]:
    hosts = report.hosts or ("",)
    place = replace(report.place, key="report")
    return [
        NodeTopology(
            tuple(gpu for gpu in report.gpus if gpu.host == host),
            tuple(nic for nic in report.nics if nic.host == host),
            host=host,
            place=place,
        )
        for host in hosts
        if any(gpu.host == host for gpu in report.gpus)
    ]


def _joined(nodes: Sequence[NodeTopology]) -> list[NodeTopology]:
    """Parts of the same host (a matrix and the state of its links) as one; the same number of devices is needed to join."""
    found: list[NodeTopology] = []
    for node in nodes:
        same = next((i for i, other in enumerate(found) if other.host == node.host and _complement(other, node)), None)
        if same is None:
            found.append(node)
        else:
            found[same] = _merged(found[same], node)
    return found


def _complement(a: NodeTopology, b: NodeTopology) -> bool:
    """Whether two parts can be one host: two formats told them, and neither shows more accelerators unless the other was cut."""
    same_size = len(a.gpus) == len(b.gpus) or not (a.whole and b.whole)
    return bool(b.source) and b.source not in a.source.split("+") and same_size


def _merged(a: NodeTopology, b: NodeTopology) -> NodeTopology:
    base, more = (a, b) if (len(_fast(a)), len(a.links)) >= (len(_fast(b)), len(b.links)) else (b, a)
    by_index = {gpu.index: gpu for gpu in more.gpus}
    gpus = []
    for gpu in base.gpus:
        other = by_index.get(gpu.index)
        gpus.append(gpu if other is None else _merged_gpu(gpu, other))
    nics = max((base.nics, more.nics), key=lambda nics: (sum(nic.rate_Bps is not None for nic in nics), len(nics)))
    whole = base.whole or (more.whole and len(more.gpus) == len(gpus))
    return replace(base, gpus=tuple(gpus), nics=nics, bridges=base.bridges or more.bridges, whole=whole, source=f"{a.source}+{b.source}")


def _fast(node: NodeTopology) -> list[DeviceLink]:
    return [link for link in node.links if link.kind != "PCIe"]


def _merged_gpu(a: Gpu, b: Gpu) -> Gpu:
    return replace(
        a,
        name=a.name or b.name,
        pci_id=a.pci_id or b.pci_id,
        links=a.links if a.links is not None else b.links if b.listed_whole else None,
        architecture=a.architecture or b.architecture,
        gpu_direct=a.gpu_direct if a.gpu_direct is not None else b.gpu_direct,
        pcie=a.pcie or b.pcie,
        pcie_card=a.pcie_card or b.pcie_card,
        links_down=max(a.links_down, b.links_down),
        link_Bps=a.link_Bps or b.link_Bps,
    )


def links_per_gpu(nodes: Iterable[NodeTopology]) -> int | None:
    """The usual number of scale-up links of one accelerator; ``None`` where no accelerator tells it."""
    return usual(gpu.links for node in nodes for gpu in node.gpus if gpu.links and gpu.listed_whole) or _xgmi(nodes)


def _xgmi(nodes: Iterable[NodeTopology]) -> int | None:
    """Accelerators that are one xGMI hop away; each takes a link."""
    counts = []
    for node in nodes:
        near = [link for link in node.links if link.kind == "xGMI" and link.hops in (None, 1)]
        counts += [sum(gpu.id in (link.a, link.b) for link in near) for gpu in node.gpus] if near else []
    return usual(counts) or None


def link_kinds(nodes: Iterable[NodeTopology]) -> frozenset[str]:
    """Kinds of links between accelerators."""
    return frozenset(link.kind for node in nodes for link in node.links)


def link_sum(nodes: Iterable[NodeTopology]) -> int | None:
    """The usual sum over all peers of the direct links of one accelerator; ``None`` where the pairs do not tell a count."""
    sums = []
    for node in nodes:
        counted = [link for link in _fast(node) if link.count is not None]
        sums += [sum(link.count or 0 for link in counted if gpu.id in (link.a, link.b)) for gpu in node.gpus] if counted else []
    return usual(sums) or None


def usual(values: Iterable[T]) -> T | None:
    """The most frequent value; of several the largest."""
    count = Counter(values)
    return max(count, key=lambda value: (count[value], value)) if count else None


@dataclass(frozen=True, slots=True)
class Ports:
    """The ports of one host by what they are for: near an accelerator, far from all where others are near, management."""

    compute: tuple[Nic, ...]
    far: tuple[Nic, ...]
    management: tuple[Nic, ...]
    near: Mapping[str, str]  # best class by accelerator

    @property
    def rate_Bps(self) -> float | None:
        """Sum over the compute ports; ``None`` where one does not tell its rate."""
        rates = [nic.rate_Bps for nic in self.compute]
        return sum(rate for rate in rates if rate) if rates and all(rates) else None


def ports_of(node: NodeTopology) -> Ports:
    """Sort the ports of a host."""
    management = tuple(nic for nic in node.nics if _is_management(nic))
    rest = [nic for nic in node.nics if nic not in management]
    direct = [nic for nic in rest if any(path in DIRECT_PATHS for path in nic.paths.values())]
    compute = tuple(direct or rest)
    best: dict[str, str] = {}
    for nic in compute:
        for gpu, path in nic.paths.items():
            if gpu not in best or PATHS.index(path) < PATHS.index(best[gpu]):
                best[gpu] = path
    return Ports(compute, tuple(nic for nic in rest if nic not in compute), management, best)


def _is_management(nic: Nic) -> bool:
    slow = nic.rate_Bps is not None and nic.rate_Bps <= _SLOW_BPS
    return nic.link_layer == "Socket" or (slow and not nic.gpu_direct)

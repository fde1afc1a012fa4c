"""What topology dumps tell, in one neutral shape: the devices of a node and how they are joined, the fabric between nodes, the choices of a library.

Rates are bytes/s per direction. ``None`` or "" means that the dump does not say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from tierspan.quantities.errors import Place
from tierspan.specs.benchmark import Unread

PATHS: Final = ("PIX", "PXB", "PHB", "NODE", "SYS")
"""Classes of a PCIe path from near to far: one bridge; several; the host bridge of a CPU; across host bridges of a NUMA node; across nodes."""
DIRECT_PATHS: Final = ("PIX", "PXB")
"""Paths that do not pass a CPU: a NIC behind one reads the memory of the accelerator directly with the libraries' default settings."""


@dataclass(frozen=True, slots=True)
class PcieLink:
    """A PCIe link as it runs: transfers per second and lane, lanes."""

    transfers_per_s: float | None = None
    lanes: int | None = None

    @property
    def known(self) -> bool:
        """Whether both figures are there."""
        return self.transfers_per_s is not None and self.lanes is not None


@dataclass(frozen=True, slots=True)
class Gpu:
    """One accelerator of a dump.

    ``id`` is its name in the dump; ``name`` the product where the tool prints it or its PCI id tells it. ``links`` counts the scale-up
    links that are up (``None``: not told), ``links_down`` those that are not; ``listed_whole`` is false where the list was cut.
    """

    id: str
    host: str = ""
    index: int | None = None
    bus: str = ""
    name: str = ""
    pci_id: str = ""
    architecture: str = ""
    numa: str = ""
    gpu_direct: bool | None = None
    pcie: PcieLink | None = None
    pcie_card: PcieLink | None = None
    links: int | None = None
    links_down: int = 0
    link_Bps: float | None = None
    switched: bool | None = None
    listed_whole: bool = True


@dataclass(frozen=True, slots=True)
class Nic:
    """One network port. ``paths`` maps the id of an accelerator to the class of the PCIe path to it."""

    id: str
    name: str = ""
    host: str = ""
    bus: str = ""
    port: str = ""
    rate_Bps: float | None = None
    link_layer: str = ""
    pci_id: str = ""
    numa: str = ""
    gpu_direct: bool | None = None
    sharp: bool | None = None
    pcie: PcieLink | None = None
    paths: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DeviceLink:
    """What joins two accelerators of a host: ``kind`` is ``NVLink``, ``xGMI``, ``C2C`` or ``PCIe``; for PCIe ``path`` is its class."""

    a: str
    b: str
    kind: str
    count: int | None = None
    path: str = ""
    hops: int | None = None
    weight: int | None = None


@dataclass(frozen=True, slots=True)
class NodeTopology:
    """The inside of one host. ``bridges`` are the PCIe bridges above accelerators; ``whole`` is false where the file was cut inside.

    ``source`` names the format that told it.
    """

    gpus: tuple[Gpu, ...]
    nics: tuple[Nic, ...] = ()
    links: tuple[DeviceLink, ...] = ()
    host: str = ""
    unnamed_devices: int = 0
    bridges: Mapping[str, PcieLink] = field(default_factory=dict)
    cpus: int | None = None
    whole: bool = True
    source: str = ""
    place: Place = field(default_factory=Place)

    def between(self, a: str, b: str) -> DeviceLink | None:
        """What joins two accelerators, the better of several."""
        found = [link for link in self.links if {link.a, link.b} == {a, b}]
        return next((link for link in found if link.kind != "PCIe"), found[0] if found else None)


@dataclass(frozen=True, slots=True)
class Graph:
    """One search result of the library: a pattern with its channels, each an order of accelerators (device numbers)."""

    id: int
    pattern: str
    channel_count: int
    intra_Bps: float | None
    inter_Bps: float | None
    intra_path: str
    inter_path: str
    channels: tuple[tuple[int, ...], ...] = ()
    nets: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Graphs:
    """The graphs file of a library."""

    graphs: tuple[Graph, ...]
    place: Place = field(default_factory=Place)

    @property
    def devices(self) -> int:
        """Distinct accelerators that the channels name."""
        return len({dev for graph in self.graphs for channel in graph.channels for dev in channel})


@dataclass(frozen=True, slots=True)
class LibraryReport:
    """What a communication library said when it started.

    ``transports`` counts connections by how they run (``P2P/CUMEM``, ``NET/IBext/GDRDMA``); ``algorithms`` lists what the tuner chose;
    ``settings`` holds the variables that it took from the environment.
    """

    gpus: tuple[Gpu, ...] = ()
    nics: tuple[Nic, ...] = ()
    hosts: tuple[str, ...] = ()
    ranks: int | None = None
    version: str = ""
    driver: str = ""
    network: str = ""
    plugins: tuple[str, ...] = ()
    nvls: bool | None = None
    gpu_direct: bool | None = None
    channels: int | None = None
    trees: int | None = None
    rings: tuple[tuple[int, ...], ...] = ()
    transports: Mapping[str, int] = field(default_factory=dict)
    algorithms: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    place: Place = field(default_factory=Place)


@dataclass(frozen=True, slots=True)
class FabricNode:
    """A switch, host port, router or aggregation node of a fabric. ``ports`` counts what the device has."""

    id: str
    kind: str
    name: str
    ports: int | None = None
    host: str = ""
    device: str = ""


@dataclass(frozen=True, slots=True)
class FabricLink:
    """A cable between two ports. ``rate_Bps`` is the data rate; ``could_be`` what the tool says the link could run at."""

    a: str
    a_port: int
    b: str
    b_port: int
    width: int | None = None
    speed: str = ""
    rate_Bps: float | None = None
    state: str = ""
    could_be: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class FabricPort:
    """A port without a working link."""

    node: str
    port: int
    state: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Fabric:
    """The network between hosts."""

    nodes: tuple[FabricNode, ...]
    links: tuple[FabricLink, ...]
    ports_down: tuple[FabricPort, ...] = ()
    place: Place = field(default_factory=Place)

    def of_kind(self, kind: str) -> tuple[FabricNode, ...]:
        """The nodes of a kind: ``switch``, ``host``, ``aggregation``, ``router``."""
        return tuple(node for node in self.nodes if node.kind == kind)

    @property
    def hosts(self) -> Mapping[str, int]:
        """Ports by host, of the ports whose host is named."""
        count: dict[str, int] = {}
        for node in self.of_kind("host"):
            if node.host:
                count[node.host] = count.get(node.host, 0) + 1
        return count


TopologyPart: TypeAlias = NodeTopology | Graphs | LibraryReport | Fabric


@dataclass(frozen=True, slots=True)
class TopologyDump:
    """A file with one or several dumps. ``kind`` names the format of the first part."""

    kind: str
    parts: tuple[TopologyPart, ...]
    unread: tuple[Unread, ...] = ()
    place: Place = field(default_factory=Place)

    @property
    def nodes(self) -> tuple[NodeTopology, ...]:
        """The parts that show the inside of a host."""
        return tuple(part for part in self.parts if isinstance(part, NodeTopology))

    @property
    def reports(self) -> tuple[LibraryReport, ...]:
        """The parts that a library wrote."""
        return tuple(part for part in self.parts if isinstance(part, LibraryReport))

    @property
    def fabrics(self) -> tuple[Fabric, ...]:
        """The parts that show the network."""
        return tuple(part for part in self.parts if isinstance(part, Fabric))

    @property
    def graphs(self) -> tuple[Graphs, ...]:
        """The parts that hold search results."""
        return tuple(part for part in self.parts if isinstance(part, Graphs))

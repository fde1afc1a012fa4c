"""NCCL and RCCL topology XML (NCCL_TOPO_DUMP_FILE, NCCL_TOPO_FILE): CPUs, PCIe trees, accelerators with their links, network ports.

Schema: NVIDIA/nccl src/graph/xml.cc and topo.cc. ``speed`` of a net is in Mbit/s. A file that was written by hand often has only PCIe
devices with a class: display and accelerator classes count as accelerators, network classes as ports.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from tierspan.formats.topology.base import Format, Line, Reading, bounded, decimal, table, whole
from tierspan.formats.topology.tags import Element, has_tag, scan
from tierspan.quantities.errors import Place
from tierspan.specs.topology import DeviceLink, Gpu, Nic, NodeTopology, PcieLink

_KNOWN: Final = frozenset({"system", "cpu", "pci", "gpu", "nic", "net", "gin", "nvlink", "xgmi", "c2c", "pcilink"})
_GPU_CLASSES: Final = ("0x0302", "0x0380", "0x1200", "0x0300")
_NIC_CLASSES: Final = ("0x0200", "0x0207", "0x0280")
_SWITCH_CLASSES: Final = ("0x0680", "0x068")
_KINDS: Final = {"nvlink": "NVLink", "xgmi": "xGMI", "c2c": "C2C"}
_SPEED = re.compile(r"\s*(\d{1,4}(?:\.\d{1,3})?)\s*GT/s", re.ASCII)
_MOST_LINKS: Final = 1000


def recognise(lines: Sequence[Line]) -> bool:
    """Whether a topology element begins somewhere."""
    return has_tag(lines, "system", "cpu", "pci") and not has_tag(lines, "graphs")


def read(lines: Sequence[Line], place: Place) -> Reading:
    """Read every system of the text."""
    reading = Reading()
    tops = scan(lines, _KNOWN, place, reading)
    systems = [top for top in tops if top.tag == "system"]
    loose = [top for top in tops if top.tag != "system"]
    if loose:
        # The head of the file is missing: what stands belongs to one host.
        root = Element("system", {}, loose[0].line)
        for top in loose:
            top.parent = root
        root.children = loose
        systems.append(root)
    for part in [part for system in systems for part in _by_host(system)]:
        node = _System(part, place, reading).node()
        if node.gpus or node.nics or node.unnamed_devices:
            reading.parts.append(node)
    return reading


FORMAT: Final = Format("nccl-topology", recognise, read)


def _by_host(system: Element) -> list[Element]:
    """A file that was fused over several hosts, taken apart by the hash of the host that its CPUs carry."""
    hosts: dict[str, list[Element]] = {}
    for child in system.children:
        hosts.setdefault(child.get("host_hash") if child.tag == "cpu" else "", []).append(child)
    if len([host for host in hosts if host]) < 2:
        return [system]
    parts = []
    for host, children in hosts.items():
        part = Element("system", {"host": host}, children[0].line, children=children, closed=system.closed)
        for child in children:
            child.parent = part
        parts.append(part)
    return parts


class _System:
    """One ``system`` element on its way to a node."""

    def __init__(self, root: Element, place: Place, reading: Reading) -> None:
        self._root, self._place, self._reading = root, place, reading
        self._gpu_slots: set[int] = set()
        self._at: dict[str, Element] = {}  # where each device hangs: its pci element, or what stands for it

    def node(self) -> NodeTopology:
        gpus: list[Gpu] = []
        nics: list[Nic] = []
        unnamed = 0
        for element in self._root.walk():
            if element.tag == "gpu":
                gpus.append(self._gpu(element.parent or element, element, len(gpus)))
            elif element.tag == "net":
                nics.append(self._net(element, len(nics)))
            elif element.tag == "pci" and not any(child.tag in ("pci", "gpu", "nic", "net") for child in element.children):
                device_class = element.get("class").lower()
                if device_class.startswith(_GPU_CLASSES):
                    gpus.append(self._gpu(element, None, len(gpus)))
                elif device_class.startswith(_NIC_CLASSES):
                    nics.append(self._bare_nic(element, len(nics)))
                elif not device_class:
                    unnamed += 1
                    self._reading.skip(element.line, f"pci {element.get('busid')}", "topology.unread.class", bus=element.get("busid"))
        bounded(max(len(gpus), len(nics)), self._place)
        cpus = sum(element.tag == "cpu" for element in self._root.walk())
        return NodeTopology(
            gpus=tuple(gpus),
            nics=tuple(self._with_paths(nic, gpus) for nic in nics),
            links=(*self._links(gpus), *self._pcie_links(gpus)),
            host=self._root.get("host"),
            unnamed_devices=unnamed,
            bridges=self._bridges(),
            cpus=cpus or None,
            source="nccl-topology",
            whole=self._root.closed and not self._elided(),
            place=Place(self._place.file, self._root.line),
        )

    def _elided(self) -> bool:
        return any(unread.reason_id in ("topology.unread.elided", "topology.unread.cut") for unread in self._reading.unread)

    def _placed(self, name: str, slot: Element) -> str:
        """Remember where a device hangs, under a name that no other has."""
        number, identity = 1, name
        while identity in self._at:
            number += 1
            identity = f"{name}#{number}"
        self._at[identity] = slot
        return identity

    def _gpu(self, slot: Element, gpu: Element | None, count: int) -> Gpu:
        dev = whole(gpu.get("dev")) if gpu else None
        identity = self._placed(f"GPU{dev if dev is not None else count}", slot)
        self._gpu_slots.add(id(slot))
        pci_id = _pci_id(slot)
        known = next((row for row in table("pci_devices") if row["pci_id"] == pci_id), None)
        up = _links_up(gpu) if gpu else None
        architecture = ""
        if gpu is not None:
            architecture = f"gfx{gpu.get('gcn').removeprefix('gfx')}" if gpu.get("gcn") else f"sm{gpu.get('sm')}" if gpu.get("sm") else ""
        return Gpu(
            id=identity,
            index=dev if gpu is not None else count,
            bus=slot.get("busid"),
            name=known["name"] if known else "",
            pci_id=pci_id,
            architecture=architecture,
            numa=_numa(slot),
            gpu_direct=_flag(gpu.get("gdr")) if gpu else None,
            pcie=_pcie(slot),
            pcie_card=_card(known),
            links=up,
            switched=_switched(gpu) if gpu else None,
            listed_whole=gpu is None or gpu.closed,
        )

    def _net(self, net: Element, count: int) -> Nic:
        slot = next((element for element in net.above() if element.tag in ("pci", "cpu", "system")), net)
        name = net.get("name")
        identity = self._placed(name or f"NIC{count}", slot)
        speed = decimal(net.get("speed"))
        if speed is None or not 0 < speed < 1e8:
            if net.get("speed"):
                self._reading.skip(net.line, f"net {name} speed={net.get('speed')}", "topology.unread.value", key="speed", value=net.get("speed"))
            speed = None
        return Nic(
            id=identity,
            name=name,
            bus=slot.get("busid"),
            port=net.get("port"),
            rate_Bps=None if speed is None else speed * 1e6 / 8,
            pci_id=_pci_id(slot),
            numa=_numa(slot),
            gpu_direct=_flag(net.get("gdr")),
            sharp=_flag(net.get("coll")),
            pcie=_pcie(slot) if slot.tag == "pci" else None,
            link_layer=_layer(name, slot),
        )

    def _bare_nic(self, slot: Element, count: int) -> Nic:
        identity = self._placed(f"NIC{count}", slot)
        return Nic(
            id=identity, bus=slot.get("busid"), pci_id=_pci_id(slot), numa=_numa(slot), pcie=_pcie(slot), link_layer=_layer("", slot)
        )  # fmt: skip

    def _links(self, gpus: Sequence[Gpu]) -> list[DeviceLink]:
        by_bus = {gpu.bus: gpu.id for gpu in gpus if gpu.bus}
        found: dict[tuple[str, str, str], int | None] = {}
        for gpu in gpus:
            inner = next((child for child in self._at[gpu.id].children if child.tag == "gpu"), None)
            for link in inner.children if inner else ():
                if link.tag not in ("nvlink", "xgmi"):
                    continue
                other = by_bus.get(link.get("target"))
                if other == gpu.id:
                    self._reading.skip(link.line, f"{link.tag} {link.get('target')}", "topology.unread.self_link", device=gpu.id)
                elif other is not None:
                    first, second = sorted((gpu.id, other))
                    found[first, second, _KINDS[link.tag]] = _count(link)
        return [DeviceLink(a, b, kind, count) for (a, b, kind), count in found.items()]

    def _pcie_links(self, gpus: Sequence[Gpu]) -> list[DeviceLink]:
        if not any(gpu.bus for gpu in gpus):
            return []
        chains = {gpu.id: _chain(self._at[gpu.id]) for gpu in gpus}
        return [
            DeviceLink(a.id, b.id, "PCIe", path=path)
            for number, a in enumerate(gpus)
            for b in gpus[number + 1 :]
            if (path := _path(chains[a.id], chains[b.id]))
        ]

    def _with_paths(self, nic: Nic, gpus: Sequence[Gpu]) -> Nic:
        mine = _chain(self._at[nic.id])
        paths = {gpu.id: path for gpu in gpus if (path := _path(_chain(self._at[gpu.id]), mine))}
        return replace(nic, paths=paths)

    def _holds_gpu(self, bridge: Element) -> bool:
        slots = self._gpu_slots
        return id(bridge) not in slots and any(id(element) in slots for element in bridge.walk())

    def _bridges(self) -> Mapping[str, PcieLink]:
        found = {}
        for element in self._root.walk():
            link = _pcie(element) if element.tag == "pci" and element.children and self._holds_gpu(element) else None
            if link is not None and link.known:
                found[element.get("busid")] = link
        return found


def _chain(slot: Element) -> list[Element]:
    """From the device outwards: PCIe bridges, then the CPU."""
    return [slot, *slot.above()]


def _path(a: list[Element], b: list[Element]) -> str:
    """Class of the PCIe path between two devices; "" where the tree does not tell."""
    common = next((element for element in a if any(element is other for other in b)), None)
    if common is None:
        return ""
    if common.tag == "cpu":
        return "PHB"
    if common.tag == "pci":
        bridges = {
            id(element) for chain in (a, b) for element in chain[1:] if element.tag == "pci" and any(e is common for e in [element, *element.above()])
        }
        return "PIX" if len(bridges) <= 1 else "PXB"
    # Two CPUs below one system.
    return "SYS" if any(element.tag == "cpu" for element in a) and any(element.tag == "cpu" for element in b) else ""


def _links_up(gpu: Element) -> int | None:
    counts = [_count(child) for child in gpu.children if child.tag in ("nvlink", "xgmi")]
    known = [count for count in counts if count is not None]
    return sum(known) if counts and len(known) == len(counts) else None


def _switched(gpu: Element) -> bool | None:
    classes = {child.get("tclass").lower() for child in gpu.children if child.tag in ("nvlink", "xgmi")}
    if not classes or classes == {""}:
        return None
    return any(found.startswith(_SWITCH_CLASSES) for found in classes)


def _count(link: Element) -> int | None:
    count = whole(link.get("count"))
    return count if count is not None and 0 < count <= _MOST_LINKS else None


def _pcie(slot: Element) -> PcieLink | None:
    match = _SPEED.match(slot.get("link_speed"))
    speed = float(match[1]) * 1e9 if match else None
    lanes = whole(slot.get("link_width"))
    lanes = lanes if lanes is not None and 0 < lanes <= 32 else None
    return PcieLink(speed or None, lanes) if speed or lanes else None


def _card(row: Mapping[str, str] | None) -> PcieLink | None:
    if row is None or not row["pcie_transfers_GTps"]:
        return None
    return PcieLink(float(row["pcie_transfers_GTps"]) * 1e9, int(row["pcie_lanes"]))


def _pci_id(slot: Element) -> str:
    vendor, device = (slot.get(key).lower().removeprefix("0x") for key in ("vendor", "device"))
    return f"{vendor}:{device}" if slot.tag == "pci" and vendor and device and vendor.strip("0") else ""


def _numa(slot: Element) -> str:
    return next((element.get("numaid") for element in [slot, *slot.above()] if element.tag == "cpu"), "")


def _flag(text: str) -> bool | None:
    return {"0": False, "1": True}.get(text)


def _layer(name: str, slot: Element) -> str:
    if name.startswith(("eth", "en", "bond", "ib")) or slot.get("class").lower().startswith("0x0200"):
        return "InfiniBand" if name.startswith("ib") else "Ethernet"
    return "InfiniBand" if slot.get("class").lower().startswith("0x0207") else ""

"""What ibnetdiscover and iblinkinfo share: lane rates, names of hosts, links counted once."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from tierspan.formats.topology.base import table
from tierspan.quantities.errors import InputError, Place
from tierspan.specs.topology import Fabric, FabricLink, FabricNode, FabricPort

MAX_NODES: Final = 200_000
_AGGREGATION = "aggregation node"
_CARD = re.compile(r"MT\d+ |ConnectX|BlueField", re.IGNORECASE)


@lru_cache(maxsize=256)
def lane_rate_Bps(speed: str) -> float | None:
    """Data rate of one lane in bytes/s, from a generation (``NDR``) or the signalling rate as printed (``106.25``)."""
    for row in table("infiniband_lanes"):
        if speed.upper() == row["name"] or _same(speed, row["printed_lane_Gbps"]):
            return float(row["data_lane_Gbps"]) * 1e9 / 8
    return None


@lru_cache(maxsize=256)
def generation(speed: str) -> str:
    """Name of the generation of a printed signalling rate; the text itself where none fits."""
    return next((row["name"] for row in table("infiniband_lanes") if _same(speed, row["printed_lane_Gbps"])), speed)


def host_node(identity: str, description: str, ports: int | None = None) -> FabricNode:
    """A channel adapter: ``host device`` where the description names them; aggregation nodes of switches are kept apart."""
    text = description.strip()
    if _AGGREGATION in text.lower():
        return FabricNode(identity, "aggregation", text, ports)
    host, _, device = text.partition(" ")
    if not device or _CARD.search(text):
        return FabricNode(identity, "host", text, ports)
    return FabricNode(identity, "host", text, ports, host=host, device=device.strip())


class Builder:
    """Collects nodes and links; both ends of a cable report it, and it counts once."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.nodes: dict[str, FabricNode] = {}
        self._links: dict[frozenset[tuple[str, int]], FabricLink] = {}
        self._down: dict[tuple[str, int], FabricPort] = {}

    def node(self, node: FabricNode) -> None:
        """Add a node; one that was only seen from the other end gets its own description."""
        known = self.nodes.get(node.id)
        if known is None or (known.ports is None and node.ports is not None) or (node.host and not known.host):
            self.nodes[node.id] = node
        if len(self.nodes) > MAX_NODES:
            raise InputError("topology.too_many", place=self._place, count=len(self.nodes), most=MAX_NODES)

    def link(self, link: FabricLink) -> None:
        """Add a link."""
        self._links.setdefault(frozenset({(link.a, link.a_port), (link.b, link.b_port)}), link)

    def down(self, port: FabricPort) -> None:
        """Add a port without a link."""
        self._down.setdefault((port.node, port.port), port)

    def fabric(self) -> Fabric:
        """What was collected."""
        return Fabric(tuple(self.nodes.values()), tuple(self._links.values()), tuple(self._down.values()), self._place)


def _same(text: str, printed: str) -> bool:
    try:
        return abs(float(text) - float(printed)) < 1e-3
    except ValueError:
        return False

"""NCCL graph XML (NCCL_GRAPH_DUMP_FILE): channels that the library's search found. Speeds are GB/s a channel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tierspan.formats.topology.base import Format, Line, Reading, decimal, whole
from tierspan.formats.topology.tags import Element, has_tag, scan
from tierspan.quantities.errors import Place
from tierspan.specs.topology import Graph, Graphs

_KNOWN: Final = frozenset({"graphs", "graph", "channel", "gpu", "net"})
_PATTERNS: Final = {1: "balanced tree", 2: "split tree", 3: "tree", 4: "ring", 5: "nvls", 6: "collnet direct"}


def recognise(lines: Sequence[Line]) -> bool:
    """Whether a graph begins somewhere."""
    return has_tag(lines, "graphs", "graph")


def read(lines: Sequence[Line], place: Place) -> Reading:
    """Read every graph of the text."""
    reading = Reading()
    found: list[Graph] = []
    for top in scan(lines, _KNOWN, place, reading):
        for element in top.walk():
            if element.tag == "graph":
                graph = _graph(element, reading)
                if graph is not None:
                    found.append(graph)
    if found:
        reading.parts.append(Graphs(tuple(found), Place(place.file, lines[0].number if lines else None)))
    return reading


FORMAT: Final = Format("nccl-graph", recognise, read)


def _graph(element: Element, reading: Reading) -> Graph | None:
    identity, pattern = whole(element.get("id")), whole(element.get("pattern"))
    if identity is None or pattern is None:
        reading.skip(element.line, "<graph>", "topology.unread.value", key="id, pattern", value=element.get("id") or element.get("pattern"))
        return None
    channels = [child for child in element.children if child.tag == "channel"]
    declared = whole(element.get("nchannels"))
    if declared is not None and declared != len(channels):
        reading.skip(element.line, f"<graph id={identity}>", "topology.unread.channels", declared=declared, found=len(channels))
    return Graph(
        id=identity,
        pattern=_PATTERNS.get(pattern, f"pattern {pattern}"),
        channel_count=len(channels) if declared is None else declared,
        intra_Bps=_speed(element.get("speedintra")),
        inter_Bps=_speed(element.get("speedinter")),
        intra_path=element.get("typeintra"),
        inter_path=element.get("typeinter"),
        channels=tuple(_devices(channel, reading) for channel in channels),
        nets=tuple(tuple(net.get("dev") for net in channel.children if net.tag == "net") for channel in channels),
    )


def _devices(channel: Element, reading: Reading) -> tuple[int, ...]:
    found = []
    for child in channel.children:
        if child.tag == "gpu":
            dev = whole(child.get("dev"))
            if dev is None or dev < 0:
                reading.skip(child.line, "<gpu>", "topology.unread.value", key="dev", value=child.get("dev"))
            else:
                found.append(dev)
    return tuple(found)


def _speed(text: str) -> float | None:
    value = decimal(text)
    return None if value is None else value * 1e9

"""``ibnetdiscover``: switches, channel adapters and the cables between them, each cable reported by both its ends."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tierspan.formats.topology.base import Format, Line, Reading, elided, whole
from tierspan.formats.topology.infiniband import Builder, host_node, lane_rate_Bps
from tierspan.quantities.errors import Place
from tierspan.specs.topology import FabricLink, FabricNode

_NODE = re.compile(r'\s*(Switch|Ca|Rt)\s{1,8}(\d{1,4})\s{1,8}"([SHR]-[0-9a-fA-F]{1,16})"\s{0,40}#\s{0,8}"([^"]{0,200})"')
_PORT = re.compile(
    r'\s*\[(\d{1,4})\](?:\[ext \d{1,4}\])?(?:\([0-9a-fA-F]{1,16}\))?\s{1,40}"([SHR]-[0-9a-fA-F]{1,16})"\[(\d{1,4})\](?:\[ext \d{1,4}\])?'
    r"(?:\([0-9a-fA-F]{1,16}\))?\s{0,40}(?:#\s{0,8}(.{0,400}))?$"
)
_RATE = re.compile(r"(?:^|\s)(\d{1,2})x([A-Z]{3}\d{0,2})(?:\s|$)")
_QUOTED = re.compile(r'"([^"]{0,200})"')
_START = re.compile(r'\s*(?:Switch|Ca|Rt)\s+\d+\s+"[SHR]-')
_KINDS: Final = {"Switch": "switch", "Rt": "router"}


def recognise(lines: Sequence[Line]) -> bool:
    """Whether the head of a device stands somewhere."""
    return any(_START.match(line.bare) for line in lines)


def read(lines: Sequence[Line], place: Place) -> Reading:
    """Read devices and cables."""
    reading = Reading()
    first = next((line.number for line in lines if _START.match(line.bare)), None)
    builder = Builder(Place(place.file, first))
    now = ""
    for line in lines:
        text = line.bare
        if node := _NODE.match(text):
            now = node[3]
            ports = whole(node[2])
            builder.node(host_node(now, node[4], ports) if node[1] == "Ca" else FabricNode(now, _KINDS[node[1]], node[4], ports))
        elif text.lstrip().startswith("["):
            _port(line, now, builder, reading)
        elif _START.match(text):
            now = ""
            reading.skip(line, line.text, "topology.unread.line")
        elif elided(text):
            reading.skip(line, line.text, "topology.unread.elided")
    fabric = builder.fabric()
    if fabric.nodes:
        reading.parts.append(fabric)
    return reading


FORMAT: Final = Format("ibnetdiscover", recognise, read)


def _port(line: Line, now: str, builder: Builder, reading: Reading) -> None:
    match = _PORT.match(line.bare)
    if match is None or not now:
        reading.skip(line, line.text, "topology.unread.line")
        return
    here, other, there = whole(match[1]), match[2], whole(match[3])
    rest = match[4] or ""
    rate = _RATE.search(_QUOTED.sub(" ", rest))
    if here is None or there is None:
        reading.skip(line, line.text, "topology.unread.line")
        return
    width, speed = (whole(rate[1]), rate[2]) if rate else (None, "")
    lane = lane_rate_Bps(speed) if speed else None
    if rate is None or lane is None:
        reading.skip(line, line.text, "topology.unread.rate")
    if other not in builder.nodes:
        name = _QUOTED.search(rest)
        described = name[1] if name else ""
        kind = {"S": "switch", "R": "router"}.get(other[0])
        builder.node(FabricNode(other, kind, described) if kind else host_node(other, described))
    rate_Bps = lane * width if lane is not None and width else None
    builder.link(FabricLink(now, here, other, there, width, speed, rate_Bps, line=line.number))

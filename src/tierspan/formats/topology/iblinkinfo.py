"""``iblinkinfo``: one row a port with width, signalling rate of a lane, state, and what the link could run at."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tierspan.formats.topology.base import Format, Line, Reading, elided, is_comment, whole
from tierspan.formats.topology.infiniband import Builder, generation, host_node, lane_rate_Bps
from tierspan.quantities.errors import Place
from tierspan.specs.topology import FabricLink, FabricNode, FabricPort

_HEAD = re.compile(r"\s*(CA|Switch):\s{0,8}(?:(0x[0-9a-fA-F]{1,16})\s{1,8})?(.{1,200}?):?\s*$")
_ROW = re.compile(
    r"\s*(?:0x[0-9a-fA-F]{1,16}\s{1,20})?\"?(\d{1,6})\s{1,12}(\d{1,4})\[[^\]]{0,8}\]\s{0,4}==\(([^)]{0,80})\)==>"
    r"(?:\s{1,40}(\d{1,6})\s{1,20}(\d{1,4})\[[^\]]{0,8}\]\s{0,4}\"([^\"]{0,200})\"|\s{0,40}\[[^\]]{0,8}\]\s{0,4}\"[^\"]{0,200}\")"
    r"\s{0,8}(?:\(\s{0,8}(.{0,120}?)\s{0,8}\))?\s*$"
)
_CABLE = re.compile(r"\s*(\d{1,2})X\s{1,16}([\d.]{1,12})\s{1,4}Gbps\s{1,8}(\w{1,20})\s{0,4}/\s{0,4}(\w{1,20})")
_SWITCH = re.compile(r"^MF0;|:[A-Z]{2,4}\d{3,5}/|switch", re.IGNORECASE)


def recognise(lines: Sequence[Line]) -> bool:
    """Whether a row of a port stands somewhere."""
    return any("==(" in line.bare and ("Gbps" in line.bare or "Down" in line.bare) for line in lines)


def read(lines: Sequence[Line], place: Place) -> Reading:
    """Read devices, cables and ports without a link."""
    reading = Reading()
    first = next((line.number for line in lines if "==(" in line.bare), None)
    builder = Builder(Place(place.file, first))
    head: tuple[str, str] | None = None
    for line in lines:
        if is_comment(line) or not line.bare.strip():
            continue
        if "==(" in line.bare:
            _row(line, head, builder, reading)
        elif match := _HEAD.match(line.bare):
            head = (match[1], match[3])
        elif elided(line.bare):
            reading.skip(line, line.text, "topology.unread.elided")
        elif head is not None:
            reading.skip(line, line.text, "topology.unread.line")
    fabric = builder.fabric()
    if fabric.nodes:
        reading.parts.append(fabric)
    return reading


FORMAT: Final = Format("iblinkinfo", recognise, read)


def _row(line: Line, head: tuple[str, str] | None, builder: Builder, reading: Reading) -> None:
    match = _ROW.match(line.bare)
    port = whole(match[2]) if match else None
    if match is None or port is None or head is None:
        reading.skip(line, line.text, "topology.unread.line")
        return
    here = f"lid {match[1]}"
    builder.node(FabricNode(here, "switch", head[1]) if head[0] == "Switch" else host_node(here, head[1], 1))
    cable = _CABLE.match(match[3])
    other, there = match[4], whole(match[5])
    if other is None or there is None:
        builder.down(FabricPort(here, port, " ".join(match[3].split()), line.number))
        return
    far = f"lid {other}"
    if far not in builder.nodes:
        builder.node(FabricNode(far, "switch", match[6]) if _SWITCH.search(match[6]) else host_node(far, match[6]))
    if cable is None:
        reading.skip(line, line.text, "topology.unread.rate")
        builder.link(FabricLink(here, port, far, there, could_be=match[7] or "", line=line.number))
        return
    width = whole(cable[1])
    lane = lane_rate_Bps(cable[2])
    if lane is None:
        reading.skip(line, line.text, "topology.unread.rate")
    rate_Bps = lane * width if lane is not None and width else None
    state = f"{cable[3]}/{cable[4]}"
    builder.link(FabricLink(here, port, far, there, width, generation(cable[2]), rate_Bps, state, match[7] or "", line.number))

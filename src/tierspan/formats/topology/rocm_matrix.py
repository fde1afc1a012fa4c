"""``rocm-smi --showtopo``: weight, hops and link type of each pair of accelerators, one table each, then the NUMA nodes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tierspan.formats.topology.base import Format, Line, Reading, bounded, by_tag, elided, is_comment, whole
from tierspan.quantities.errors import Place
from tierspan.specs.topology import DeviceLink, Gpu, NodeTopology

_TITLES: Final = {"weight between": "weight", "hops between": "hops", "link type between": "type"}
_RULE = re.compile(r"\s*={3,}")
_GPU = re.compile(r"GPU\d{1,4}")
_NUMA = re.compile(r"\s*GPU\[(\d{1,4})\]\s*:\s*\(Topology\)\s*Numa Node:\s*(-?\d{1,4})")
_KINDS: Final = {"XGMI": "xGMI", "PCIE": "PCIe"}


def recognise(lines: Sequence[Line]) -> bool:
    """Whether the title of one of the tables stands somewhere."""
    return any(_title(line.bare) for line in lines)


def read(lines: Sequence[Line], place: Place) -> Reading:
    """Read the tables; what several processes wrote is taken apart by their tag."""
    reading = Reading()
    for tag, mine in by_tag(lines).items():
        _read_one(tag, mine, place, reading)
    return reading


FORMAT: Final = Format("rocm-smi-topo", recognise, read)


def _title(text: str) -> str:
    lowered = text.lower()
    return next((name for words, name in _TITLES.items() if words in lowered and "gpu" in lowered), "") if _RULE.match(text) else ""


def _read_one(tag: str, lines: Sequence[Line], place: Place, reading: Reading) -> None:
    section, first = "", 0
    columns: list[str] = []
    cells: dict[str, dict[tuple[str, str], str]] = {name: {} for name in _TITLES.values()}
    names: list[str] = []
    numa: dict[str, str] = {}
    for line in lines:
        if is_comment(line) or not line.bare.strip():
            continue
        if found := _NUMA.match(line.bare):
            numa[f"GPU{found[1]}"] = found[2]
        elif _RULE.match(line.bare):
            section, columns = _title(line.bare), []
            first = first or (line.number if section else 0)
        elif section:
            tokens = line.bare.split()
            if elided(line.bare):
                reading.skip(line, line.text, "topology.unread.elided")
            elif all(_GPU.fullmatch(token) for token in tokens):
                if len(set(tokens)) != len(tokens):
                    reading.skip(line, line.text, "topology.unread.row_twice", label=tokens[0])
                elif not columns:
                    columns = tokens
                    names += [name for name in columns if name not in names]
                    bounded(len(names), Place(place.file, line.number))
            else:
                _row(tokens, columns, cells[section], line, reading)
    if names and any(cells.values()):
        host = tag if tag and not tag.replace(",", "").isdigit() else ""
        reading.parts.append(_node(names, cells, numa, host, Place(place.file, first), reading))


def _row(tokens: list[str], columns: list[str], cells: dict[tuple[str, str], str], line: Line, reading: Reading) -> None:
    if not columns or not _GPU.fullmatch(tokens[0]):
        reading.skip(line, line.text, "topology.unread.row_unknown", label=tokens[0])
        return
    if len(tokens) - 1 != len(columns):
        reading.skip(line, line.text, "topology.unread.row_short", label=tokens[0], found=len(tokens) - 1, expected=len(columns))
    for column, cell in zip(columns, tokens[1:], strict=False):
        cells[tokens[0], column] = cell


def _node(
    names: list[str], cells: dict[str, dict[tuple[str, str], str]], numa: dict[str, str], host: str, place: Place, reading: Reading
) -> NodeTopology:
    links = []
    for number, a in enumerate(names):
        for b in names[number + 1 :]:
            kind_text = _cell(cells["type"], a, b)
            kind = _KINDS.get(kind_text.upper(), "")
            if kind_text and not kind:
                reading.skip(place.line or 0, f"{a} {b}", "topology.unread.cell", label=a, column=b, cell=kind_text)
            hops, weight = (_count(_cell(cells[name], a, b)) for name in ("hops", "weight"))
            if kind or hops is not None or weight is not None:
                links.append(DeviceLink(a, b, kind or "unknown", hops=hops, weight=weight))
    gpus = []
    for name in names:
        mine = [link for link in links if name in (link.a, link.b)]
        told = len(mine) == len(names) - 1 and all(link.kind != "unknown" for link in mine)
        gpus.append(Gpu(id=name, host=host, index=whole(name[3:]), numa=numa.get(name, ""), listed_whole=told))
    return NodeTopology(tuple(gpus), links=tuple(links), host=host, source="rocm-smi-topo", place=place)


def _cell(cells: dict[tuple[str, str], str], a: str, b: str) -> str:
    return cells.get((a, b)) or cells.get((b, a)) or ""


def _count(text: str) -> int | None:
    value = whole(text)
    return value if value is not None and value >= 0 else None

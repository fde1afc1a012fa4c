"""``nvidia-smi topo -m``: how each pair of devices is joined. Cells: X, NV<links>, PIX, PXB, PHB, NODE, SYS; then affinity columns, then a legend."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tierspan.formats.topology.base import Format, Line, Reading, bounded, by_tag, elided, is_comment, whole
from tierspan.quantities.errors import Place
from tierspan.specs.topology import PATHS, DeviceLink, Gpu, Nic, NodeTopology

_GPU = re.compile(r"GPU(\d{1,4})")
_PORT = re.compile(r"(?:NIC\d{1,4}|(?:mlx[45x]?|bnxt|hfi|efa|rdmap|roce|rocep|ibp|irdma|qedr|erdma|ionic|bond|ib|rxe)\w{0,40})")
_CELL = re.compile(r"X|NV\d{1,3}|[A-Z]{3,6}")
_LEGEND = re.compile(r"\s*(NIC\d{1,4})\s{0,8}:\s{0,8}(\S{1,100})\s*$")
_KEY = re.compile(r"\s*(?:X|SYS|NODE|PHB|PXB|PIX|SOC|PSB|NV#)\s*=")
_OLD: Final = {"SOC": "SYS", "PSB": "PXB"}
_AFTER: Final = ("CPU", "NUMA")


def recognise(lines: Sequence[Line]) -> bool:
    """Whether a head row is followed by a row of cells."""
    seen = False
    for line in lines:
        if "GPU" not in line.bare:
            continue
        if _head(line.bare):
            seen = True
        elif seen and any(cell == "X" or cell in PATHS or cell.startswith("NV") for cell in _cells(line.bare.split())):
            return True
    return False


def read(lines: Sequence[Line], place: Place) -> Reading:
    """Read every matrix; rows of several processes are taken apart by their tag."""
    reading = Reading()
    for tag, mine in by_tag(lines).items():
        _read_one(tag, mine, place, reading)
    reading.unread.sort(key=lambda unread: unread.line)
    return reading


FORMAT: Final = Format("nvidia-smi-topo", recognise, read)


class _Matrix:
    """One matrix on its way to a node."""

    def __init__(self, columns: list[str], line: Line, tag: str) -> None:
        self.columns, self.line, self.host = columns, line, tag if tag and not tag.replace(",", "").isdigit() else ""
        self.cells: dict[tuple[str, str], str] = {}
        self.rows: set[str] = set()
        self.numa: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self.short: set[str] = set()


def _read_one(tag: str, lines: Sequence[Line], place: Place, reading: Reading) -> None:
    matrix: _Matrix | None = None
    for line in lines:
        if is_comment(line) or not line.bare.strip():
            continue
        if columns := _head(line.bare):
            _finish(matrix, place, reading)
            bounded(len(columns), Place(place.file, line.number))
            matrix = _Matrix(columns, line, tag)
            continue
        if matrix is None:
            continue
        if elided(line.bare):
            reading.skip(line, line.text, "topology.unread.elided")
        elif legend := _LEGEND.match(line.bare):
            matrix.names[legend[1]] = legend[2]
        elif not _KEY.match(line.bare):
            _row(matrix, line, reading)
    _finish(matrix, place, reading)


def _head(text: str) -> list[str]:
    """Names of the columns where the line is a head row, else nothing."""
    tokens = text.split()
    names: list[str] = []
    for token in tokens:
        if token in _AFTER or (token == "GPU" and names):
            break
        if not (_GPU.fullmatch(token) or _PORT.fullmatch(token)):
            return []
        names.append(token)
    # A row has cells behind its label; a head row of one device has the affinity columns.
    if not any(_GPU.fullmatch(name) for name in names) or len(set(names)) != len(names):
        return []
    return names if len(names) > 1 or len(tokens) > len(names) else []


def _cells(tokens: list[str]) -> list[str]:
    """The cells behind the label of a row."""
    if len(tokens) < 2 or not (_GPU.fullmatch(tokens[0]) or _PORT.fullmatch(tokens[0])):
        return []
    cells = []
    for token in tokens[1:]:
        if not _CELL.fullmatch(token):
            break
        cells.append(token)
    return cells


def _row(matrix: _Matrix, line: Line, reading: Reading) -> None:
    tokens = line.bare.split()
    cells = _cells(tokens)[: len(matrix.columns)]
    if not cells:
        if _GPU.fullmatch(tokens[0]) or _PORT.fullmatch(tokens[0]):
            reading.skip(line, line.text, "topology.unread.row_short", label=tokens[0], found=0, expected=len(matrix.columns))
        return
    label = tokens[0]
    if label not in matrix.columns:
        reading.skip(line, line.text, "topology.unread.row_unknown", label=label)
        return
    if label in matrix.rows:
        reading.skip(line, line.text, "topology.unread.row_twice", label=label)
        return
    matrix.rows.add(label)
    if len(cells) < len(matrix.columns):
        matrix.short.add(label)
        reading.skip(line, line.text, "topology.unread.row_short", label=label, found=len(cells), expected=len(matrix.columns))
    for column, cell in zip(matrix.columns, cells, strict=False):
        cell = _OLD.get(cell, cell)
        if (column == label) != (cell == "X"):
            reading.skip(line, line.text, "topology.unread.cell", label=label, column=column, cell=cell)
        elif cell == "X" or cell in PATHS or (cell.startswith("NV") and cell[2:].isdigit()):
            matrix.cells[label, column] = cell
        else:
            reading.skip(line, line.text, "topology.unread.cell", label=label, column=column, cell=cell)
    affinity = tokens[1 + len(cells) :]
    if len(cells) == len(matrix.columns) and len(affinity) > 1:
        matrix.numa[label] = affinity[1]


def _finish(matrix: _Matrix | None, place: Place, reading: Reading) -> None:
    if matrix is None or not matrix.cells:
        return
    gpus = [name for name in matrix.columns if _GPU.fullmatch(name)]
    ports = [name for name in matrix.columns if not _GPU.fullmatch(name)]
    for missing in [name for name in matrix.columns if name not in matrix.rows]:
        reading.skip(matrix.line, missing, "topology.unread.row_missing", label=missing)
    links = [
        link
        for number, a in enumerate(gpus)
        for b in gpus[number + 1 :]
        if (cell := _agreed(matrix, a, b, reading)) and (link := _link(a, b, cell))
    ]  # fmt: skip
    read_gpus = []
    for name in gpus:
        counts = [link.count or 0 for link in links if name in (link.a, link.b) and link.kind == "NVLink"]
        told = sum(name in (link.a, link.b) for link in links) == len(gpus) - 1
        uniform = bool(counts) and len(counts) == len(gpus) - 1 > 1 and len(set(counts)) == 1
        read_gpus.append(
            Gpu(
                id=name,
                host=matrix.host,
                index=whole(name[3:]),
                numa=matrix.numa.get(name, ""),
                links=(counts[0] if uniform else sum(counts)) if told and counts else None,
                listed_whole=told,
            )
        )
    nics = [
        Nic(
            id=name,
            name=matrix.names.get(name, "" if name.startswith("NIC") else name),
            host=matrix.host,
            paths={gpu: cell for gpu in gpus if (cell := _agreed(matrix, gpu, name, reading)) in PATHS},
        )
        for name in ports
    ]
    node = NodeTopology(
        tuple(read_gpus), tuple(nics), tuple(links), host=matrix.host, source="nvidia-smi-topo", place=Place(place.file, matrix.line.number)
    )
    reading.parts.append(node)


def _agreed(matrix: _Matrix, a: str, b: str, reading: Reading) -> str:
    """The cell of a pair, from whichever row has it; two rows that disagree are reported and the first holds."""
    there, back = matrix.cells.get((a, b), ""), matrix.cells.get((b, a), "")
    if there and back and there != back:
        reading.skip(matrix.line, f"{a} {b}", "topology.unread.asymmetric", a=a, b=b, there=there, back=back)
    return there or back


def _link(a: str, b: str, cell: str) -> DeviceLink | None:
    if cell.startswith("NV"):
        count = whole(cell[2:])
        return DeviceLink(a, b, "NVLink", count) if count else None
    return DeviceLink(a, b, "PCIe", path=cell) if cell in PATHS else None

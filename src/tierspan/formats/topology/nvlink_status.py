"""``nvidia-smi nvlink -s``: the links of each GPU with their rate in GB/s per direction, or inactive."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from tierspan.formats.topology.base import Format, Line, Reading, bounded, by_tag, decimal, elided, is_comment, whole
from tierspan.quantities.errors import Place
from tierspan.specs.topology import Gpu, NodeTopology

_GPU = re.compile(r"\s*GPU\s{1,4}(\d{1,4})\s{0,4}:\s{0,4}([^\r\n(]{0,100})(?:\(UUID|$)")
_LINK = re.compile(r"\s*Link\s{1,4}(\d{1,3})\s{0,4}:\s{0,4}(.{1,60}?)\s*$")
_RATE = re.compile(r"([\d.]{1,20})\s{0,4}GB/s")
_DOWN: Final = ("inactive", "n/a", "disabled", "down", "off")


def recognise(lines: Sequence[Line]) -> bool:
    """Whether a GPU line is followed by a link line."""
    seen = False
    for line in lines:
        if _GPU.match(line.bare):
            seen = True
        elif seen and (match := _LINK.match(line.bare)) and (_RATE.search(match[2]) or _is_down(match[2])):
            return True
    return False


@dataclass(slots=True)
class _Counting:
    """The links of one GPU so far."""

    index: int
    name: str
    line: int
    rates: dict[int, float] = field(default_factory=dict)
    down: set[int] = field(default_factory=set)
    whole: bool = True


def read(lines: Sequence[Line], place: Place) -> Reading:
    """Read the links of every GPU; what several processes wrote is taken apart by their tag."""
    reading = Reading()
    for tag, mine in by_tag(lines).items():
        gpus = _gpus(mine, reading)
        bounded(len(gpus), place)
        host = tag if tag and not tag.replace(",", "").isdigit() else ""
        if any(gpu.rates or gpu.down for gpu in gpus):
            found = tuple(_gpu(gpu, host) for gpu in gpus)
            cut = not gpus[-1].whole
            reading.parts.append(NodeTopology(found, host=host, whole=not cut, source="nvlink-status", place=Place(place.file, gpus[0].line)))
    return reading


FORMAT: Final = Format("nvlink-status", recognise, read)


def _gpus(lines: Sequence[Line], reading: Reading) -> list[_Counting]:
    gpus: dict[int, _Counting] = {}
    now: _Counting | None = None
    for line in lines:
        if is_comment(line) or not line.bare.strip():
            continue
        if (match := _GPU.match(line.bare)) and (index := whole(match[1])) is not None:
            if index in gpus:
                reading.skip(line, line.text, "topology.unread.row_twice", label=f"GPU {index}")
            now = gpus.setdefault(index, _Counting(index, match[2].strip(), line.number))
        elif now is None:
            continue
        elif elided(line.bare):
            now.whole = False
            reading.skip(line, line.text, "topology.unread.elided")
        elif match := _LINK.match(line.bare):
            _link(now, match, line, reading)
        elif line.bare.lstrip().startswith("Link"):
            reading.skip(line, line.text, "topology.unread.value", key=f"GPU {now.index}", value=line.bare.strip()[:60])
            now.whole = False
        else:
            now = None  # another command's output begins
    return list(gpus.values())


def _link(gpu: _Counting, match: re.Match[str], line: Line, reading: Reading) -> None:
    number = whole(match[1])
    rate = _RATE.search(match[2])
    value = decimal(rate[1]) if rate else None
    if number is None or number in gpu.rates or number in gpu.down:
        reading.skip(line, line.text, "topology.unread.row_twice", label=f"GPU {gpu.index} Link {match[1]}")
    elif value is not None and value > 0:
        gpu.rates[number] = value * 1e9
    elif value == 0 or _is_down(match[2]):
        gpu.down.add(number)
    else:
        gpu.whole = False
        reading.skip(line, line.text, "topology.unread.value", key=f"GPU {gpu.index} Link {number}", value=match[2])


def _is_down(text: str) -> bool:
    return any(word in text.lower() for word in _DOWN)


def _gpu(gpu: _Counting, host: str) -> Gpu:
    return Gpu(
        id=f"GPU{gpu.index}",
        host=host,
        index=gpu.index,
        name=gpu.name,
        links=len(gpu.rates) if gpu.rates or gpu.down else None,
        links_down=len(gpu.down),
        link_Bps=max(gpu.rates.values(), default=None),
        listed_whole=gpu.whole and bool(gpu.rates or gpu.down),
    )

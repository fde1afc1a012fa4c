"""NCCL and RCCL logs (NCCL_DEBUG=INFO) and the device list of nccl-tests: version, network, adapters, GPU-direct, NVLS, channels, algorithms.

Lines of many processes interleave, and two can stand on one line; each message is found by its own head (host:pid:tid [device]).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Final

from tierspan.formats.topology.base import Format, Line, Reading, decimal, elided, whole
from tierspan.quantities.errors import Place
from tierspan.specs.topology import Gpu, LibraryReport, Nic

MAX_RANKS: Final = 1_000_000
_HEAD = re.compile(r"([A-Za-z0-9][\w.-]{0,100}):(\d{1,9}):(\d{1,9})\s{0,4}\[(\d{1,4})\]\s{0,4}(?:\S{1,40}\s)?(?:NCCL|RCCL)\s(INFO|WARN|TRACE)\s")
_ANY = re.compile(r"\bNCCL (?:INFO|WARN) ")
_RANK = re.compile(
    r"#\s{0,8}Rank\s{1,8}(\d{1,7})\s(?:.{0,40}\s)?Pid\s{1,8}\d{1,9}\s{1,4}on\s{1,16}(\S{1,100})\s{1,8}device\s{1,8}(\d{1,4})\s{1,4}"
    r"\[([^\]]{1,20})\]\s{0,4}(.{0,100})"
)
_VERSION = re.compile(r"\bNCCL version (\d[\w.+-]{0,60})")
_DRIVER = re.compile(r"cudaDriverVersion (\d{1,8})")
_COMM = re.compile(
    r"comm 0x[0-9a-fA-F]{1,16} rank (\d{1,7}) n[rR]anks (\d{1,7})(?: nNodes \d{1,6} localRanks \d{1,4} localRank| cudaDev) (\d{1,4})"
    r"(?: nvmlDev (\d{1,4}))?(?: busId ([0-9a-fA-F]{1,12}))?"
)
_NETWORK = re.compile(r"Using network (\S{1,60}(?: \S{1,40})?)")
_USING = re.compile(r"NET/(\w{1,40})\s{0,4}: Using (\[.{0,4000})")
_ADAPTER = re.compile(r"\[(\d{1,3})\]([\w.-]{1,60}):(\d{1,3})/(\w{1,20})(/SHARP)?")
_SOCKET = re.compile(r"\[(\d{1,3})\]([\w.-]{1,60}):[0-9a-fA-F:.]{2,60}<\d{1,6}>")
_SPEED = re.compile(r"NET/\w{1,40}\s{0,4}: \[(\d{1,3})\] ([\w.-]{1,60}):[\w.-]{0,60}:?(\d{1,3})/(\w{1,20}).{0,80}?\sspeed=(\d{1,9})\s")
_GDR = re.compile(r"GPU Direct RDMA (Enabled|Disabled) for (?:HCA (\d{1,3}) '([^']{1,60})'|(?:GPU|dev))", re.IGNORECASE)
_NVLS = re.compile(r"NVLS multicast support is (not )?available")
_RING = re.compile(r"Channel (\d{1,3})/(\d{1,3}) :((?:\s{1,8}\d{1,7}){2,20000})\s*$")
_EDGE = re.compile(
    r"Channel \d{1,3}(?:/\d{1,3})? : \d{1,7}\[\w{1,12}\] -> \d{1,7}\[\w{1,12}\](?: \[(?:send|receive)\])? via (.{1,100}?)(?: comm 0x.*)?\s*$"
)
_TREES = re.compile(r"\[(\d{1,3})\] -?\d{1,7}/-?\d{1,7}/-?\d{1,7}->")
_COUNTS = re.compile(r"(\d{1,4}) coll channels")
_TUNED = re.compile(r"-> Algo(?:rithm)? (\w{1,20}) proto(?:col)? (\w{1,20})", re.IGNORECASE)
_SETTING = re.compile(r"\b((?:NCCL|RCCL)_[A-Z0-9_]{1,60}) set by environment to (\S{1,200})")
_OFI = re.compile(r"NET/OFI (?:Selected provider is|Using aws-ofi-nccl) (\S{1,60})")
_PLUGIN = re.compile(r"Loaded (?:net|coll|collnet|tuner) plugin (.{1,60}?)(?: \(v\d+\))?\s*$")
_ALGORITHMS: Final = ("tree", "ring", "collnet direct", "collnet chain", "nvls", "nvls tree", "pat")
_PROTOCOLS: Final = ("LL", "LL128", "Simple")
_NUMBERED = re.compile(r"\(\d{1,7}\)|/\d{1,3}(?=/|$|\()")


def recognise(lines: Sequence[Line]) -> bool:
    """Whether the library says something, or nccl-tests lists its devices."""
    return any(_ANY.search(line.text) or (line.bare.lstrip().startswith("#") and _RANK.search(line.bare)) for line in lines)


@dataclass(slots=True)
class _Seen:
    """What was collected so far."""

    hosts: dict[str, None] = field(default_factory=dict)
    gpus: dict[tuple[str, int], Gpu] = field(default_factory=dict)
    nics: dict[tuple[str, str, str], Nic] = field(default_factory=dict)
    ranks: int | None = None
    listed: int = 0
    version: str = ""
    driver: str = ""
    network: str = ""
    plugins: dict[str, None] = field(default_factory=dict)
    nvls: set[bool] = field(default_factory=set)
    gpu_direct: set[bool] = field(default_factory=set)
    channels: int | None = None
    trees: set[int] = field(default_factory=set)
    rings: dict[int, tuple[int, ...]] = field(default_factory=dict)
    transports: dict[str, int] = field(default_factory=dict)
    algorithms: dict[str, None] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    warnings: dict[str, None] = field(default_factory=dict)


def read(lines: Sequence[Line], place: Place) -> Reading:
    """Read everything that the library said about the hardware and its choices."""
    reading = Reading()
    seen = _Seen()
    first = None
    for line in lines:
        text = line.text
        if elided(line.bare):
            reading.skip(line, text, "topology.unread.elided")
            continue
        if match := _RANK.search(text):
            _listed(seen, match)
            first = first or line.number
        elif "CL version" in text and (match := _VERSION.search(text)):
            seen.version = seen.version or match[1]
        if " INFO " not in text and " WARN " not in text:
            continue
        first = first or line.number
        found = False
        for host, level, message in _messages(text):
            found = True
            seen.hosts.setdefault(host)
            if level == "WARN":
                if len(seen.warnings) < 50:
                    seen.warnings.setdefault(message.strip()[:200])
            else:
                _message(seen, host, message, line, reading)
        if not found and _ANY.search(text):
            _message(seen, "", _ANY.split(text, maxsplit=1)[-1], line, reading)
    report = _report(seen, Place(place.file, first))
    if report is not None:
        reading.parts.append(report)
    return reading


FORMAT: Final = Format("nccl-log", recognise, read)


def _messages(text: str) -> Iterator[tuple[str, str, str]]:
    heads = list(_HEAD.finditer(text))
    for head, after in zip_longest(heads, heads[1:]):
        yield head[1], head[5], text[head.end() : after.start() if after else len(text)]


def _message(seen: _Seen, host: str, message: str, line: Line, reading: Reading) -> None:
    if message.startswith("Channel "):
        _channel(seen, message, line, reading)
    elif message.startswith("Trees"):
        seen.trees |= {number for text in _TREES.findall(message) if (number := whole(text)) is not None}
    elif match := _COMM.search(message):
        _comm(seen, host, match)
    elif message.startswith("comm 0x") and " rank" in message:
        reading.skip(line, message, "topology.unread.line")
    elif "NET/" in message or "network" in message or "plugin" in message or "GPU Direct" in message:
        _net(seen, host, message)
    elif match := _NVLS.search(message):
        seen.nvls.add(not match[1])
    elif match := _DRIVER.search(message):
        seen.driver = match[1]
    elif match := _TUNED.search(message):
        seen.algorithms.setdefault(f"{_name(match[1], _ALGORITHMS)}/{_name(match[2], _PROTOCOLS)}")
    elif match := _SETTING.search(message):
        seen.settings.setdefault(match[1], match[2].rstrip("."))
    elif match := _COUNTS.search(message):
        seen.channels = max(seen.channels or 0, whole(match[1]) or 0)


def _listed(seen: _Seen, match: re.Match[str]) -> None:
    """A row of the device list of nccl-tests."""
    rank, host, device = whole(match[1]), match[2], whole(match[3])
    if rank is None or device is None:
        return
    seen.hosts.setdefault(host)
    seen.listed = max(seen.listed, rank + 1)
    seen.gpus[host, device] = Gpu(f"GPU{device}", host, device, match[4], match[5].strip())


def _comm(seen: _Seen, host: str, match: re.Match[str]) -> None:
    ranks, device = whole(match[2]), whole(match[4] or match[3])
    if ranks is not None and 0 < ranks <= MAX_RANKS:
        # Sub-communicators are smaller; the world is the largest.
        seen.ranks = max(seen.ranks or 0, ranks)
    if device is not None:
        seen.gpus.setdefault((host, device), Gpu(f"GPU{device}", host, device, match[5] or ""))


def _net(seen: _Seen, host: str, message: str) -> None:
    if match := _GDR.search(message):
        enabled = match[1].lower() == "enabled"
        seen.gpu_direct.add(enabled)
        if match[3]:
            _adapter(seen, host, match[3], "", gpu_direct=enabled)
    elif match := _SPEED.search(message):
        speed = decimal(match[5])
        _adapter(seen, host, match[2], match[3], link_layer=match[4], rate_Bps=speed * 1e6 / 8 if speed else None)
    elif match := _USING.search(message):
        for _, name, port, layer, sharp in _ADAPTER.findall(match[2]):
            _adapter(seen, host, name, port, link_layer=layer, sharp=bool(sharp))
        for _, name in _SOCKET.findall(match[2]) if match[1] == "Socket" else ():
            _adapter(seen, host, name, "", link_layer="Socket")
    elif match := _NETWORK.search(message):
        seen.network = seen.network or match[1].strip()
    if match := _PLUGIN.search(message):
        seen.plugins.setdefault(match[1].strip())
    if match := _OFI.search(message):
        seen.plugins.setdefault(f"OFI {match[1].rstrip(',')}")


def _adapter(seen: _Seen, host: str, name: str, port: str, **told: object) -> None:
    known = [at for at in seen.nics if at[0] == host and at[1] == name and (not port or not at[2] or at[2] == port)]
    at = known[0] if known else (host, name, port)
    nic = seen.nics.get(at) or Nic(name, name, host, port=port)
    seen.nics[at] = replace(nic, **{key: value for key, value in told.items() if value not in (None, "")})  # type: ignore[arg-type]


def _channel(seen: _Seen, message: str, line: Line, reading: Reading) -> None:
    if match := _EDGE.match(message):
        via = _NUMBERED.sub("", match[1])
        if len(seen.transports) < 100 or via in seen.transports:
            seen.transports[via] = seen.transports.get(via, 0) + 1
    elif match := _RING.match(message):
        number, count = whole(match[1]), whole(match[2])
        ranks = tuple(rank for text in match[3].split() if (rank := whole(text)) is not None)
        if number is not None and count is not None:
            seen.channels = max(seen.channels or 0, count)
            seen.rings.setdefault(number, ranks)
    else:
        reading.skip(line, message, "topology.unread.line")


def _report(seen: _Seen, place: Place) -> LibraryReport | None:
    if not (seen.hosts or seen.version or seen.ranks or seen.gpus):
        return None
    direct = seen.gpu_direct | {"GDRDMA" in via for via in seen.transports if via.startswith("NET/")}
    return LibraryReport(
        gpus=tuple(seen.gpus[key] for key in sorted(seen.gpus)),
        nics=tuple(seen.nics.values()),
        hosts=tuple(dict.fromkeys(host for host, _ in seen.gpus if host)) or tuple(host for host in seen.hosts if host),
        ranks=seen.ranks or seen.listed or None,
        version=seen.version,
        driver=seen.driver,
        network=seen.network,
        plugins=tuple(seen.plugins),
        nvls=None if not seen.nvls else seen.nvls == {True},
        gpu_direct=None if not direct else direct == {True},
        channels=seen.channels,
        trees=len(seen.trees) or None,
        rings=tuple(seen.rings[number] for number in sorted(seen.rings)),
        transports=dict(seen.transports),
        algorithms=tuple(seen.algorithms),
        settings=dict(seen.settings),
        warnings=tuple(seen.warnings),
        place=place,
    )


def _name(text: str, names: Sequence[str]) -> str:
    number = whole(text)
    return names[number] if number is not None and 0 <= number < len(names) else text.lower()

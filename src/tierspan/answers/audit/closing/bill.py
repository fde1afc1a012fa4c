"""The bill of a fabric as a sheet gives it: how many switches of each stage, how many ports down and up, how many endpoints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from tierspan.answers.audit.closing.places import Spot, line_of, same_length, spot_of
from tierspan.answers.audit.rules.base import Sheet
from tierspan.specs.reading import Reading

_DOWN: Final = re.compile(r"\bdown(?:link|stream)?s?\b|下行|下联|to\s+(?:the\s+)?(?:servers|hosts|GPUs|nodes)", re.IGNORECASE)
_UP: Final = re.compile(r"\bup(?:link|stream)?s?\b|上行|上联|to\s+(?:the\s+)?(?:spines?|core)", re.IGNORECASE)
_STAGES: Final = {"leaf": re.compile(r"\bleaf\b|\bleaves\b|叶|接入(?:层|交换机)", re.IGNORECASE),
                  "spine": re.compile(r"\bspines?\b|脊|汇聚", re.IGNORECASE),
                  "core": re.compile(r"\bcore\b(?!s)|核心", re.IGNORECASE)}  # fmt: skip
_SPELLED_DOWN: Final = re.compile(r"(?<![\w.])(\d+)\s*(?:ports?\s+)?down(?:links?)?\b|下行\s?(\d+)\s?[个口]", re.IGNORECASE)
_SPELLED_UP: Final = re.compile(r"(?<![\w.])(\d+)\s*(?:ports?\s+)?up(?:links?)?\b|上行\s?(\d+)\s?[个口]", re.IGNORECASE)
_STORAGE: Final = re.compile(r"storage|management|存储|管理|带外|业务网", re.IGNORECASE)
_TOTAL: Final = re.compile(r"total|altogether|in\s+all|合计|总计|共", re.IGNORECASE)
_ENDPOINTS: Final = re.compile(r"^\s*(?:endpoints?|end\s+points?|hosts?\s+ports?|个?(?:接入)?端口|端点)", re.IGNORECASE)
_PER_POD: Final = re.compile(r"(?:per|each|every|每个?)\s?-?(?:super)?-?\s?(?:pod|超节点|SU\b)", re.IGNORECASE)


@dataclass(slots=True)
class Stage:
    """Switches of one stage; 0 where the sheet does not say."""

    reading: Reading
    count: float = 0.0
    down: float = 0.0
    up: float = 0.0
    ports: float = 0.0


@dataclass(slots=True)
class Bill:
    """One network of a sheet."""

    text: str = ""
    stages: dict[str, Stage] = field(default_factory=dict)
    servers: float = 0.0
    nics: float = 0.0
    stated_endpoints: float = 0.0
    pods: float = 0.0
    per_pod: bool = False
    total: Reading | None = None
    ratios: list[Reading] = field(default_factory=list)

    @property
    def leaf(self) -> Stage | None:
        """The stage that the servers plug into."""
        return self.stages.get("leaf")

    @property
    def spine(self) -> Stage | None:
        """The stage above."""
        return self.stages.get("spine")

    @property
    def core(self) -> Stage | None:
        """The stage above the spines."""
        return self.stages.get("core")

    @property
    def endpoints(self) -> float:
        """Ports that servers need: the printed number, else servers x NICs; 0 where unknown or where the bill is of one pod."""
        if self.per_pod:
            return 0.0
        return self.servers * self.nics or self.stated_endpoints


def bills(sheet: Sheet) -> Iterator[Bill]:
    """The bills of all documents: one for each, storage and management networks left out."""
    for document in sheet.documents:
        readings = [r for r in sheet.readings if r.file == document.name]
        bill = Bill(text=same_length("\n".join(line.text for line in document.lines)))
        for r in readings:
            line = line_of(sheet, r)
            if _STORAGE.search(line) and not re.search(r"compute|计算", line, re.IGNORECASE):
                continue
            _take(bill, r, spot_of(sheet, r), line)
        _spelled(bill, readings)
        if "leaf" in bill.stages:
            bill.per_pod = bill.pods > 1 and bool(_PER_POD.search(bill.text))
            yield bill


def _spelled(bill: Bill, readings: list[Reading]) -> None:
    """Ports named by their direction only, which are no figures with a unit: "42 downlinks and 21 uplinks", "下行 42 个、上行 21 个"."""
    down, up = (pattern.search(bill.text) for pattern in (_SPELLED_DOWN, _SPELLED_UP))
    if down and up and readings and _STAGES["leaf"].search(bill.text):
        leaf = bill.stages.setdefault("leaf", Stage(readings[0]))
        leaf.down = leaf.down or float(down[1] or down[2])
        leaf.up = leaf.up or float(up[1] or up[2])


def _take(bill: Bill, r: Reading, spot: Spot, line: str) -> None:
    if r.quantity == "count":
        if r.noun in ("leaf", "spine", "core"):
            if r.count == 1:
                counted = bill.stages.setdefault(r.noun, Stage(r))
                counted.count = counted.count or r.printed_si
        elif r.noun == "node" and not bill.servers and r.scope != "rack":
            bill.servers = r.printed_si
        elif r.noun == "nic" and not bill.nics and r.printed_si <= 20:
            bill.nics = r.printed_si
        elif _is_pod(r, spot) and not bill.pods:
            bill.pods = r.printed_si
        elif _is_total(r, spot, line):
            bill.total = r
        stage = _stage(spot)
        if r.noun == "port" and stage and r.count == 1:
            _ports(bill.stages.setdefault(stage, Stage(r)), r.printed_si, spot)
            return
        if _ENDPOINTS.match(spot.after) or re.search(r"endpoints?|端点", r.text, re.IGNORECASE):
            bill.stated_endpoints = r.printed_si
        if r.noun == "gpu" and r.count > 1 and not bill.servers:
            bill.servers = r.count
        if (
            r.noun in ("gpu", "accelerator")
            and r.count > 1
            and not bill.nics
            and re.search(r"1\s?[x×]\s?\d+G\b.{0,12}per\s+GPU|每[卡张]", line, re.IGNORECASE)
        ):
            bill.nics = r.printed_si
        return
    if r.quantity == "ratio":
        if re.search(r"over\s?-?sub|收敛|blocking|阻塞|conver|leaf|:", line, re.IGNORECASE) and re.search(
            r"over\s?-?sub|收敛|blocking|阻塞|conver", f"{spot.before[-24:]} {spot.after[:24]}", re.IGNORECASE
        ):
            bill.ratios.append(r)
        return
    if r.quantity != "bandwidth" or r.tier == "storage" or r.count <= 1:
        return
    stage = _stage(spot)
    if not stage:
        if (
            not bill.nics
            and r.count <= 20
            and re.search(r"server|node|host|每台|服务器|节点|NIC|网卡", f"{spot.head} {spot.before} {spot.after[:20]}", re.IGNORECASE)
        ):
            bill.nics = r.count
        return
    at = bill.stages.setdefault(stage, Stage(r))
    _ports(at, r.count, spot)


def _ports(at: Stage, number: float, spot: Spot) -> None:
    behind = re.split(r"[,;，；)）、]|\d", spot.after)[0]
    before = re.split(r"[,;，；(（、]|\d", spot.before)[-1]
    if _UP.search(behind) or (not _DOWN.search(behind) and _UP.search(before)):
        at.up = at.up or number
    elif _DOWN.search(behind) or _DOWN.search(before):
        at.down = at.down or number
    else:
        at.ports = at.ports or number


def _is_total(r: Reading, spot: Spot, line: str) -> bool:
    if r.noun == "switch":
        return bool(_TOTAL.search(line))
    return r.noun in ("node", "unit") and bool(_TOTAL.search(spot.before[-16:])) and bool(re.search(r"switch|交换机", line, re.IGNORECASE))


def _stage(spot: Spot) -> str:
    places = {name: max((m.end() for m in pattern.finditer(spot.before)), default=-1) for name, pattern in _STAGES.items()}
    best = max(places, key=lambda name: places[name])
    if places[best] >= 0:
        return best
    return next((name for name, pattern in _STAGES.items() if pattern.search(spot.head)), "")


def _is_pod(r: Reading, spot: Spot) -> bool:
    return r.noun == "domain" or bool(
        re.match(r"\s*(?:个)?\s?(?:super)?-?pods?\b|\s*个?超节点|\s*SUs?\b", f"{r.text.lstrip('0123456789, ')}{spot.after}", re.IGNORECASE)
    )

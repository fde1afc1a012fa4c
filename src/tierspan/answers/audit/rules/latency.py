"""Latencies: from where to where, compared or added across bases, time units, light in fibre, bus bandwidth beside the line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tierspan.answers.audit.rules.base import Sheet
from tierspan.answers.audit.rules.bounds import bound, sources
from tierspan.answers.audit.rules.surroundings import Around, Check, Hit, Surroundings, by_line, name_of, pairs, part_of, shown
from tierspan.formats.figures.known import near
from tierspan.formats.figures.words import LATENCY, LATENCY_WORDS, nearest
from tierspan.specs.catalog import default_system, system
from tierspan.specs.reading import Reading

_WWT: Final = "https://www.wwt.com/article/the-basics-of-high-performance-networking"
_FARADAY: Final = "https://fridayswithfaraday.com/posts/gpu-hw-nvlink-nvswitch-interconnect"
_COMPARED: Final = re.compile(
    r"\bvs\b|versus|against|compared|\bthan\b|instead\s+of|\bfrom\b.*\bto\b|faster|lower|相比|对比|而|低于|快|从.*[到至降]|降[到至低]", re.IGNORECASE
)
_ADDED: Final = re.compile(r"\+|\bplus\b|\bsum\b|in\s+total|\btotal\b|adds?\s+up|together|合计|相加|总时延|加上|共", re.IGNORECASE)
_SLOW: Final = re.compile(
    r"p99|p95|tail|timeout|fail|recover|converg|retrans|jitter|\bWAN\b|\bDCI\b|metro|inter[\s-]site|storage|disk|NVMe|SSD|token|TTFT|TPOT|step|kernel\s+launch"
    r"|checkpoint|collective|all[\s-]?reduce|all[\s-]?to[\s-]?all|software|TCP|故障|恢复|切换|超时|收敛时间|存储|首字|跨|广域|尾|步|集合|公里|\bkm\b",
    re.IGNORECASE,
)
_SWITCH: Final = re.compile(r"\bswitch\b|Tomahawk|Quantum|QM97|Spectrum|SN5\d00|NVSwitch|交换芯片|交换机", re.IGNORECASE)
_ADAPTER: Final = re.compile(r"\badapter\b|\bHCA\b|ConnectX", re.IGNORECASE)
_NETWORK: Final = re.compile(r"Infini\s?Band|\bIB\b|RoCE|\bEFA\b|Ethernet|Slingshot|以太网", re.IGNORECASE)
_HOLLOW: Final = re.compile(r"hollow|空芯|空心", re.IGNORECASE)
_ROUND: Final = re.compile(r"\bRTT\b|round[\s-]?trip|往返", re.IGNORECASE)
_ONE_WAY: Final = re.compile(r"one[\s-]way|单向|单程", re.IGNORECASE)
_FIBRE: Final = re.compile(r"fib(?:er|re)|光纤|光缆|distance|one[\s-]way|apart|between\s+(?:sites|data)|相距|距离|单向时延|传播", re.IGNORECASE)
_BUSBW: Final = re.compile(r"\bbus\s?bw\b|bus\s+bandwidth|总线带宽", re.IGNORECASE)
_PARTED: Final = re.compile(r"\+|\bplus\b|against|versus|\bvs\b|\bthan\b|\band\b|\bwhile\b|[,，;；、]|加|对比|与|和|而")
_TIME: Final = re.compile(r"\d\s?(?:[nuµμm]?s\b|纳秒|微秒|毫秒|秒)")
_EXPLICIT: Final = re.compile(
    r"end[\s-]to[\s-]end|(?:GPU|NPU|XPU|NIC|card|accelerator)[\s-]to[\s-](?:GPU|NPU|XPU|NIC|card|accelerator)|端到端|卡到卡|网卡到网卡",
    re.IGNORECASE,
)


def _no_basis(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    apart = {(r.file, r.line) for r in sheet.of("length") if r.printed_si >= 1e3}
    for r in sheet.of("latency"):
        if not r.latency_basis and (r.file, r.line) not in apart and not _SLOW.search(at.of(r).wide):
            yield Hit({}, r)


def _basis(around: Around) -> str:
    """The basis that the words next to a figure name, else that of its reading, else the only one of its sentence."""
    behind, ahead = _PARTED.split(around.after)[0], _PARTED.split(re.split(r"\d", around.before)[-1])[-1]
    own = nearest(LATENCY, "", behind) or nearest(LATENCY, ahead, "")
    if own:
        return own
    named = {name for name, pattern in LATENCY.items() if pattern.search(around.sentence)}
    return next(iter(named)) if len(named) == 1 else ""


def _latencies(sheet: Sheet, at: Surroundings) -> list[list[Reading]]:
    """Latencies by line; a time that stands in a sentence about latency is one."""
    listed = [r for r in sheet.of("latency", "time") if r.quantity == "latency" or (r.printed_si < 1 and LATENCY_WORDS.search(at.of(r).sentence))]
    return [group for group in by_line(listed).values() if len(group) > 1]


def _compared(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for listed in _latencies(sheet, at):
        for first, second in pairs(listed):
            around = at.of(first)
            if second.text not in around.sentence or not _COMPARED.search(around.sentence) or not min(first.printed_si, second.printed_si):
                continue
            bases = {_basis(around), _basis(at.of(second))}
            ratio = max(first.printed_si, second.printed_si) / min(first.printed_si, second.printed_si)
            if (len(bases) == 2 and "" not in bases) or ("" in bases and ratio >= 5):
                yield Hit({"other": second.text, "ratio": f"{ratio:.3g}"}, first)
                break


def _added(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for listed in _latencies(sheet, at):
        if not _ADDED.search(at.of(listed[0]).line) or _COMPARED.search(at.of(listed[0]).line):
            continue
        if len({_basis(at.of(r)) for r in listed} - {""}) >= 2:
            yield Hit({"figures": ", ".join(r.text for r in listed[:6])}, listed[0])


def _chip_as_end(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for r in sheet.of("latency"):
        around = at.of(r)
        text = f"{around.heads} {around.sentence}"
        own = f"{_TIME.split(around.before)[-1]} {_TIME.split(around.after)[0]}"
        if _COMPARED.search(around.sentence) or not _EXPLICIT.search(own):
            continue
        chip = bool(_SWITCH.search(text) or _ADAPTER.search(text))
        low = bound("latency.network.low" if r.tier != "scale-up" or _NETWORK.search(text) else "latency.scale-up.low")
        if (chip and r.printed_si < 1.5 * bound("latency.network.low")) or 0.1 * low < r.printed_si < 0.99 * low:
            yield Hit({"least": shown(bound("latency.network.low"), "s")}, r)


def _end_as_chip(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for r in sheet.of("latency"):
        text = f"{at.of(r).heads} {at.of(r).sentence}"
        named = _NETWORK.search(text) and not re.search(r"Tomahawk|Quantum|QM97|SN5\d00|\bchip\b", text, re.IGNORECASE)
        if r.latency_basis == "port" and named and bound("latency.port.usual") < r.printed_si <= bound("latency.network.high"):
            yield Hit({"most": shown(bound("latency.port.usual"), "s")}, r)


def _range(r: Reading, around: Around) -> tuple[float, float] | None:
    if _SLOW.search(f"{around.heads} {around.line}") or r.tier in ("dci", "storage", "management"):
        return None
    if r.latency_basis in ("chip", "port"):
        return bound(f"latency.{r.latency_basis}.low"), bound(f"latency.{r.latency_basis}.high")
    if _NETWORK.search(f"{around.heads} {around.sentence}") or r.tier == "scale-out" or r.latency_basis == "nic to nic":
        return bound("latency.chip.low"), bound("latency.network.high")
    if r.tier == "scale-up" or r.latency_basis == "accelerator to accelerator":
        return bound("latency.chip.low"), bound("latency.scale-up.high")
    return None


def _time_unit(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for r in sheet.of("latency"):
        limits = _range(r, at.of(r))
        if limits is None or limits[0] <= r.printed_si <= limits[1]:
            continue
        for factor in (1e-3, 1e-6, 1e3, 1e6):
            if limits[0] <= r.printed_si * factor <= limits[1]:
                values = {"low": shown(limits[0], "s"), "high": shown(limits[1], "s"), "likely": shown(r.printed_si * factor, "s")}
                yield Hit({**values, "factor": f"10^{3 if factor in (1e-3, 1e3) else 6}"}, r)
                break


def _fibre(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for listed in by_line(sheet.of("length", "latency", "time")).values():
        lengths = [r for r in listed if r.quantity == "length" and r.printed_si >= 1e3]
        times = [r for r in listed if r.quantity in ("latency", "time")]
        line = at.of(listed[0]).line
        if len(lengths) != 1 or not times or not _FIBRE.search(line):
            continue
        ways = 2.0 if _ROUND.search(line) else 1.0
        glass, light = (ways * lengths[0].printed_si * bound(f"fibre.{name}") for name in ("glass", "light"))
        for r in times:
            around = at.of(r)
            if re.search(r"per\s+km|/\s?km|每(?:公里|千米)|each\s+k|token|train|training", f"{around.clause} {r.text}", re.IGNORECASE):
                continue
            floor = light if _HOLLOW.search(line) else 0.96 * glass
            # in a line that says one way, twice the way is a round trip
            doubled = bool(_ONE_WAY.search(line)) and near(r.printed_si, 2 * glass, 0.06)
            if r.printed_si < 0.99 * floor or r.printed_si > 30 * glass or doubled:
                yield Hit({"length": lengths[0].text, "least": shown(light, "s"), "usual": shown(glass, "s")}, r)


def _busbw(sheet: Sheet, *, reduced: bool) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for r in sheet.of("bandwidth", "memory bandwidth"):
        known = part_of(r)
        if known is None or not _BUSBW.search(at.of(r).sentence) or known.scale_up_Bps != known.scale_up_Bps:
            continue
        inner = next(t for t in system(known.id if known.is_system else default_system(known.id)).tiers if t.kind == "scale-up")
        # NVLS saves at most what n/(n-1) of a ring costs twice
        if 1.01 * inner.bandwidth_Bps < r.printed_si and inner.in_network_reduction == reduced and r.printed_si < 2.0 * inner.bandwidth_Bps:
            yield Hit({"part": name_of(known), "line": shown(inner.bandwidth_Bps, "B/s")}, r)


_RANGES: Final = sources("latency.")
RULES: tuple[Check, ...] = (
    Check("audit.latency_no_basis", "question", (_WWT, "https://valleynewz.com/huawei-debuts-cloudmatrix-384-at-waic-2025"), _no_basis),
    Check("audit.latencies_compared", "warning", ("a text that sets 10 us against 0.1 us", _WWT, _FARADAY), _compared),
    Check("audit.latencies_added", "warning", (_WWT,), _added),
    Check("audit.chip_as_end_to_end", "warning", ("https://yobitel.com/knowledge-base/nvidia-quantum-2", _WWT, _FARADAY), _chip_as_end),
    Check("audit.end_to_end_as_chip", "warning", ("https://aiproplaybook.com/learn/module-6/section-6-391", _WWT), _end_as_chip),
    Check("audit.time_unit", "error", _RANGES, _time_unit),
    Check("audit.light_in_fibre", "error", sources("fibre."), _fibre),
    Check("audit.busbw_above_line", "info", ("github:stas00/ml-engineering network/README.md (SHARP)",), lambda s: _busbw(s, reduced=True)),
    Check("audit.busbw_impossible", "warning", ("github:NVIDIA/nccl-tests doc/PERFORMANCE.md",), lambda s: _busbw(s, reduced=False)),
)

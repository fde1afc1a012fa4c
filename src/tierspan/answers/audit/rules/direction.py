"""Directions and scopes of bandwidth: what contradicts the catalogue, what counts something else than it says, what has to be asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tierspan.answers.audit.rules.base import Sheet
from tierspan.answers.audit.rules.bounds import family, sources
from tierspan.answers.audit.rules.surroundings import (
    Check,
    Hit,
    Surroundings,
    by_line,
    explained,
    meanings,
    name_of,
    pairs,
    part_of,
    shown,
    stated_direction,
)
from tierspan.formats.figures.basis import settled
from tierspan.formats.figures.known import Part, near
from tierspan.specs.catalog import default_system, system
from tierspan.specs.reading import Reading

_ML: Final = "github:stas00/ml-engineering network/README.md (2026-08-22)"
_OTHER: Final = {"per-direction": "both-directions", "both-directions": "per-direction"}
_BISECTION: Final = re.compile(r"bisection|对分|二分|等分带宽", re.IGNORECASE)
_PAIR: Final = re.compile(
    r"\bany\s+(?:pair|two)|each\s+pair|between\s+(?:any\s+)?two|per\s+pair|point[\s-]to[\s-]point|任意两|任两|两两|两卡之?间|点对点|每对",
    re.IGNORECASE,
)
_COMPARED: Final = re.compile(
    r"\bvs\b|versus|compared|against|\bthan\b|faster|slower|\btimes\b|\d\s?x\b(?!\s?\d)|倍|相比|对比|高于|快于|领先|超过|优于", re.IGNORECASE
)
_NVLINK: Final = re.compile(
    r"NVLink[\s-]?v?([1-6])(?!\d)|([1-6])(?:st|nd|rd|th)[\s-]gen(?:eration)?\s+NVLink|第([一二三四五六])代\s?NVLink", re.IGNORECASE
)
_NAMED: Final = re.compile(r"(fourth|fifth|sixth)[\s-]gen(?:eration)?\s+NVLink", re.IGNORECASE)
_NUMBERS: Final = {"一": "1", "二": "2", "三": "3", "四": "4", "五": "5", "六": "6", "fourth": "4", "fifth": "5", "sixth": "6"}
_BIDIRECTIONAL_PORT: Final = (100e9 / 8, 200e9 / 8, 400e9 / 8, 800e9 / 8, 1600e9 / 8)
_MEASURED: Final = re.compile(r"\b(?:bus|alg)\s?bw\b|bus\s+bandwidth|总线带宽|算法带宽", re.IGNORECASE)
_EFA: Final = re.compile(r"\bEFA\s?v?([1-4])(?!\d)|(?:EFA)\s?第?([1-4])代", re.IGNORECASE)


def _contradicted(sheet: Sheet) -> Iterator[Hit]:
    for r in sheet.of("bandwidth"):
        known = part_of(r)
        if known is None or not stated_direction(r) or r.tier not in ("scale-up", "") or explained(r, known):
            continue
        other = settled(replace(r, direction=_OTHER[r.direction]), meanings(r, known), known)  # type: ignore[arg-type]
        if other is not None and (r.tier == "scale-up" or r.scope in ("accelerator", "link")):
            each = r.printed_si / (2.0 if other.direction == "both-directions" else 1.0)
            yield Hit({"part": name_of(known), "each": shown(each, "B/s"), "both": shown(2 * each, "B/s")}, r)


def _link_rate(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for r in sheet.of("bandwidth"):
        if r.scope != "link" or r.tier not in ("scale-up", ""):
            continue
        known = part_of(r)
        link = _generation(at.of(r).line)
        if link is None and known is not None and known.links > 1:
            link = known.scale_up_Bps / known.links
        if link is not None and r.printed_si > 2.6 * link:
            yield Hit({"link": shown(link, "B/s"), "both": shown(2 * link, "B/s"), "times": f"{r.printed_si / 2 / link:.3g}"}, r)


def _generation(text: str) -> float | None:
    found = _NVLINK.search(text) or _NAMED.search(text)
    if found is None:
        return None
    number = next(group for group in found.groups() if group).lower()
    return family("nvlink").get(f"{_NUMBERS.get(number, number)}.link")


def _missing(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for r in sheet.of("bandwidth"):
        if _MEASURED.search(at.of(r).clause):
            continue
        if r.status == "ambiguous" and any(reason.id == "audit.read.no_direction" for reason in r.reasons):
            yield Hit({"each": shown(r.printed_si, "B/s"), "half": shown(r.printed_si / 2, "B/s")}, r)


def _domain(r: Reading, sheet: Sheet) -> tuple[int, float] | None:
    """Accelerators of the domain and the rate of one each way: by the catalogue, else by the sheet."""
    known = part_of(r)
    if known is not None and known.scale_up_Bps == known.scale_up_Bps and known.domain > 1:
        return known.domain, known.scale_up_Bps
    own = [x for x in sheet.readings if x.file == r.file]
    rates = [x for x in own if x.quantity == "bandwidth" and x.tier == "scale-up" and x.scope == "accelerator" and x.direction]
    counts = [x for x in own if x.quantity == "count" and re.search(r"GPU|NPU|卡|accelerator", x.text, re.IGNORECASE)]
    return (int(counts[0].printed_si), rates[0].value_si) if rates and counts else None


def _bisection(sheet: Sheet, *, whole: bool) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for r in sheet.of("bandwidth"):
        if not _BISECTION.search(at.of(r).close):
            continue
        found = _domain(r, sheet)
        if found is None:
            continue
        count, rate = found
        one_way = count / 2 * rate
        total = near(r.printed_si, 2 * count * rate, 0.03) or (stated_direction(r) == "per-direction" and near(r.printed_si, count * rate, 0.03))
        both = near(r.printed_si, count * rate, 0.03) and not total
        if total if whole else both:
            yield Hit({"count": count, "rate": shown(rate, "B/s"), "bisection": shown(one_way, "B/s"), "both": shown(2 * one_way, "B/s")}, r)


def _pair_rate(known: Part) -> float | None:
    found = system(known.id if known.is_system else default_system(known.id))
    inner = next((t for t in found.tiers if t.kind == "scale-up"), None)
    return inner.pair_bandwidth_Bps if inner is not None and "mesh" in inner.topology else None


def _any_pair(sheet: Sheet, *, claimed: bool) -> Iterator[Hit]:
    at = Surroundings(sheet)
    told: set[str] = set()
    for r in sheet.of("bandwidth"):
        known = part_of(r)
        pair = _pair_rate(known) if known is not None and r.tier in ("scale-up", "") else None
        if known is None or pair is None:
            continue
        says_pair = bool(_PAIR.search(at.of(r).sentence))
        each = r.printed_si if r.direction == "per-direction" else r.printed_si / 2.0
        values = {"part": name_of(known), "pair": shown(pair, "B/s"), "both": shown(2 * pair, "B/s")}
        if claimed and says_pair and each > 1.1 * pair and r.scope != "domain":
            yield Hit(values, r)
        elif not claimed and not says_pair and r.tier == "scale-up" and explained(r, known) and r.scope == "accelerator" and known.id not in told:
            told.add(known.id)
            yield Hit(values, r)


def _mixed(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for listed in by_line(r for r in sheet.of("bandwidth") if r.direction and r.tier not in ("storage", "management")).values():
        for first, second in pairs(listed):
            ratio = first.printed_si / second.printed_si if second.printed_si else 0.0
            clear = first.direction != second.direction and "ambiguous" not in (first.status, second.status)
            different = clear and not near(max(ratio, 1 / ratio if ratio else 0.0), 2.0, 0.03)
            if different and _COMPARED.search(at.of(first).sentence) and second.text in at.of(first).sentence:
                yield Hit({"other": second.text, "first": shown(first.value_si, "B/s"), "second": shown(second.value_si, "B/s")}, first)
                break


def _nic_both(sheet: Sheet) -> Iterator[Hit]:
    for r in sheet.of("bandwidth"):
        if r.tier == "scale-out" and r.direction == "both-directions" and any(near(r.printed_si, rate, 0.001) for rate in _BIDIRECTIONAL_PORT):
            yield Hit({"each": shown(r.printed_si, "B/s", bits=True), "half": shown(r.printed_si / 2, "B/s", bits=True)}, r)


def _switch(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for r in sheet.of("bandwidth"):
        if not stated_direction(r) or r.printed_si < 1e12:
            continue
        for pattern, each in family("switch").items():
            if re.search(rf"(?<![A-Za-z0-9])(?:{pattern})(?!\d)", f"{at.of(r).heads} {at.of(r).line}", re.IGNORECASE):
                wrong = 2 * each if r.direction == "per-direction" else each
                if near(r.printed_si, wrong):
                    yield Hit({"each": shown(each, "B/s", bits=True), "both": shown(2 * each, "B/s", bits=True)}, r)
                break


def _efa(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for r in sheet.of("bandwidth"):
        found = _EFA.search(at.of(r).sentence)
        if found is None or r.scope in ("link", "port", "accelerator", "nic") or r.printed_si < 200e9 / 8:
            continue
        number = found[1] or found[2]
        low, high = family("efa")[f"{number}.low"], family("efa")[f"{number}.high"]
        if r.value_si * max(r.count, 1.0) > 1.05 * high:
            yield Hit({"generation": number, "low": shown(low, "B/s", bits=True), "high": shown(high, "B/s", bits=True)}, r)


RULES: tuple[Check, ...] = (
    Check("audit.direction_contradicted", "error", (_ML, "the catalogue's page of the part"), _contradicted),
    Check(
        "audit.link_rate", "error",
        ("https://docs.nvidia.com/base-command-manager (nvlinkinfo prints 900 GB/s per link for NVLink 5)", *sources("nvlink.")), _link_rate,
    ),
    Check("audit.direction_missing", "question", (_ML, "https://www.ncsti.gov.cn/kjdt/xwjj/202406/t20240619_168419.html (OISA)"), _missing),
    Check(
        "audit.bisection_is_injection", "error",
        ("https://www.nvidia.com/en-au/data-center/nvlink/ (130 TB/s)", "https://awesomeagents.ai/hardware/nvidia-gb200-nvl72"),
        lambda sheet: _bisection(sheet, whole=True),
    ),
    Check("audit.bisection_both_ways", "info", (_ML, "NVIDIA DGX H100: 3.6 TB/s"), lambda sheet: _bisection(sheet, whole=False)),
    Check("audit.any_pair_on_mesh", "warning", (_ML,), lambda sheet: _any_pair(sheet, claimed=True)),
    Check("audit.mesh_total", "info", (_ML,), lambda sheet: _any_pair(sheet, claimed=False)),
    Check("audit.directions_compared", "warning", (_ML,), _mixed),
    Check("audit.nic_both_directions", "question", (f"{_ML}: footnotes of CN5000 and CN6000",), _nic_both),
    Check("audit.switch_direction", "warning", sources("switch."), _switch),
    Check("audit.efa_generation", "warning", sources("efa."), _efa),
)  # fmt: skip

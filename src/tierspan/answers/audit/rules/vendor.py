"""Figures of a recognised part against the catalogue: another variant's, another source's, off by a thousand, or nobody's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from tierspan.answers.audit.closing.telltale import hypothesis
from tierspan.answers.audit.rules.base import Sheet
from tierspan.answers.audit.rules.power import is_unit
from tierspan.answers.audit.rules.surroundings import Around, Check, Hit, Surroundings, explained, meanings, name_of, part_of, shown
from tierspan.formats.figures.basis import settled
from tierspan.formats.figures.known import Part, near, part
from tierspan.quantities.errors import InputError
from tierspan.quantities.facts import Fact
from tierspan.specs.catalog import default_system, system
from tierspan.specs.catalog.names import Thing, resolve
from tierspan.specs.catalog.tables import facts, rows_by_id
from tierspan.specs.reading import Reading

_KINDS: Final = ("compute rate", "memory", "memory bandwidth", "bandwidth", "power")
_NOT_DEVICE: Final = re.compile(
    r"\bL[123]\b|cache|SRAM|\bDDR\d?|LPDDR|system\s+memory|host|CPU|storage|SSD|NVMe|disk|model|weight|checkpoint|parameter|message|buffer|batch|\bKV\b|param"
    r"|usable|available|free|used|reported|per\s+stack|缓存|主机|存储|硬盘|模型|权重|消息|可用|占用|剩余|参数",
    re.IGNORECASE,
)
_NOT_PEAK: Final = re.compile(
    r"train|achiev|sustain|measur|reach|effective|deliver\w*\s+in|MFU|HFU|utili[sz]|%|per\s+watt|/W|FP64|FP32|vector|total|cluster|exa|model"
    r"|实测|达到|有效|利用率|训练|持续|合计|共|集群|总",
    re.IGNORECASE,
)
_NOT_UNIT: Final = re.compile(r"\bfans?\b|\bCPUs?\b|\bNICs?\b|suppl|PSU|module|switch|风扇|处理器|网卡|模块|交换|电源", re.IGNORECASE)
_SHARE: Final = re.compile(r"\d\s?%")
"""A share in the line: one of its figures is what was reached of another."""
_NOT_LINK: Final = re.compile(
    r"measur|achiev|bus\s?bw|alg\s?bw|bus\s+bandwidth|pair|bisection|aggregate|total|raw|switch|\blinks?\b|port|lane"
    r"|实测|对|总线|聚合|合计|链路|端口|交换|裸",
    re.IGNORECASE,
)
_VENDOR: Final = re.compile(r"citing\s+http|\bvia\b|awsdocs|docs\.(?:nvidia|aws|cloud\.google)|cloud\.google", re.IGNORECASE)
"""References that repeat a vendor's page, or are one."""
_CARD_ONLY: Final = re.compile(r"\bTDP\b|\bTGP\b|\bTBP\b|per\s+(?:GPU|card|accelerator)|单卡功耗", re.IGNORECASE)
_CARD_POWER: Final = re.compile(rf"{_CARD_ONLY.pattern}|功耗|\bpower\b", re.IGNORECASE)
_NOT_CARD: Final = re.compile(
    r"rack|server|node|system|suppl|PSU|shelf|shelves|idle|average|typical|cap|limit|CPU|switch|机柜|整机|整柜|电源|空闲|平均|服务器|柜|交换|限",
    re.IGNORECASE,
)


def _looks(r: Reading, around: Around) -> bool:
    """Whether a figure is one that the catalogue has of its part, and not of something else in the sentence."""
    words = f"{around.heads} {around.clause} {r.text}"
    if r.bound in ("at least", "about") or r.peak in ("sustained", "typical"):
        return False
    match r.quantity:
        case "compute rate":
            return not _NOT_PEAK.search(words) and not _SHARE.search(around.line) and r.scope not in ("cluster", "die", "superchip")
        case "memory" | "memory bandwidth":
            return not _NOT_DEVICE.search(words) and r.scope not in ("cluster", "die", "superchip", "package") and r.tier == "memory"
        case "bandwidth":
            return r.tier == "scale-up" and not _NOT_LINK.search(words) and r.scope in ("", "accelerator")
        case "power":
            # the power of a whole server says nothing of a card that stands in it
            known = part_of(r)
            unit = known is not None and known.is_system and is_unit(r, around)
            return r.count <= 1 and (unit or _of_card(r, words) or _unit_in_watts(r, around))
    return False


def _unit_in_watts(r: Reading, around: Around) -> bool:
    """Whether this is the power of the system that the sentence names, but for a lost k."""
    known = part_of(r)
    power = known.system_power_W if known is not None else None
    return power is not None and near(1e3 * r.printed_si, power, 0.01) and r.subject in around.sentence and not _NOT_UNIT.search(around.clause)


def _of_card(r: Reading, words: str) -> bool:
    known = part_of(r)
    card = r.scope == "accelerator" or bool((_CARD_ONLY if known is not None and known.is_system else _CARD_POWER).search(words))
    return card and not _NOT_CARD.search(words) and r.scope in ("", "accelerator")


def principal(r: Reading, known: Part, *, unit: bool = False) -> float | None:
    """The figure that a sheet would print here: of one accelerator, dense or sparse as it says, both directions of a link."""
    match r.quantity:
        case "compute rate":
            peak = known.peaks.get(r.precision) or known.peaks.get({"bf16": "fp16", "fp16": "bf16"}.get(r.precision, ""))
            return peak * (2.0 if r.density == "sparse" else 1.0) if peak is not None else None
        case "memory":
            return known.memory_bytes
        case "memory bandwidth":
            return known.memory_bandwidth_Bps
        case "bandwidth" if known.scale_up_Bps == known.scale_up_Bps:
            return known.scale_up_Bps * (1.0 if r.direction == "per-direction" else 2.0)
        case "power":
            return known.system_power_W if unit else known.power_W
    return None


def _prefix(r: Reading) -> str:
    named = {"memory": "memory", "memory bandwidth": "memory_bandwidth", "power": "power", "compute rate": f"peak_flops.{r.precision}"}
    return named.get(r.quantity, "")


def _facts(r: Reading, known: Part) -> tuple[Fact, ...]:
    """Facts of the same kind: of the accelerator, and of the system where one is named."""
    keys = {_prefix(r)}
    if r.precision in ("bf16", "fp16"):
        keys |= {"peak_flops.bf16", "peak_flops.fp16"}
    if r.quantity == "memory":
        keys |= {"memory_usable", "pooled_memory"}
    if r.quantity == "compute rate":
        keys |= {f.key for f in facts("accelerator_facts").get(known.accelerator_id, ()) if f.key.startswith(f"headline_peak.{r.precision or ''}")}
    if r.quantity == "power" and known.is_system:
        keys.add("unit_power")
    if r.quantity == "bandwidth":
        found = system(known.id if known.is_system else default_system(known.id))
        return tuple(f for tier in found.tiers[:1] for f in tier.facts if f.key in ("bandwidth", "headline_bandwidth"))
    listed = facts("accelerator_facts").get(known.accelerator_id, ()) + (facts("system_facts").get(known.id, ()) if known.is_system else ())
    return tuple(f for f in listed if f.key in keys and not f.is_text)


def counts_of(sheet: Sheet) -> Mapping[str, set[float]]:
    """What the sheet counts, by file."""
    found: dict[str, set[float]] = {}
    for r in sheet.readings:
        held = {r.count} if r.quantity != "count" else {r.printed_si, r.printed_si * max(r.count, 1.0)}
        found.setdefault(r.file, set()).update(n for n in held if n > 1)
    return found


def _multiple(r: Reading, one: float, counted: Mapping[str, set[float]], known: Part) -> bool:
    """Whether a figure is that of as many accelerators as the sheet counts somewhere."""
    ratio = r.printed_si / one
    if ratio < 1.5:
        return False
    counts = {float(known.node), float(known.domain), float(known.accelerators), r.count}
    counts |= counted.get(r.file, set())
    return any(count > 1 and near(ratio, count * times, 0.03) for count in counts for times in (1.0, 2.0))


@cache
def siblings(accelerator: str) -> tuple[str, ...]:
    """Ids of the other variants of an accelerator: A100 with 40 GB beside 80 GB, on a card beside on a board."""
    family = re.match(r"ascend-\d+|[a-z0-9]+", accelerator)
    stem = family[0] if family else accelerator
    return tuple(i for i in rows_by_id("accelerators") if i != accelerator and re.match(rf"{re.escape(stem)}[a-z]*(?:-|$)", i))


def _variant(r: Reading, known: Part, sheet: Sheet) -> str:
    """The variant of the part that this is the figure of, "" for none."""
    for sibling in siblings(known.accelerator_id):
        other = part("accelerator", sibling)
        if _is_of(r, other):
            # a name that leaves the variant open is no mistake; figures of two variants under one name are
            return "" if _leaves_open(r) and not _mixed(r, known, other, sheet) else name_of(other)
    return ""


def _is_of(r: Reading, known: Part) -> bool:
    return near(r.printed_si, known.power_W or 0.0, 0.005) if r.quantity == "power" else settled(r, meanings(r, known), known) is not None


def _leaves_open(r: Reading) -> bool:
    if any(i.startswith(f"{r.catalog_id}-") for table in ("systems", "accelerators") for i in rows_by_id(table)):
        return True
    things: tuple[Thing, ...] = ("accelerator", "system")
    for thing in things:
        try:
            return bool(resolve(thing, r.subject).assumed)
        except InputError:
            continue
    return True


def _mixed(r: Reading, known: Part, other: Part, sheet: Sheet) -> bool:
    own = [x for x in sheet.of(*_KINDS) if x.file == r.file and x.catalog_id == r.catalog_id and x is not r and meanings(x, known)]
    return any(_is_of(x, known) and not _is_of(x, other) for x in own)


def _open_variant(r: Reading, known: Part) -> bool:
    return _leaves_open(r) and any(_is_of(r, part("accelerator", sibling)) for sibling in siblings(known.accelerator_id))


def _kind(r: Reading, known: Part, around: Around, sheet: Sheet, counted: Mapping[str, set[float]]) -> tuple[str, Mapping[str, object]] | None:
    """What is wrong with a figure: name of the rule and its values; None where nothing is."""
    whole = r.quantity == "power" and known.is_system and (is_unit(r, around) or _unit_in_watts(r, around))
    one = principal(r, known, unit=whole)
    if whole and r.scope == "rack" and one is not None:
        one /= next((f.value for f in facts("system_facts").get(known.id, ()) if f.key == "racks" and f.used and not f.is_text), 1.0)
    if one is None or one != one or explained(r, known) or (r.quantity == "power" and near(r.printed_si, one, 0.15 if whole else 0.02)):
        return None
    listed = [f for f in _facts(r, known) if (f.key == "unit_power") == whole]
    used = next((f for f in listed if f.used), None)
    values: dict[str, object] = {
        "part": name_of(known), "catalogue": shown(one, r.unit_si), "source": used.source.reference if used is not None else "-",
        "ratio": f"{r.printed_si / one:.3g}",
    }  # fmt: skip
    for fact in listed:
        if near(r.printed_si, fact.value, 0.005):
            if fact.used:
                return None
            name = "disputed" if abs(r.printed_si / one - 1) <= 0.12 else "other_source"
            return name, {**values, "other": fact.source.reference, "basis": fact.basis or "-"}
    if _open_variant(r, known) and not _variant(r, known, sheet):
        return None
    if sibling := _variant(r, known, sheet):
        return "other_variant", {**values, "variant": sibling}
    if any(near(r.printed_si, one * times * factor) for factor in (1e3, 1e-3) for times in (1.0, 2.0, 0.5, known.accelerators)):
        return "off_by_thousand", values
    # a ratio with an explanation of its own is told by audit.known_ratio
    sizes = (float(known.node), float(known.accelerators), float(known.domain))
    telling = r.quantity != "power" and hypothesis(r.printed_si, one, r.unit_si, links=float(known.links), accelerators=sizes) is not None
    if telling or _multiple(r, one, counted, known) or (r.quantity == "compute rate" and _rounded(r, known)):
        return None
    return "vendor_differs", values


def _rounded(r: Reading, known: Part) -> bool:
    """Whether a peak is another one's, rounded to a digit or two ("2 PFLOPS of FP8")."""
    return any(near(r.printed_si, m.prints, 0.04) and (not r.precision or m.precision == r.precision) for m in meanings(r, known))


def _found(sheet: Sheet, name: str) -> Iterator[Hit]:
    at = Surroundings(sheet)
    counted = counts_of(sheet)
    for r in sheet.of(*_KINDS):
        known = part_of(r)
        if known is None or r.printed_si <= 0:
            continue
        around = at.of(r)
        if _looks(r, around) and (kind := _kind(r, known, around, sheet, counted)) is not None and kind[0] == name:
            yield Hit(kind[1], r)


@cache
def _weak(accelerator: str) -> bool:
    keys = ("memory", "memory_bandwidth", "peak_flops.bf16", "power")
    listed = [f for f in facts("accelerator_facts").get(accelerator, ()) if f.used and f.key in keys]
    return bool(listed) and not any(f.source.mark in ("vendor page", "measured") or _VENDOR.search(f.source.reference) for f in listed)


def _second_hand(sheet: Sheet) -> Iterator[Hit]:
    told = set()
    for r in sheet.of(*_KINDS):
        known = part_of(r)
        if known is not None and known.accelerator_id not in told and _weak(known.accelerator_id):
            told.add(known.accelerator_id)
            yield Hit({"part": name_of(known)}, r)


_README: Final = "the sources of the catalogue, named in each finding"
RULES: tuple[Check, ...] = (
    Check("audit.vendor_differs", "warning", (_README,), lambda sheet: _found(sheet, "vendor_differs")),
    Check("audit.other_source", "warning", (_README,), lambda sheet: _found(sheet, "other_source")),
    Check("audit.disputed", "info", (_README,), lambda sheet: _found(sheet, "disputed")),
    Check("audit.other_variant", "warning", ("https://gitcode.com/cann/ops-cv/issues/997",), lambda sheet: _found(sheet, "other_variant")),
    Check("audit.off_by_thousand", "error", (_README,), lambda sheet: _found(sheet, "off_by_thousand")),
    Check("audit.second_hand", "info", (_README,), _second_hand),
)

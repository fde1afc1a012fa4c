"""The catalogue at the terminal: the list, and the sheet of an accelerator or a system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tierspan.faces.cli.render.facts import facts_table
from tierspan.faces.cli.render.keyvalue import pairs
from tierspan.faces.cli.render.table import Column, number, table
from tierspan.quantities.messages import fill, word
from tierspan.quantities.printing import format_bytes, format_duration, format_number, format_quantity

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tierspan.answers.catalog import AcceleratorSheet, CatalogList, SystemSheet
    from tierspan.answers.stack_list import StackEntry
    from tierspan.specs.hardware import Tier
    from tierspan.specs.model import ModelSpec


def entries(found: CatalogList, models: Sequence[ModelSpec], stacks: Sequence[StackEntry], lang: str) -> list[RenderableType]:
    """One table for each kind that was found."""
    parts: list[RenderableType] = []
    head = [Column(_t("id", lang), fold=False), Column(_t("name", lang)), Column(_t("vendor", lang))]
    cards = [(e.id, e.name, e.vendor, str(e.year or "")) for e in found.entries if e.kind == "accelerator"]
    if cards:
        parts.append(table([*head, number(_t("year", lang))], cards, title=_t("list.accelerator", lang)))
    units = [(e.id, e.name, e.vendor, e.accelerator, f"{e.accelerators:,}", str(e.year or "")) for e in found.entries if e.kind == "system"]
    if units:
        more = [Column(_t("accelerator", lang), fold=False), number(_t("unit_accelerators", lang)), number(_t("year", lang))]
        parts.append(table([*head, *more], units, title=_t("list.system", lang)))
    if models:
        columns = [*head[:2], number(_t("layers", lang)), number(_t("width", lang)), number(_t("experts", lang))]
        rows = [(m.id, m.name, str(m.layers), f"{m.hidden:,}", str(m.experts or "")) for m in models]
        parts.append(table(columns, rows, title=_t("list.model", lang)))
    if stacks:
        columns = [*head[:2], number(_t("year", lang)), number(_t("measured_rows", lang))]
        parts.append(table(columns, [(s.id, s.name, f"{s.year:.0f}", f"{s.measured_rows:,}") for s in stacks], title=_t("list.stack", lang)))
    return parts


def accelerator(sheet: AcceleratorSheet, lang: str) -> list[RenderableType]:
    """An accelerator: what software sees, then the figures with their sources."""
    card = sheet.accelerator
    rows = [(_t("id", lang), card.id), (_t("default_system", lang), sheet.default_system)]
    if sheet.assumed:
        rows.append((_t("assumed", lang), word(sheet.assumed, lang)))
    peaks = [(name, format_number(peak / 1e12, 4), _share(card.achievable.get(name))) for name, peak in card.peak_flops.items()]
    dense = [Column(_t("precision", lang)), number(_t("peak_dense", lang), "TFLOP/s"), number(_t("achievable", lang), "%")]
    rows += [
        (_t("memory", lang), format_bytes(card.memory_bytes)),
        (_t("memory_bandwidth", lang), format_quantity(card.memory_bandwidth_Bps, "B/s", lang=lang)),
        (_t("power", lang), format_quantity(card.power_W, "W", lang=lang) if card.power_W is not None else _t("unknown", lang)),
    ]
    return [pairs(rows, title=card.name), table(dense, peaks), *facts_table([("", sheet.facts)], lang)]


def system(sheet: SystemSheet, lang: str) -> list[RenderableType]:
    """A system: its tiers, what one scale-up domain holds, then the figures with their sources."""
    found, domain = sheet.system, sheet.domain
    rows = [
        (_t("id", lang), found.id),
        (_t("accelerator", lang), sheet.accelerator.name),
        (_t("unit_accelerators", lang), f"{found.unit_accelerators:,}"),
        (_t("node_size", lang), f"{found.node_size:,}"),
        (
            _t("domain", lang),
            fill("cli.catalog.domain_holds", lang, {"count": f"{domain.accelerators:,}", "memory": format_bytes(domain.memory_bytes)}),
        ),
        (_t("ratio", lang), _t("none", lang) if sheet.scale_ratio is None else f"{format_number(sheet.scale_ratio)} : 1"),
    ]
    if sheet.assumed:
        rows.append((_t("assumed", lang), word(sheet.assumed, lang)))
    planes = [(tier, "") for tier in found.tiers] + [(tier, _t("apart", lang)) for tier in found.other_planes]
    columns = [
        Column(_t("tier", lang)),
        Column(_t("tier_kind", lang), fold=False),
        number(_t("domain_size", lang)),
        number(_t("bandwidth", lang), f"GB/s {_t('per_direction', lang)}"),
        number(_t("latency", lang)),
        Column(_t("topology", lang)),
        Column(_t("remarks", lang)),
    ]
    tiers = table(columns, [_tier(tier, apart, lang) for tier, apart in planes])
    groups = [("", found.facts), *((tier.name, tier.facts) for tier, _ in planes)]
    return [pairs(rows, title=found.name), tiers, _notes(sheet, lang), *facts_table(groups, lang)]


def _tier(tier: Tier, apart: str, lang: str) -> tuple[str, ...]:
    remarks = [apart] if apart else []
    if tier.in_network_reduction:
        remarks.append(_t("in_network_reduction", lang))
    if tier.memory_semantics:
        remarks.append(_t("memory_semantics", lang))
    if tier.pair_bandwidth_Bps is not None:
        remarks.append(fill("cli.catalog.pair", lang, {"rate": format_quantity(tier.pair_bandwidth_Bps, "B/s", lang=lang)}))
    size = _t("all", lang) if tier.domain_size is None else f"{tier.domain_size:,}"
    rate = format_number(tier.bandwidth_Bps / 1e9, 4)
    return tier.name, tier.kind, size, rate, format_duration(tier.latency_s, lang=lang), tier.topology, ", ".join(remarks)


def _notes(sheet: SystemSheet, lang: str) -> RenderableType:
    from rich.text import Text

    return Text("\n".join(fill(note.id, lang, note.values) for note in sheet.notes))


def _share(value: float | None) -> str:
    return "" if value is None else format_number(value * 100)


def _t(name: str, lang: str) -> str:
    return fill(f"cli.catalog.{name}", lang, {})

"""What ships in the catalogue: accelerators, systems, models and software stacks."""

from __future__ import annotations

from reference.markdown import code, page, plain, table
from tierspan.answers.stack_list import list_stacks
from tierspan.laws.parameters import parameter_counts
from tierspan.specs.catalog import accelerator, accelerator_ids, default_system, part, part_ids, system, system_ids
from tierspan.specs.hardware import Tier
from tierspan.specs.models import model, model_ids


def catalogue_page(lang: str) -> str:
    """A table for each kind. Bandwidth is per accelerator and direction, peaks are dense."""
    del lang  # names and figures are the same in all languages
    hardware = ("## Accelerators", _accelerators(), "## Systems", _systems(), "## Fabrics, networks, switches, optics, cables and fibres", _parts())
    return page(*hardware, "## Models", _models(), "## Software stacks", _stacks())


def _accelerators() -> str:
    rows = []
    for name in accelerator_ids():
        card = accelerator(name)
        peak = card.peak_flops.get("bf16", card.peak_flops.get("fp16"))
        figures = (_in(peak, 1e12), _in(card.memory_bytes, 1e9), _in(card.memory_bandwidth_Bps, 1e9), _in(card.power_W, 1.0))
        rows.append((code(card.id), plain(card.name), plain(card.vendor), str(card.year or ""), *figures, code(default_system(card.id))))
    return table(("id", "name", "vendor", "year", "dense BF16, TFLOP/s", "memory, GB", "memory, GB/s", "W", "usual system"), rows)


def _systems() -> str:
    rows = []
    for name in system_ids():
        found = system(name)
        tiers = "<br>".join(_tier(tier) for tier in found.tiers)
        rows.append((code(found.id), plain(found.name), code(found.accelerator), str(found.node_size), tiers))
    return table(("id", "name", "accelerator", "a node", "tiers: accelerators a domain, GB/s each way"), rows)


def _tier(tier: Tier) -> str:
    size = f"{tier.domain_size:,}" if tier.domain_size else "all"
    return f"{plain(tier.name)}: {size}, {_in(tier.bandwidth_Bps, 1e9)}"


def _parts() -> str:
    rows = [
        (code(one.id), one.kind, plain(one.name), plain(one.owner), plain(one.words("openness")), plain(one.words("status")))
        for one in map(part, part_ids())
        if one.kind != "unverified"
    ]
    return table(("id", "kind", "name", "owner", "openness", "status"), rows)


def _models() -> str:
    rows = []
    for name in model_ids():
        spec = model(name)
        counts = parameter_counts(spec)
        active = _in(counts.active, 1e9) if spec.experts else ""
        rows.append((code(spec.id), plain(spec.name), _in(counts.total, 1e9), active, f"{spec.layers:,}"))
    return table(("id", "name", "parameters, 10^9", "active, 10^9", "layers"), rows)


def _stacks() -> str:
    rows = [(code(s.id), plain(s.name), code(s.family), f"{s.measured_rows:,}") for s in list_stacks()]
    return table(("id", "name", "family", "measured steps behind its constants"), rows)


def _in(value: float | None, unit: float) -> str:
    return "" if not value else f"{value / unit:,.4g}" if value / unit < 1e4 else f"{value / unit:,.0f}"

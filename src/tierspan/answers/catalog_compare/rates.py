"""Bandwidth and latency of the tiers of each part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tierspan.answers.catalog_compare.rows import Cell, ComparedRow, Side, cell, row
from tierspan.specs.hardware import Tier


def bandwidth(sides: Sequence[Side]) -> list[ComparedRow]:
    """Per accelerator and per direction: scale-up, one pair, scale-out, and the ratio of the two tiers; then the accelerator's own memory."""
    made = (
        row("scale_up", "bandwidth", "B/s", sides, lambda side: _rate(side.system.tiers[0])),
        row("scale_up_pair", "bandwidth", "B/s", sides, lambda side: _pair(side.system.tiers[0])),
        row("scale_out", "bandwidth", "B/s", sides, lambda side: _rate(outer_tier(side))),
        row("scale_up_to_scale_out", "bandwidth", "1", sides, _ratio),
        row("memory", "bandwidth", "B/s", sides, lambda side: cell(side.of_card("memory_bandwidth"))),
    )
    return [one for one in made if one is not None]


def latency(sides: Sequence[Side]) -> list[ComparedRow]:
    """Scale-up and scale-out, each compared only where all say the same basis; the two are never added to or taken from each other."""
    made = (
        row("scale_up", "latency", "s", sides, lambda side: _latency(side.system.tiers[0]), basis=_basis, refusal="catalog_compare.latency_basis"),
        row("scale_out", "latency", "s", sides, lambda side: _latency(outer_tier(side)), basis=_basis, refusal="catalog_compare.latency_basis"),
    )
    return [one for one in made if one is not None]


def outer_tier(side: Side) -> Tier | None:
    """The first scale-out tier, ``None`` where nothing is said of one."""
    return next((tier for tier in side.system.tiers[1:] if tier.kind == "scale-out"), None)


def _rate(tier: Tier | None) -> Cell:
    if tier is None:
        return Cell(None)
    return cell(next((fact for fact in tier.facts if fact.key == "bandwidth" and fact.used), None), tier.bandwidth_Bps)


def _pair(tier: Tier) -> Cell:
    fact = next((fact for fact in tier.facts if fact.key == "pair_bandwidth" and fact.used), None)
    if fact is not None:
        return cell(fact)
    return replace(_rate(tier), basis="switched: a pair gets the whole rate") if tier.topology == "switched" else Cell(None)


def _ratio(side: Side) -> Cell:
    outer = outer_tier(side)
    return Cell(None) if outer is None else Cell(side.system.tiers[0].bandwidth_Bps / outer.bandwidth_Bps, mark="derived")


def _latency(tier: Tier | None) -> Cell:
    if tier is None:
        return Cell(None)
    return cell(next((fact for fact in tier.facts if fact.key == "latency" and fact.used), None), tier.latency_s)


def _basis(one: Cell) -> str:
    """A latency that nobody published has no basis but that."""
    return "assumed" if one.mark == "assumed" else one.basis or "not stated"

"""Who else makes the links of each part: openness of its scale-up and scale-out tier, and the host CPU that comes with it."""

from __future__ import annotations

from collections.abc import Sequence

from tierspan.answers.catalog_compare.rates import outer_tier
from tierspan.answers.catalog_compare.rows import Cell, ComparedRow, Side, cell, row
from tierspan.specs import catalog
from tierspan.specs.hardware import Tier


def rows(sides: Sequence[Side]) -> list[ComparedRow]:
    """Words only: nothing here is a number."""
    made = (
        row("scale_up_openness", "nature", "", sides, lambda side: _openness(side.system.tiers[0])),
        row("scale_out_openness", "nature", "", sides, lambda side: _openness(outer_tier(side))),
        row("host_cpu", "nature", "", sides, lambda side: cell(side.of_system("host_cpu"))),
    )
    return [one for one in made if one is not None]


def _openness(tier: Tier | None) -> Cell:
    part = catalog.carrier(tier) if tier is not None else None
    fact = next((fact for fact in part.facts if fact.key == "openness" and fact.used), None) if part else None
    return cell(fact)

"""Two or more accelerators or systems side by side on one basis: bandwidth, latency, capacity limit, power and cooling.

All bandwidths are per accelerator and per direction, all peaks dense. Planes of a system are listed and never added. A figure is compared only with
one of the same basis; where the bases differ, each stands alone and the row says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tierspan.answers.catalog_compare import capacity, nature, pieces, rates, supply
from tierspan.answers.catalog_compare.rows import ComparedRow, Side
from tierspan.quantities.display import Shown
from tierspan.quantities.errors import InputError, Place, UnknownNameError
from tierspan.quantities.facts import Fact
from tierspan.quantities.findings import Finding
from tierspan.specs import catalog
from tierspan.specs.hardware import Tier

SCHEMA_VERSION: Final = 1
MOST: Final = 8
_SUMS: Final = ("scale_up_total", "scale_out_total", "bisection", "headline_bandwidth")


@dataclass(frozen=True, slots=True)
class ComparedPlane:
    """One tier or plane of a system; bandwidth per accelerator and per direction. Planes do not add."""

    name: str
    kind: str
    domain_size: int | None
    bandwidth_Bps: float
    carries_training: bool


@dataclass(frozen=True, slots=True)
class Headline:
    """A figure as it is printed, and what it is.

    ``what`` is ``dense``, ``sparse``, ``inference``, ``training`` or ``unlabelled`` of a peak, else the figure's key; ``meaning`` says it as the
    source does; ``of_dense`` is the ratio to the dense sum in the same precision.
    """

    printed: str
    what: str
    precision: str
    meaning: str
    note: str
    mark: str
    source: str
    used: bool
    of_dense: float | None = None


@dataclass(frozen=True, slots=True)
class ComparedPart:
    """One side of the comparison. ``system`` is the one whose tiers are told: an accelerator is compared in its usual system.

    A fabric, network, switch, module, cable or fibre has neither accelerator nor system.
    """

    id: str
    name: str
    kind: str
    accelerator: str = ""
    system: str = ""
    assumed: str = ""
    planes: tuple[ComparedPlane, ...] = ()
    headlines: tuple[Headline, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class PartsComparison(Shown):
    """The four dimensions; the first part is what the others' ratios are taken to."""

    parts: tuple[ComparedPart, ...]
    rows: tuple[ComparedRow, ...]
    findings: tuple[Finding, ...]
    schema_version: int = SCHEMA_VERSION


def compare_parts(*names: str, place: Place | None = None) -> PartsComparison:
    """Compare accelerators and systems by id or alias, the first with each of the others; or fabrics, networks, switches and the like.

    Raises:
        InputError: fewer than two or more than eight names, one name twice, or an accelerator or system beside something else.
        UnknownNameError: the catalogue has nothing of this name.
    """
    if not 2 <= len(names) <= MOST:
        raise InputError("catalog_compare.count", place=place, count=len(names), most=MOST)
    found = [_side(name, place) for name in names]
    for index, one in enumerate(found):
        if one.id in [earlier.id for earlier in found[:index]]:
            raise InputError("catalog_compare.twice", place=place, name=names[index], id=one.id)
    sides = [one for one in found if isinstance(one, Side)]
    beside = [one for one in found if not isinstance(one, Side)]
    if sides and beside:
        raise InputError("catalog_compare.kinds", place=place, id=beside[0].id, kind=beside[0].kind, other=sides[0].id)
    if beside:
        parted = pieces.rows(beside)
        return PartsComparison(tuple(ComparedPart(one.id, one.name, one.kind) for one in beside), parted, tuple(_refusals(parted)))
    rows = (*rates.bandwidth(sides), *rates.latency(sides), *capacity.rows(sides), *supply.rows(sides), *nature.rows(sides))
    return PartsComparison(tuple(_part(side) for side in sides), rows, (*_refusals(rows), *_precisions(sides), *_remarks(sides)))


def _side(name: str, place: Place | None) -> Side | catalog.Part:
    """A system where one has this very id, else an accelerator, else a system by another name, else a part."""
    if name.casefold() not in catalog.system_ids():
        try:
            found = catalog.resolve("accelerator", name)
        except UnknownNameError:
            pass
        else:
            usual = catalog.system(catalog.default_system(found.id))
            return Side(found.id, "accelerator", catalog.accelerator(found.id), usual, found.assumed)
    try:
        found = catalog.resolve("system", name)
    except UnknownNameError:
        pass
    else:
        system = catalog.system(found.id)
        return Side(found.id, "system", catalog.accelerator(system.accelerator), system, found.assumed)
    try:
        return catalog.part(name)
    except UnknownNameError:
        known = (*catalog.known_names("accelerator"), *catalog.known_names("system"), *catalog.known_part_names())
        raise UnknownNameError("catalog.unknown_thing", name, known, place=place) from None


def _part(side: Side) -> ComparedPart:
    planes = tuple(_plane(tier, training=True) for tier in side.system.tiers)
    planes += tuple(_plane(tier, training=False) for tier in side.system.other_planes)
    name = side.system.name if side.kind == "system" else side.card.name
    return ComparedPart(side.id, name, side.kind, side.card.id, side.system.id, side.assumed, planes, tuple(_headlines(side)))


def _plane(tier: Tier, *, training: bool) -> ComparedPlane:
    return ComparedPlane(tier.name, tier.kind, tier.domain_size, tier.bandwidth_Bps, training)


def _headlines(side: Side) -> list[Headline]:
    """Printed figures of the part itself: peaks, sums over a domain, bandwidths of both directions."""
    facts = side.card.facts
    if side.kind == "system":
        facts = (*side.system.facts, *(fact for tier in side.system.tiers for fact in tier.facts))
    found = []
    for fact in facts:
        if fact.key.startswith("headline_peak."):
            _, precision, what = fact.key.split(".")
            dense = side.peak(precision)
            whole = None if dense is None else dense * (side.system.unit_accelerators if side.kind == "system" else 1)
            found.append(_headline(fact, what, precision, fact.value / whole if whole else None))
        elif fact.key in _SUMS:
            found.append(_headline(fact, fact.key))
    return found


def _headline(fact: Fact, what: str, precision: str = "", of_dense: float | None = None) -> Headline:
    return Headline(fact.original, what, precision, fact.basis, fact.note, fact.source.mark, fact.source.reference, fact.used, of_dense)


def _refusals(rows: Sequence[ComparedRow]) -> list[Finding]:
    """One finding for each reason, with all rows that it holds for."""
    held: list[tuple[ComparedRow, list[str]]] = []
    for row in rows:
        same = next((ids for first, ids in held if (first.refused, first.values) == (row.refused, row.values)), None)
        if row.refused and same is None:
            held.append((row, [row.id]))
        elif row.refused and same is not None:
            same.append(row.id)
    return [Finding(first.refused, "warning", {"rows": tuple(ids), **first.values}) for first, ids in held]


def _precisions(sides: Sequence[Side]) -> list[Finding]:
    """A precision that only some parts have is never held against another one of the rest."""
    having: dict[str, list[str]] = {}
    for precision in capacity.told_precisions(sides):
        ids = [side.id for side in sides if side.peak(precision) is not None]
        if len(ids) < len(sides):
            having.setdefault(", ".join(ids), []).append(precision.upper())
    return [Finding("catalog_compare.precision", "warning", {"precision": ", ".join(names), "ids": ids}) for ids, names in having.items()]


def _remarks(sides: Sequence[Side]) -> list[Finding]:
    found: list[Finding] = []
    for side in sides:
        if side.kind == "accelerator":
            found.append(Finding("catalog_compare.usual_system", "info", {"id": side.id, "system": side.system.id}))
        listed = "; ".join(f"{tier.name} {tier.bandwidth_Bps / 1e9:.4g} GB/s" for tier in (*side.system.tiers, *side.system.other_planes))
        if len(side.system.tiers) + len(side.system.other_planes) > 1:
            found.append(Finding("catalog_compare.planes_apart", "info", {"id": side.id, "planes": listed}))
    found.append(Finding("catalog_compare.no_pooling", "info"))
    for side in sides:
        used = [fact for fact in side.facts if fact.used and not fact.is_text]
        second = sum(fact.source.mark == "second hand" for fact in used)
        read = sum(fact.source.mark == "vendor page" for fact in used)
        found.append(Finding("catalog_compare.marks", "info", {"id": side.id, "read": read, "second": second, "rest": len(used) - read - second}))
        found += [
            Finding("catalog_compare.conflict", "warning", {"id": side.id, "key": key, "used": taken, "others": others})
            for key, taken, others in side.conflicts()
        ]
    return found

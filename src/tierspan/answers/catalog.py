"""What the hardware catalogue knows: lists of accelerators and systems, and one of them with every figure's source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final, Literal

from tierspan.quantities.display import Shown
from tierspan.quantities.errors import InputError, Place, UnknownNameError
from tierspan.quantities.facts import Fact
from tierspan.quantities.findings import Finding
from tierspan.quantities.messages import text
from tierspan.specs import catalog
from tierspan.specs.hardware import Accelerator, System, Tier

SCHEMA_VERSION: Final = 1
Kind = Literal["accelerator", "system"]
PartKind = Literal["fabric", "network", "switch", "optics", "cable", "fibre", "unverified"]
_FILES: Final = (".yaml", ".yml", ".json", ".xml", ".txt", ".log")


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """One line of the list: an accelerator, or a system with the accelerator it holds."""

    id: str
    kind: Kind
    name: str
    vendor: str
    accelerator: str
    accelerators: int
    year: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "id": self.id,
            "kind": self.kind,
            "name": self.name,
            "vendor": self.vendor,
            "accelerator": self.accelerator,
            "accelerators": self.accelerators,
            "year": self.year,
        }


@dataclass(frozen=True, slots=True)
class PartEntry:
    """One line of the list that is neither: a fabric, a network, a switch, optics, a cable, a fibre, or what no source supports well enough."""

    id: str
    kind: str
    name: str
    owner: str
    status: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"id": self.id, "kind": self.kind, "name": self.name, "owner": self.owner, "status": self.status}


@dataclass(frozen=True, slots=True, repr=False)
class CatalogList(Shown):
    """The entries that a search found: accelerators and systems, and the parts beside them."""

    entries: tuple[CatalogEntry, ...]
    parts: tuple[PartEntry, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        listed = {"entries": [entry.to_dict() for entry in self.entries], "parts": [entry.to_dict() for entry in self.parts]}
        return {"schema_version": SCHEMA_VERSION, **listed}


@dataclass(frozen=True, slots=True, repr=False)
class PartSheet(Shown):
    """A fabric, network, switch, module, cable or fibre with all that is known of it; words and numbers alike are facts with a source."""

    part: catalog.Part

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Every fact, with its source."""
        return self.part.facts

    def to_dict(self, lang: str = "en") -> dict[str, Any]:
        """Plain values for JSON, SI with the unit beside each value."""
        del lang  # the words are those of the sources
        found = self.part
        words = {fact.key: fact.original for fact in found.facts if fact.is_text and fact.used}
        head = {"schema_version": SCHEMA_VERSION, "kind": found.kind, "id": found.id, "name": found.name, "owner": found.owner}
        return {**head, "words": words, "facts": [fact_to_dict(fact) for fact in found.facts]}


@dataclass(frozen=True, slots=True, repr=False)
class AcceleratorSheet(Shown):
    """An accelerator with all facts; those with ``used`` are what predictions take, those with ``conflict`` disagree."""

    accelerator: Accelerator
    default_system: str
    assumed: str = ""

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Every figure, with its source."""
        return self.accelerator.facts

    def to_dict(self, lang: str = "en") -> dict[str, Any]:
        """Plain values for JSON, SI with the unit in the key."""
        del lang  # an accelerator's sheet has no sentences
        found = self.accelerator
        return {
            "schema_version": SCHEMA_VERSION,
            "kind": "accelerator",
            "id": found.id,
            "name": found.name,
            "vendor": found.vendor,
            "class": found.kind,
            "year": found.year,
            "peak_flops_FLOPps": dict(found.peak_flops),
            "memory_bytes": found.memory_bytes,
            "memory_usable_bytes": found.memory_usable_bytes,
            "memory_bandwidth_Bps": found.memory_bandwidth_Bps,
            "power_W": found.power_W,
            "achievable": dict(found.achievable),
            "default_system": self.default_system,
            "assumed": self.assumed,
            "facts": [fact_to_dict(fact) for fact in found.facts],
        }


@dataclass(frozen=True, slots=True)
class DomainTotals:
    """Sums over the accelerators of one scale-up domain; nothing pools them by itself."""

    accelerators: int
    memory_bytes: float
    peak_flops: Mapping[str, float]
    bandwidth_Bps: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, SI with the unit in the key."""
        return {
            "accelerators": self.accelerators,
            "memory_bytes": self.memory_bytes,
            "peak_flops_FLOPps": dict(self.peak_flops),
            "injection_bandwidth_Bps": self.bandwidth_Bps,
        }


@dataclass(frozen=True, slots=True, repr=False)
class SystemSheet(Shown):
    """A system: tiers, sums per scale-up domain, the ratio of scale-up to scale-out, and the planes kept apart.

    ``scale_ratio`` is the bandwidth of the innermost tier over that of the first scale-out tier, both per accelerator and per
    direction. ``notes`` say what the sums do not mean.
    """

    system: System
    accelerator: Accelerator
    domain: DomainTotals
    scale_ratio: float | None
    notes: tuple[Finding, ...]
    assumed: str = ""

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Every figure of the system and of its tiers, with its source."""
        planes = (*self.system.tiers, *self.system.other_planes)
        return (*self.system.facts, *(fact for tier in planes for fact in tier.facts))

    def to_dict(self, lang: str = "en") -> dict[str, Any]:
        """Plain values for JSON, SI with the unit in the key."""
        found = self.system
        return {
            "schema_version": SCHEMA_VERSION,
            "kind": "system",
            "id": found.id,
            "name": found.name,
            "vendor": found.vendor,
            "accelerator": found.accelerator,
            "node_size": found.node_size,
            "unit_accelerators": found.unit_accelerators,
            "unit_power_W": found.unit_power_W,
            "nics_per_node": found.nics_per_node,
            "tiers": [tier_to_dict(tier) for tier in found.tiers],
            "other_planes": [tier_to_dict(tier) for tier in found.other_planes],
            "scale_up_domain": self.domain.to_dict(),
            "scale_up_to_scale_out": self.scale_ratio,
            "notes": [{"id": note.id, "text": text(note.id, lang, **note.values)} for note in self.notes],
            "assumed": self.assumed,
            "facts": [fact_to_dict(fact) for fact in found.facts],
        }


def list_catalog(kind: Kind | PartKind | None = None, pattern: str | None = None) -> CatalogList:
    """Accelerators, then systems, then the parts beside them.

    Args:
        kind: only these.
        pattern: only those whose id, name, vendor or accelerator contains it, or matches it where it has ``*`` or ``?``; case does not count.
    """
    entries: list[CatalogEntry] = []
    if kind in (None, "accelerator"):
        for name in catalog.accelerator_ids():
            card = catalog.accelerator(name)
            entries.append(CatalogEntry(card.id, "accelerator", card.name, card.vendor, card.id, 1, card.year))
    if kind in (None, "system"):
        for name in catalog.system_ids():
            found = catalog.system(name)
            year = catalog.accelerator(found.accelerator).year
            entries.append(CatalogEntry(found.id, "system", found.name, found.vendor, found.accelerator, found.unit_accelerators, year))
    parts = [
        PartEntry(one.id, one.kind, one.name, one.owner, one.words("status"))
        for one in map(catalog.part, catalog.part_ids())
        if kind in (None, one.kind)
    ]
    wanted = pattern and pattern.casefold()
    return CatalogList(
        tuple(entry for entry in entries if not wanted or _matches((entry.id, entry.name, entry.vendor, entry.accelerator), wanted)),
        tuple(part for part in parts if not wanted or _matches((part.id, part.name, part.owner), wanted)),
    )


def show(name: str, *, place: Place | None = None) -> AcceleratorSheet | SystemSheet | PartSheet:
    """One accelerator, system or part, by id or alias; where several have the name, the first of these.

    Raises:
        UnknownNameError: the catalogue has nothing of this name.
        InputError: the name is that of a file.
    """
    try:
        return show_accelerator(name)
    except UnknownNameError:
        pass
    try:
        return show_system(name)
    except UnknownNameError:
        pass
    try:
        return PartSheet(catalog.part(name))
    except UnknownNameError:
        if name.casefold().endswith(_FILES):
            raise InputError("catalog.show_file", place=place, name=name) from None
        known = (*catalog.known_names("accelerator"), *catalog.known_names("system"), *catalog.known_part_names())
        raise UnknownNameError("catalog.unknown_thing", name, known, place=place) from None


def show_accelerator(name: str, *, place: Place | None = None) -> AcceleratorSheet:
    """An accelerator by id or alias.

    Raises:
        UnknownNameError: the catalogue has no accelerator of this name.
    """
    resolved = catalog.resolve("accelerator", name, place=place)
    return AcceleratorSheet(catalog.accelerator(resolved.id), catalog.default_system(resolved.id), resolved.assumed)


def show_system(name: str, *, place: Place | None = None) -> SystemSheet:
    """A system by id or alias.

    Raises:
        UnknownNameError: the catalogue has no system of this name.
    """
    resolved = catalog.resolve("system", name, place=place)
    found = catalog.system(resolved.id)
    return system_sheet(found, catalog.accelerator(found.accelerator), resolved.assumed)


def system_sheet(found: System, card: Accelerator, assumed: str = "") -> SystemSheet:
    """The sheet of a system at hand, from the catalogue or described inline."""
    inner = found.tiers[0]
    size = inner.domain_size or found.unit_accelerators
    totals = DomainTotals(size, size * card.memory_bytes, {name: size * peak for name, peak in card.peak_flops.items()}, size * inner.bandwidth_Bps)
    outer = next((tier for tier in found.tiers[1:] if tier.kind == "scale-out"), None)
    ratio = None if outer is None else inner.bandwidth_Bps / outer.bandwidth_Bps
    return SystemSheet(found, card, totals, ratio, _notes(found, card, ratio), assumed)


def fact_to_dict(fact: Fact) -> dict[str, Any]:
    """A fact as plain values for JSON; ``value`` is SI in ``unit``, null where the fact is words (they stand in ``original``)."""
    return {
        "key": fact.key,
        "value": None if fact.is_text else fact.value,
        "unit": fact.unit,
        "original": fact.original,
        "basis": fact.basis,
        "source": fact.source.reference,
        "source_kind": fact.source.kind,
        "date": fact.source.date,
        "mark": fact.source.mark,
        "conflict": fact.conflict,
        "used": fact.used,
        "note": fact.note,
    }


def tier_to_dict(tier: Tier) -> dict[str, Any]:
    """A tier as plain values for JSON, SI with the unit in the key."""
    return {
        "name": tier.name,
        "kind": tier.kind,
        "domain_size": tier.domain_size,
        "bandwidth_Bps": tier.bandwidth_Bps,
        "pair_bandwidth_Bps": tier.pair_bandwidth_Bps,
        "latency_s": tier.latency_s,
        "latency_basis": tier.latency_basis,
        "transport": tier.transport,
        "topology": tier.topology,
        "in_network_reduction": tier.in_network_reduction,
        "memory_semantics": tier.memory_semantics,
        "facts": [fact_to_dict(fact) for fact in tier.facts],
    }


def _notes(found: System, card: Accelerator, ratio: float | None) -> tuple[Finding, ...]:
    inner = found.tiers[0]
    notes: list[Finding] = []
    if (inner.domain_size or 2) > 1:
        notes.append(Finding("catalog.no_pooling", "info", {"tier": inner.name}))
        if inner.memory_semantics:
            share = (inner.pair_bandwidth_Bps or inner.bandwidth_Bps) / card.memory_bandwidth_Bps
            notes.append(Finding("catalog.memory_semantics", "info", {"tier": inner.name, "share": share}))
        else:
            notes.append(Finding("catalog.no_memory_semantics", "info", {"tier": inner.name}))
    if ratio is not None:
        notes.append(Finding("catalog.same_basis", "info"))
    notes += [Finding("catalog.planes_apart", "info", {"plane": plane.name, "gbps": plane.bandwidth_Bps * 8 / 1e9}) for plane in found.other_planes]
    return tuple(notes)


def _matches(fields: tuple[str, ...], pattern: str) -> bool:
    if any(letter in pattern for letter in "*?["):
        return any(fnmatchcase(field.casefold(), pattern) for field in fields)
    return any(pattern in field.casefold() for field in fields)

"""Hardware described inline: accelerators, systems and clusters from plain mappings, as YAML or JSON gives them.

A figure is text with a unit (``memory: "96 GB"``) or a number in SI under a key that carries the unit (``memory_bytes: 96e9``).
Nothing is guessed: a missing key, an unknown key, a unit or a direction that is not said is an error that names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tierspan.quantities.errors import InputError, UnknownNameError
from tierspan.quantities.facts import Fact
from tierspan.quantities.qualifiers import Direction
from tierspan.specs.catalog import accelerator, cluster_of, default_system, system
from tierspan.specs.hardware import Accelerator, Cluster, System, Tier
from tierspan.specs.inline_fields import Fields, PlaceOf
from tierspan.specs.precision import PRECISIONS

PEAK_PRECISIONS = (*PRECISIONS, "fp4")
TIER_KINDS = ("scale-up", "scale-out", "dci", "vpc")
TOPOLOGIES = ("switched", "mesh", "cube-mesh", "torus-2d", "torus-3d", "point-to-point", "tree", "fat-tree", "rail-optimised", "dragonfly")


def accelerator_from_mapping(mapping: object, place_of: PlaceOf, path: str = "") -> Accelerator:
    """An accelerator: the name of a catalogue accelerator, or a mapping that describes one.

    Keys: ``name``, ``peak_flops`` (precision to dense peak), ``memory``, ``memory_bandwidth``; optional ``memory_usable``, ``power``,
    ``vendor``, ``kind``, ``year``, ``achievable`` (precision to share of the peak), ``id``, and ``like``, a catalogue accelerator whose
    figures hold where the mapping gives none. One whose speed differs from it is an accelerator of its own: nobody measured it.

    Raises:
        InputError: a key is missing or unknown, or a value cannot be used.
    """
    if isinstance(mapping, str):
        return accelerator(mapping, place=place_of(path))
    fields = Fields(mapping, place_of, path)
    like = fields.text("like")
    base = accelerator(like, place=fields.place("like")) if like else None
    name = fields.text("name", required=base is None) or (base.name if base else "")
    peaks = dict(base.peak_flops) if base else {}
    shares = dict(base.achievable) if base else {}
    peak_facts: list[Fact] = []
    if (given := fields.child("peak_flops", required=base is None)) is not None:
        for precision in _precisions(given):
            as_text = isinstance(given.raw(precision), str)
            peaks[precision] = (given.quantity(precision, "FLOP/s", "_FLOPs") or 0.0) if as_text else given.number(precision, "FLOP/s")
            # A share measured against another peak says nothing about this one.
            shares.pop(precision, None)
        peak_facts = [replace(fact, key=f"peak_flops.{fact.key}") for fact in given.facts]
    if (given := fields.child("achievable")) is not None:
        shares |= {precision: given.share(precision) for precision in _precisions(given)}
    memory_bytes = fields.quantity("memory", "B", "_bytes", required=base is None)
    memory_bandwidth_Bps = fields.quantity("memory_bandwidth", "B/s", "_Bps", required=base is None)
    usable_bytes = fields.quantity("memory_usable", "B", "_bytes")
    power_W = fields.quantity("power", "W", "_W")
    vendor, kind, year = fields.text("vendor"), fields.text("kind"), fields.count("year")
    identity = fields.text("id")
    fields.finish()
    if not peaks:
        raise InputError("key.missing", place=fields.place("peak_flops"), key=fields.path("peak_flops.bf16"))
    if base is None:
        base = Accelerator(identity or name, name, vendor or "", peaks, memory_bytes or 0.0, memory_bandwidth_Bps or 0.0)
    elif memory_bytes is not None and usable_bytes is None:
        base = replace(base, memory_usable_bytes=None)
    if like and not identity and _runs_otherwise(base, peaks, shares, memory_bandwidth_Bps):
        # What was measured of the known part does not hold for this one.
        identity = f"{base.id}-changed" if name == base.name else name
        name = f"{name} (changed)" if name == base.name else name
    return replace(
        base,
        id=identity or (base.id if like else name),
        name=name,
        vendor=vendor or base.vendor,
        peak_flops=peaks,
        memory_bytes=memory_bytes or base.memory_bytes,
        memory_bandwidth_Bps=memory_bandwidth_Bps or base.memory_bandwidth_Bps,
        power_W=power_W or base.power_W,
        kind=kind or base.kind,
        year=year or base.year,
        achievable=shares,
        facts=(*fields.facts, *peak_facts, *_without(base.facts, [*fields.facts, *peak_facts])),
        memory_usable_bytes=usable_bytes or base.memory_usable_bytes,
    )


def system_from_mapping(mapping: object, place_of: PlaceOf, path: str = "") -> tuple[System, Accelerator]:
    """A system with its accelerator: the name of a catalogue system, or a mapping that describes one.

    Keys: ``name``, ``accelerator`` (a name or a mapping), ``node_size``, ``tiers`` (innermost first); optional ``id``, ``vendor``,
    ``unit_accelerators``, ``unit_power``, ``nics_per_node``, ``other_planes``.

    Raises:
        InputError: a key is missing or unknown, or a value cannot be used.
    """
    if isinstance(mapping, str):
        found = system(mapping, place=place_of(path))
        return found, accelerator(found.accelerator)
    fields = Fields(mapping, place_of, path)
    card = accelerator_from_mapping(fields.raw("accelerator", required=True), place_of, fields.path("accelerator"))
    built = _system(fields, card)
    fields.finish()
    return built, card


def cluster_from_mapping(mapping: object, place_of: PlaceOf, path: str = "") -> Cluster:
    """A cluster, in one of three forms.

    - ``{system: NAME_OR_MAPPING, accelerators: N}``: N accelerators of a system;
    - ``{accelerator: NAME, accelerators: N}``: in the system that this accelerator usually comes in;
    - ``{accelerator: NAME_OR_MAPPING, accelerators: N, node_size: M, tiers: [...]}``: described here.

    The first two take ``node_size``, ``domain_size`` and ``nic`` (scale-out bandwidth per accelerator) where they differ from the system; the
    last takes ``nic`` where no scale-out tier is described.

    Raises:
        InputError: a key is missing or unknown, or a value cannot be used.
    """
    fields = Fields(mapping, place_of, path)
    count = fields.count("accelerators", required=True) or 0
    if fields.has("tiers"):
        if fields.has("system"):
            raise InputError("key.conflict", place=fields.place("tiers"), key=fields.path("system"), other=fields.path("tiers"))
        card = accelerator_from_mapping(fields.raw("accelerator", required=True), place_of, fields.path("accelerator"))
        found = _system(fields, card)
        nic_Bps = fields.rate("nic", assume="per-direction") if all(tier.kind == "scale-up" for tier in found.tiers) else None
        fields.finish()
        built = cluster_of(found, count, card=card, nic_Bps=nic_Bps, place=fields.place(), tiers_place=fields.place("tiers"))
        return replace(built, system=None)
    found, card = _named(fields, place_of)
    node_size, domain_size = fields.count("node_size"), fields.count("domain_size")
    nic_Bps = fields.rate("nic", assume="per-direction")
    fields.finish()
    tiers_place = fields.place("system.tiers") if isinstance(fields.raw("system"), Mapping) else None
    return cluster_of(
        found, count, card=card, node_size=node_size, domain_size=domain_size, nic_Bps=nic_Bps, place=fields.place(), tiers_place=tiers_place
    )


def _named(fields: Fields, place_of: PlaceOf) -> tuple[System, Accelerator]:
    given = fields.raw("accelerator")
    if fields.has("system"):
        found, card = system_from_mapping(fields.raw("system"), place_of, fields.path("system"))
        if given is not None:
            card = accelerator_from_mapping(given, place_of, fields.path("accelerator"))
        return found, card
    if given is None:
        raise InputError("inline.no_hardware", place=fields.place(), key=fields.path("system"), other=fields.path("accelerator"))
    card = accelerator_from_mapping(given, place_of, fields.path("accelerator"))
    like = given if isinstance(given, str) else Fields(given, place_of).text("like")
    if like is None:
        raise InputError("key.missing", place=fields.place(), key=fields.path("tiers"))
    return system(default_system(like)), card


def _system(fields: Fields, card: Accelerator) -> System:
    node_size = fields.count("node_size", required=True) or 1
    tiers = [_tier(item) for item in fields.children("tiers", required=True)]
    for number, tier in enumerate(tiers[:-1]):
        if tier.domain_size is None:
            raise InputError("key.missing", place=fields.place("tiers"), key=fields.path(f"tiers.{number}.domain_size"))
        outer = tiers[number + 1].domain_size
        if outer is not None and outer <= tier.domain_size:
            raise InputError("inline.order", place=fields.place("tiers"), inner=tier.domain_size, outer=outer)
    name = fields.text("name") or card.name
    return System(
        id=fields.text("id") or name,
        name=name,
        vendor=fields.text("vendor") or "",
        accelerator=card.id,
        node_size=node_size,
        unit_accelerators=fields.count("unit_accelerators") or node_size,
        tiers=tuple(tiers),
        other_planes=tuple(_tier(item) for item in fields.children("other_planes")),
        unit_power_W=fields.quantity("unit_power", "W", "_W"),
        nics_per_node=fields.count("nics_per_node"),
        facts=tuple(fields.facts),
    )


def _tier(fields: Fields) -> Tier:
    kind = fields.text("kind", required=True, choices=TIER_KINDS) or ""
    # NIC and switch rates are named per direction everywhere; scale-up headlines are not, so those must say it.
    assume: Direction | None = None if kind == "scale-up" else "per-direction"
    links = fields.count("links")
    tier = Tier(
        name=fields.text("name", required=True) or "",
        kind=kind,
        domain_size=fields.count("domain_size"),
        bandwidth_Bps=fields.rate("bandwidth", required=True, assume=assume, links=links) or 0.0,
        latency_s=fields.quantity("latency", "s", "_s", required=True) or 0.0,
        transport=fields.text("transport") or "unstated",
        topology=fields.text("topology", choices=TOPOLOGIES) or "switched",
        pair_bandwidth_Bps=fields.rate("pair_bandwidth", assume=assume),
        in_network_reduction=fields.flag("in_network_reduction"),
        memory_semantics=fields.flag("memory_semantics"),
    )
    basis = fields.text("latency_basis")
    fields.finish()
    return replace(tier, facts=tuple(fields.facts), latency_basis=basis or tier.latency_basis)


def _runs_otherwise(base: Accelerator, peaks: Mapping[str, float], shares: Mapping[str, float], memory_bandwidth_Bps: float | None) -> bool:
    """Whether figures that decide speed differ from those of the base."""
    return peaks != base.peak_flops or shares != base.achievable or memory_bandwidth_Bps not in (None, base.memory_bandwidth_Bps)


def _precisions(fields: Fields) -> tuple[str, ...]:
    keys = fields.all_keys()
    for key in keys:
        if key not in PEAK_PRECISIONS:
            raise UnknownNameError("inline.precision", key, PEAK_PRECISIONS, place=fields.place(key), allowed=", ".join(PEAK_PRECISIONS))
    return keys


def _without(facts: tuple[Fact, ...], given: list[Fact]) -> tuple[Fact, ...]:
    """The facts of a base, those that the description replaces no longer used."""
    replaced = {fact.key for fact in given}
    return tuple(replace(fact, used=False) if fact.key in replaced else fact for fact in facts)

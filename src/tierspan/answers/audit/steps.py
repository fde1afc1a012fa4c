"""The four-step reading of a sheet: tier and domain, bandwidth basis, latency premise, topology and room."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from tierspan.answers.audit.machines import Machine, machines_of
from tierspan.answers.audit.result import Claim, Light, RoomCheck, Step
from tierspan.quantities.findings import Finding, Phrase
from tierspan.quantities.printing import format_number, format_quantity
from tierspan.specs.hardware import Tier
from tierspan.specs.profile.profile import transports
from tierspan.specs.reading import Reading, Reason

_LIGHTS: Final[tuple[Light, ...]] = ("pass", "unknown", "derate", "fail")
"""From the best to the worst."""
_TIERS: Final = ("scale-up", "scale-out", "host", "storage", "management", "dci", "memory")
_SUBJECTS: Final[dict[str, tuple[str, ...]]] = {
    "tier and domain": ("domain_", "node_is_domain", "database_", "planes", "slots_", "dies"),
    "bandwidth basis": (
        "direction", "any_pair", "bisection", "link", "pcie", "ports", "switch_direction", "nic", "mesh_", "twin_port", "bit_or_byte", "efa_",
        "busbw_", "known_ratio",
    ),
    "latency premise": ("latenc", "chip_as", "end_to_end", "light_in", "time_unit"),
    "topology and room": ("air_cooled", "bill", "cooling", "copper_", "floor_", "mass_", "power", "racks", "supplies_", "pounds_", "efficiency"),
}  # fmt: skip
"""Which findings belong to a step, by how their ids go on after ``audit.``."""
_MOST_TEXTS: Final = 6


def steps_of(readings: Sequence[Reading], findings: Sequence[Finding], claims: Sequence[Claim], room: Sequence[RoomCheck]) -> tuple[Step, ...]:
    """The four steps in their order; each says what the sheet gives, what was taken from the catalogue, and what is missing."""
    machines = machines_of(readings)
    return (
        _step("tier and domain", [*_tiers(readings, findings), *_domains(readings, machines)], findings),
        _step("bandwidth basis", [*_bases(readings), *_ratios(readings, machines), *_claimed(claims, "bandwidth ratio")], findings),
        _step("latency premise", [*_latencies(readings), *_claimed(claims, "latency ratio")], findings),
        _step("topology and room", list(_room(machines, room)), findings),
    )


def _step(name: str, told: Sequence[tuple[Light, Reason]], findings: Sequence[Finding]) -> Step:
    mine = [f for f in findings if f.id.removeprefix("audit.").startswith(_SUBJECTS[name])]
    errors, warnings = (sum(f.severity == severity for f in mine) for severity in ("error", "warning"))
    lines = list(told)
    if errors or warnings:
        lines.append(("fail" if errors else "derate", _said("findings", errors=errors, warnings=warnings)))
    light = max((light for light, _ in lines), key=_LIGHTS.index, default="unknown")
    return Step(name, light, tuple(reason for _, reason in lines))  # type: ignore[arg-type]


def _tiers(readings: Sequence[Reading], findings: Sequence[Finding]) -> Iterator[tuple[Light, Reason]]:
    rates = [r for r in readings if r.quantity in ("bandwidth", "memory bandwidth")]
    if any(f.id.startswith("audit.database_") for f in findings):
        yield "unknown", _said("database")
        return
    for tier in _TIERS:
        texts = [r.text for r in rates if r.tier == tier]
        if texts:
            yield "pass", _said(f"tier.{tier.replace('-', '_')}", texts=_listed(texts))
    nowhere = [r.text for r in rates if not r.tier]
    if nowhere:
        yield "unknown", _said("tier.none", texts=_listed(nowhere))
    if not rates:
        yield "unknown", _said("no_bandwidth")
        return
    have = {r.tier for r in rates}
    if "scale-out" not in have and "scale-up" in have:
        yield "unknown", _said("no_scale_out")
    if "scale-up" not in have and "scale-out" in have:
        yield "unknown", _said("no_scale_up")


def _domains(readings: Sequence[Reading], machines: Sequence[Machine]) -> Iterator[tuple[Light, Reason]]:
    known = False
    for machine in machines:
        inner = machine.system.tiers[0] if machine.system.tiers else None
        if inner is not None and inner.domain_size:
            known = True
            key = "domain" if machine.named else "domain_assumed"
            yield "pass", _said(key, part=machine.id, size=inner.domain_size, fabric=inner.name, node=machine.system.node_size)
    if not known and any(r.tier == "scale-up" for r in readings):
        yield "unknown", _said("no_domain")


def _bases(readings: Sequence[Reading]) -> Iterator[tuple[Light, Reason]]:
    rates = [r for r in readings if r.quantity == "bandwidth"]
    both = [f"{r.text} -> {format_quantity(r.value_si, 'B/s')}" for r in rates if r.direction == "both-directions" and math.isfinite(r.value_si)]
    if both:
        yield "pass", _said("both", texts=_listed(both))
    each = [r.text for r in rates if r.direction == "per-direction"]
    if each:
        yield "pass", _said("each", texts=_listed(each))
    unclear = [r.text for r in rates if not r.direction]
    if unclear:
        yield "unknown", _said("no_direction", texts=_listed(unclear))


def _ratios(readings: Sequence[Reading], machines: Sequence[Machine]) -> Iterator[tuple[Light, Reason]]:
    """Inner against outer bandwidth of one accelerator, each way: from the sheet where it gives both, else from the catalogue."""
    told = False
    for machine in machines or (None,):
        mine = [r for r in readings if machine is None or r.catalog_id in (machine.id, machine.system.accelerator)]
        inner, outer = _inner(mine), _outer(mine, machine)
        sources = ["sheet" if inner else "catalogue", "sheet" if outer else "catalogue"]
        tiers = machine.system.tiers if machine is not None else ()
        inner = inner or next((t.bandwidth_Bps for t in tiers if t.kind == "scale-up"), None)
        outer = outer or next((t.bandwidth_Bps for t in tiers if t.kind == "scale-out"), None)
        if inner is None or outer is None or not outer > 0 or ("sheet" not in sources and not mine):
            continue
        told = True
        node = machine.system.node_size if machine is not None else 1
        values = {
            "part": machine.id if machine is not None else "-", "inner": format_quantity(inner, "B/s"), "outer": format_quantity(outer, "B/s"),
            "ratio": format_number(inner / outer, 3), "node": node, "node_inner": format_quantity(inner * node, "B/s"),
            "node_outer": format_quantity(outer * node, "B/s"),
        }  # fmt: skip
        key = "ratio_sheet" if sources == ["sheet", "sheet"] else "ratio_catalogue" if "sheet" not in sources else "ratio_mixed"
        yield "pass", _said(key, **values)
        reached = [_reached(tiers, kind, rate) for kind, rate in (("scale-up", inner), ("scale-out", outer))]
        if all(reached):
            yield "pass", _said("reached", inner=reached[0], outer=reached[1])
    if not told:
        yield "unknown", _said("no_ratio")


def _reached(tiers: Sequence[Tier], kind: str, rate_Bps: float) -> str:
    """What large transfers reach of a line rate, by the transport of the tier; "" where none is known."""
    tier = next((t for t in tiers if t.kind == kind), None)
    shares = transports().get(tier.transport) if tier is not None else None
    return format_quantity(rate_Bps * shares[0 if kind == "scale-up" else 1], "B/s") if shares is not None else ""


def _inner(readings: Sequence[Reading]) -> float | None:
    found = [r for r in readings if r.quantity == "bandwidth" and r.tier == "scale-up" and r.status != "ambiguous" and r.direction]
    found = [r for r in found if r.scope in ("accelerator", "domain", "node", "rack") or not r.scope]
    return max((r.value_si for r in found), default=None)


def _outer(readings: Sequence[Reading], machine: Machine | None) -> float | None:
    """The share of one accelerator in the ports of its node; None where the sheet does not say how they are shared."""
    found = [r for r in readings if r.quantity == "bandwidth" and r.tier == "scale-out" and r.status != "ambiguous" and r.scope != "switch"]
    for reading in found:
        if reading.scope == "accelerator":
            return reading.value_si * reading.count
        if machine is not None and reading.count > 1 and reading.count in (machine.system.node_size, machine.system.unit_accelerators):
            return reading.value_si
        if machine is not None and reading.scope == "node" and reading.count == 1:
            return reading.value_si / machine.system.node_size
    return None


def _latencies(readings: Sequence[Reading]) -> Iterator[tuple[Light, Reason]]:
    found = [r for r in readings if r.quantity == "latency"]
    if not found:
        yield "unknown", _said("no_latency")
        return
    bases = dict.fromkeys(r.latency_basis for r in found)
    for basis in bases:
        texts = _listed([r.text for r in found if r.latency_basis == basis])
        yield ("pass" if basis else "unknown"), _said(f"latency.{basis.replace(' ', '_') or 'none'}", texts=texts)
    if len(bases) > 1:
        yield "unknown", _said("latency_bases")


def _claimed(claims: Sequence[Claim], kind: str) -> Iterator[tuple[Light, Reason]]:
    for claim in claims:
        if claim.kind == kind and claim.verdict != "confirmed":
            light: Light = "derate" if claim.verdict == "refuted" else "unknown"
            yield light, _said(f"claim_{claim.verdict}", line=claim.line)


def _room(machines: Sequence[Machine], room: Sequence[RoomCheck]) -> Iterator[tuple[Light, Reason]]:
    if room:
        lights = [check.light for check in room]
        counts = {light.replace("pass", "passed"): lights.count(light) for light in _LIGHTS}
        yield max(lights, key=_LIGHTS.index), _said("room", **counts)
        for check in room:
            if check.light in ("fail", "derate"):
                yield check.light, check.told
        return
    for machine in machines:
        power = format_quantity(machine.rack_power_W, "W") if machine.rack_power_W else Phrase("audit.said.power_unknown")
        mass = f"{format_number(machine.rack_mass_kg, 4)} kg" if machine.rack_mass_kg else Phrase("audit.said.mass_unknown")
        values = {"part": machine.id, "racks": machine.racks, "power": power, "mass": mass}
        yield "unknown", _said(f"machine_{'rack' if machine.racks else 'server'}_{machine.cooling or 'unknown'}", **values)
    yield "unknown", _said("no_site")


def _listed(texts: Sequence[str]) -> str:
    once = list(dict.fromkeys(texts))
    return ", ".join(once[:_MOST_TEXTS]) + (" ..." if len(once) > _MOST_TEXTS else "")


def _said(message: str, /, **values: object) -> Reason:
    return Reason(f"audit.said.{message}", values)

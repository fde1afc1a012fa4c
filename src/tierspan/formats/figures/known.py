"""What the catalogue says of a part that a text names, in the numbers that sheets print."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache

from tierspan.quantities.facts import Fact
from tierspan.specs.catalog import accelerator, default_system, system
from tierspan.specs.catalog.tables import facts
from tierspan.specs.hardware import System


@dataclass(frozen=True, slots=True)
class Part:
    """Numbers of an accelerator and, where a system is named, of the system: SI, dense, per accelerator and direction.

    ``accelerators`` in the unit one buys, ``node`` in a host, ``domain`` in one scale-up domain; 1 for a lone accelerator.
    """

    id: str
    accelerator_id: str
    accelerators: int
    node: int
    domain: int
    peaks: dict[str, float]
    memory_bytes: float
    memory_bandwidth_Bps: float
    power_W: float | None
    scale_up_Bps: float
    links: int
    scale_out_Bps: float
    system_power_W: float | None = None
    is_system: bool = False
    other_powers_W: tuple[float, ...] = field(default=())
    package: int = 1
    """Accelerators of the catalogue in what the vendor sells as one: 2 where it counts dies or cores of a card."""
    superchip: int = 1
    """Accelerators beside a CPU on one superchip."""


@cache
def part(thing: str, name: str) -> Part:
    """The part ``name`` of the catalogue; an accelerator is taken with the tiers of the system that it usually comes in."""
    found: System = system(name) if thing == "system" else system(default_system(name))
    card = accelerator(found.accelerator if thing == "system" else name)
    inner = next((t for t in found.tiers if t.kind == "scale-up"), None)
    outer = next((t for t in found.tiers if t.kind == "scale-out"), None)
    links = next((int(f.value) for f in inner.facts if f.key == "links"), 0) if inner is not None else 0
    domain = (inner.domain_size or found.unit_accelerators) if inner is not None else 1
    powers = tuple(f.value for f in facts("system_facts").get(found.id, ()) if f.key == "unit_power") if thing == "system" else ()
    return Part(
        id=found.id if thing == "system" else card.id, accelerator_id=card.id, accelerators=found.unit_accelerators if thing == "system" else 1,
        node=found.node_size, domain=domain, peaks=dict(card.peak_flops), memory_bytes=card.memory_bytes,
        memory_bandwidth_Bps=card.memory_bandwidth_Bps, power_W=card.power_W,
        scale_up_Bps=inner.bandwidth_Bps if inner is not None else float("nan"), links=links,
        scale_out_Bps=outer.bandwidth_Bps if outer is not None else float("nan"), system_power_W=found.unit_power_W if thing == "system" else None,
        is_system=thing == "system", other_powers_W=powers, package=_package(card.facts), superchip=2 if "(one GPU)" in card.name else 1,
    )  # fmt: skip


def _package(listed: Iterable[Fact]) -> int:
    """How many of the catalogue's accelerators the figures of its sources count together ("128 GB per 2")."""
    found = [re.search(r" per (\d+)$", fact.original) for fact in listed if fact.key == "memory" and fact.used]
    return next((int(match[1]) for match in found if match and int(match[1]) <= 4), 1)


def near(a: float, b: float, tolerance: float = 0.02) -> bool:
    """Whether two printed figures can be one: equal but for rounding."""
    return b > 0 and abs(a / b - 1.0) <= tolerance

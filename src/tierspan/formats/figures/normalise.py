"""Readings on one basis: by the catalogue where the part is known, by conventions of the trade where not, else as a question."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from tierspan.formats.figures.basis import link_meanings, memory_meanings, peak_meanings, settled
from tierspan.formats.figures.context import Context
from tierspan.formats.figures.known import Part, near
from tierspan.specs.reading import Reading, ReadingAlternative, Reason

_NVLINK_BOTH: Final = (160e9, 300e9, 400e9, 600e9, 900e9, 1.8e12, 3.6e12)
"""NVLink of an accelerator as the vendor prints it, both directions together, by generation (and the cut-down H800)."""
_PCIE: Final = {generation: 16 * 2.0 ** (generation - 3) * 1e9 for generation in range(3, 8)}
"""PCIe x16 by generation, each way, before coding, in B/s: 8 GT/s a lane in generation 3, doubled by each later one (PCI-SIG base specifications)."""
_GENERATION: Final = re.compile(r"PCI[\s-]?e?\s?(?:Gen\s?)?([3-7])(?:\.0)?|Gen\s?([3-7])", re.IGNORECASE)


def normalised(reading: Reading, context: Context) -> Reading:
    """The reading on tierspan's basis, with its status, reasons and alternatives."""
    part = context.part
    if reading.quantity == "compute rate":
        return _peak(reading, part)
    if reading.quantity in ("bandwidth", "memory bandwidth"):
        return _rate(reading, part, context)
    if reading.quantity == "memory" and part is not None:
        return settled(reading, list(memory_meanings(part, part.memory_bytes)), part) or reading
    if reading.quantity == "latency" and not reading.latency_basis:
        return replace(reading, status="ambiguous", reasons=(Reason("audit.read.latency_basis"),))
    return reading


def _peak(reading: Reading, part: Part | None) -> Reading:
    if part is not None:
        found = settled(reading, list(peak_meanings(part)), part)
        if found is not None:
            return found
    return _unknown_peak(reading)


def _unknown_peak(reading: Reading) -> Reading:
    half = ReadingAlternative(reading.printed_si / 2.0, "FLOP/s", 0.5, Reason("audit.read.maybe_sparse"), {"density": "sparse"})
    if reading.density == "sparse":
        halved = replace(reading, factor=0.5, value_si=reading.printed_si / 2.0, reasons=(Reason("audit.read.sparse"),))
        return halved if reading.precision else replace(halved, status="ambiguous")
    if reading.density == "dense":
        return reading if reading.precision else replace(reading, status="ambiguous", reasons=(Reason("audit.read.no_precision"),))
    if not reading.precision:
        return replace(
            reading, status="ambiguous", reasons=(Reason("audit.read.no_precision"), Reason("audit.read.no_density")), alternatives=(half,)
        )
    return replace(reading, status="assumed", density="dense", reasons=(Reason("audit.read.no_density"),), alternatives=(half,))


def _rate(reading: Reading, part: Part | None, context: Context) -> Reading:
    if part is not None and reading.tier in ("", "memory", "scale-up"):
        known = _known_rate(reading, part)
        if known is not None:
            return known
    if reading.quantity == "memory bandwidth":
        return reading
    if reading.scope == "switch" and reading.tier != "scale-up":
        return _switch(reading, context)
    if reading.tier == "host":
        return _pcie(reading, context)
    if reading.tier in ("scale-out", "storage", "management", "dci"):
        if reading.direction == "both-directions":
            return _halved(reading, Reason("audit.read.both"), certain=True)
        told = (Reason("audit.read.port_rate"),) if not reading.direction else ()
        bare = (Reason("audit.read.bits"),) if context.span.bare else ()
        return replace(reading, status="assumed" if bare else "certain", direction="per-direction", reasons=(*told, *bare))
    return _scale_up(reading, context)


def _known_rate(reading: Reading, part: Part) -> Reading | None:
    if reading.tier != "scale-up":
        found = settled(reading, list(memory_meanings(part, part.memory_bandwidth_Bps)), part)
        if found is not None:
            taken = () if reading.tier else (Reason("audit.read.memory_known", {"part": part.id}),)
            status = "assumed" if taken else found.status
            return replace(found, quantity="memory bandwidth", tier="memory", status=status, reasons=(*found.reasons, *taken))
    if reading.tier == "memory" or part.scale_up_Bps != part.scale_up_Bps:
        return None
    found = settled(reading, list(link_meanings(part)), part)
    if found is not None and not reading.tier:
        found = replace(found, status="assumed", reasons=(*found.reasons, Reason("audit.read.link_known", {"part": part.id})))
    return replace(found, tier="scale-up") if found is not None else None


def _scale_up(reading: Reading, context: Context) -> Reading:
    if reading.direction == "both-directions":
        return _halved(reading, Reason("audit.read.both"), certain=True)
    if reading.direction == "per-direction":
        return reading
    if not reading.tier:
        return replace(reading, status="ambiguous", reasons=(Reason("audit.read.no_tier"),), alternatives=(_half(reading),))
    around = f"{context.before} {context.near_after} {context.row} {context.column} {context.section} {context.earlier}"
    if re.search(r"nvlink", around, re.IGNORECASE) and any(near(reading.printed_si, rate) for rate in _NVLINK_BOTH):
        return _halved(reading, Reason("audit.read.nvlink_headline"), certain=False)
    return replace(reading, status="ambiguous", reasons=(Reason("audit.read.no_direction"),), alternatives=(_half(reading),))


def _half(reading: Reading) -> ReadingAlternative:
    return ReadingAlternative(reading.printed_si / 2.0, "B/s", 0.5, Reason("audit.read.maybe_both"), {"direction": "both-directions"})


def _halved(reading: Reading, reason: Reason, *, certain: bool) -> Reading:
    other = () if certain else (ReadingAlternative(reading.printed_si, "B/s", 1.0, Reason("audit.read.maybe_each"), {"direction": "per-direction"}),)
    return replace(
        reading, status="certain" if certain else "assumed", direction="both-directions", factor=0.5, value_si=reading.printed_si / 2.0,
        reasons=(reason,), alternatives=other,
    )  # fmt: skip


def _pcie(reading: Reading, context: Context) -> Reading:
    if reading.direction == "both-directions":
        return _halved(reading, Reason("audit.read.both"), certain=True)
    if reading.direction == "per-direction":
        return reading
    around = f"{context.row} {context.column} {context.before} {context.near_after}"
    found = _GENERATION.search(around)
    rates = [_PCIE[int(found[1] or found[2])]] if found else list(_PCIE.values())
    if any(near(reading.printed_si, 2 * rate, 0.03) for rate in rates[-1:] if found):
        return _halved(reading, Reason("audit.read.pcie_both"), certain=False)
    if found and any(0.93 * rate <= reading.printed_si <= 1.01 * rate for rate in rates):
        return replace(reading, status="assumed", direction="per-direction", reasons=(Reason("audit.read.pcie_each"),))
    return replace(reading, status="ambiguous", reasons=(Reason("audit.read.no_direction"),), alternatives=(_half(reading),))


def _switch(reading: Reading, context: Context) -> Reading:
    if reading.direction == "both-directions":
        return _halved(reading, Reason("audit.read.both"), certain=True)
    if reading.direction == "per-direction":
        return reading
    around = f"{context.row} {context.column} {context.before} {context.near_after} {context.section} {context.earlier}"
    if re.search(r"Quantum|Infini\s?Band|\bIB\b|Slingshot", around, re.IGNORECASE):
        return _halved(reading, Reason("audit.read.switch_both"), certain=False)
    return replace(reading, status="assumed", direction="per-direction", reasons=(Reason("audit.read.switch_each"),), alternatives=(_half(reading),))

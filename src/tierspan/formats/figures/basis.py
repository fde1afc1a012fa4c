"""What one printed figure can mean for a known part: each meaning is the figure that it would print, and the factor to tierspan's basis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tierspan.formats.figures.known import Part, near
from tierspan.specs.reading import Reading, ReadingAlternative, Reason

_PRECISIONS: Final = ("bf16", "fp16", "fp8", "fp4", "int8", "tf32", "fp6", "int4", "fp32", "fp64")
"""The order in which a figure without precision is read: what training uses comes first."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """``prints`` is the figure that a sheet would print for it (SI); ``factor`` brings the printed one to the basis; fields say what it is."""

    prints: float
    factor: float
    scope: str
    divisor: float
    direction: str = ""
    density: str = ""
    precision: str = ""


def settled(reading: Reading, meanings: Sequence[Meaning], part: Part) -> Reading | None:
    """The reading with the first meaning that prints its figure and contradicts nothing that the sheet says; None where none does."""
    printed = reading.printed_si
    if reading.scope == "die" and part.package == 1:
        return None  # how many dies its package has, the catalogue does not say
    fits = [m for m in meanings if near(printed, m.prints) and _agrees(reading, m)]
    if not fits:
        return None
    first = fits[0]
    others: list[Meaning] = []
    for m in fits[1:]:
        if all((m.factor, _bits_of(m.precision)) != (o.factor, _bits_of(o.precision)) for o in (first, *others)):
            others.append(m)
    told = _reasons(reading, first, part)
    # stated and confirmed by the catalogue, or taken from it
    stated = all(not getattr(first, f) or getattr(reading, f) for f in ("direction", "density", "precision"))
    return replace(
        reading,
        status="certain" if stated else "assumed",
        factor=first.factor,
        # a sheet rounds: where the part is recognised its own figure is used, 989 for half of 1,979
        value_si=(first.prints if near(printed, first.prints, 0.002) else printed) * first.factor,
        scope=first.scope,  # type: ignore[arg-type]
        direction=first.direction or reading.direction,  # type: ignore[arg-type]
        density=first.density or reading.density,  # type: ignore[arg-type]
        precision=reading.precision or first.precision,
        reasons=told,
        alternatives=tuple(_alternative(printed, m, part) for m in others),
    )


def peak_meanings(part: Part) -> Iterator[Meaning]:
    """Peaks of a part: by precision, dense and sparse, of one accelerator and of the unit that one buys."""
    sizes = [("accelerator", 1.0), *_bundles(part)]
    if part.accelerators > 1:
        sizes.append(("rack" if part.accelerators > part.node else "node", float(part.accelerators)))
    if part.is_system:
        sizes = sizes[::-1]
    for precision in _PRECISIONS:
        peak = part.peaks.get(precision)
        for density, times in (("dense", 1.0), ("sparse", 2.0)):
            for scope, number in sizes:
                if peak is not None and peak == peak:
                    yield Meaning(peak * times * number, 1.0 / times / number, scope, number, density=density, precision=precision)


def _bundles(part: Part) -> Iterator[tuple[str, float]]:
    if part.package > 1:
        yield "package", float(part.package)
    if part.superchip > 1:
        yield "superchip", float(part.superchip)


def link_meanings(part: Part) -> Iterator[Meaning]:
    """Scale-up bandwidth of a part: of one accelerator, one link, a node, a domain; each way and both ways together."""
    rate = part.scale_up_Bps
    sizes = [("accelerator", 1.0)]
    if part.links > 1:
        sizes.append(("link", 1.0 / part.links))
    if part.domain > 1:
        sizes.append(("domain" if part.domain > part.node else "node", float(part.domain)))
    if part.node > 1 and part.node != part.domain:
        sizes.append(("node", float(part.node)))
    for scope, number in sizes:
        for direction, times in (("both-directions", 2.0), ("per-direction", 1.0)):
            yield Meaning(rate * times * number, 1.0 / times / number, scope, number, direction=direction)


def memory_meanings(part: Part, one: float) -> Iterator[Meaning]:
    """Memory, or memory bandwidth, of one accelerator and of the unit that one buys."""
    yield Meaning(one, 1.0, "accelerator", 1.0)
    for scope, number in _bundles(part):
        yield Meaning(one * number, 1.0 / number, scope, number)
    for scope, number in (("node", part.node), ("rack", part.accelerators)):
        if number > 1:
            yield Meaning(one * number, 1.0 / number, scope, float(number))


def _agrees(reading: Reading, meaning: Meaning) -> bool:
    if reading.direction and meaning.direction and reading.direction != meaning.direction:
        return False
    if reading.density and meaning.density and reading.density != meaning.density:
        return False
    if reading.precision and meaning.precision and not _same_precision(reading.precision, meaning.precision):
        return False
    if (reading.scope == "superchip") != (meaning.scope == "superchip"):
        return False
    if meaning.scope == "package" and reading.scope not in ("", "package"):
        return False
    wide = {"rack", "node", "domain", "cluster", "superchip", "package"}
    if reading.scope in ("accelerator", "link", "lane", "die") and meaning.scope in wide:
        return False
    return (reading.scope == "link") == (meaning.scope == "link")


def _bits_of(precision: str) -> str:
    """BF16 and FP16 print one figure on every part."""
    return "16" if precision in ("bf16", "fp16") else precision


def _same_precision(a: str, b: str) -> bool:
    return _bits_of(a) == _bits_of(b)


def _reasons(reading: Reading, meaning: Meaning, part: Part) -> tuple[Reason, ...]:
    told = []
    values = {"part": part.id}
    if meaning.precision and not reading.precision:
        told.append(Reason("audit.read.precision", {**values, "precision": meaning.precision.upper()}))
    if meaning.density == "sparse":
        told.append(Reason("audit.read.sparse" if reading.density else "audit.read.sparse_known", values))
    elif meaning.density == "dense" and not reading.density:
        told.append(Reason("audit.read.dense_known", values))
    if meaning.direction == "both-directions":
        told.append(Reason("audit.read.both" if reading.direction else "audit.read.both_known", values))
    elif meaning.direction == "per-direction" and not reading.direction:
        told.append(Reason("audit.read.each_known", values))
    if meaning.divisor > 1:
        told.append(Reason("audit.read.divided", {**values, "number": f"{meaning.divisor:,.0f}"}))
    elif meaning.divisor < 1:
        told.append(Reason("audit.read.times_links", {**values, "number": f"{1 / meaning.divisor:,.0f}"}))
    return tuple(told)


def _alternative(printed: float, meaning: Meaning, part: Part) -> ReadingAlternative:
    changes = {name: value for name in ("precision", "density", "direction", "scope") if (value := getattr(meaning, name))}
    reason = Reason("audit.read.other_meaning", {"part": part.id, **{k: v.upper() if k == "precision" else v for k, v in changes.items()}})
    unit = "FLOP/s" if meaning.precision else "B/s"
    return ReadingAlternative(printed * meaning.factor, unit, meaning.factor, reason, changes)

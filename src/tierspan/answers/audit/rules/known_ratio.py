"""A figure of a known part that fits its catalogue entry at a ratio that gives a mistake away."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from tierspan.answers.audit.closing.amounts import agree, in_bits, rounding, shown
from tierspan.answers.audit.closing.blocks import name_of, part_of
from tierspan.answers.audit.closing.places import place_of, spot_of
from tierspan.answers.audit.closing.rule import ProductRule
from tierspan.answers.audit.closing.telltale import hypothesis
from tierspan.answers.audit.rules.base import Sheet
from tierspan.answers.audit.rules.vendor import siblings
from tierspan.formats.figures.basis import Meaning, link_meanings, memory_meanings, peak_meanings
from tierspan.formats.figures.known import Part
from tierspan.formats.figures.known import part as known_part
from tierspan.quantities.findings import Finding, Phrase
from tierspan.quantities.printing import format_quantity
from tierspan.specs.reading import Reading
from tierspan.specs.topology_system.candidates import table

_MEASURED: Final = re.compile(
    r"measured|achiev|reached|sustain|effective|busbw|algbw|实测|达到|有效|bisection|对分|RDMA|all-?reduce|usable|可用|host|system\s+memory", re.I
)
_UP_SCOPES: Final = ("", "accelerator", "link", "node", "domain", "rack")
_LINE_RATE: Final = re.compile(r"\b(?:EDR|HDR|NDR|XDR)\b", re.IGNORECASE)
_NEAR: Final = 0.025
_WHOLES: Final = ("node", "rack", "domain", "superchip", "package")
_WHOLE: Final = re.compile(
    r"\btotal|aggregate|\bnodes?\b|\bserver|\bsystem|\bplatform|\bboard|\brack|\bdomain|\bpod\b|\btray|\ball\b|\bsum\b|\bin\s+all\b|(?<![A-Za-z\d])\d+\s?[x×]|[x×]\s?\d"
    r"|\d[\s-]?(?:GPU|NPU|card|chip|卡)|(?<!向)合计|(?<!向)总|共|整机|台|柜|域|超节点|节点|机",
    re.IGNORECASE,
)
"""Words of a line that may mean more than one accelerator."""


def _look(sheet: Sheet) -> Iterator[Finding]:
    counted: dict[str, set[float]] = {}
    for count in sheet.of("count"):
        if count.noun in ("gpu", "accelerator", "part", "", "unit") and count.printed_si > 1:
            counted.setdefault(count.file, set()).add(count.printed_si)
    for r in sheet.readings:
        part = part_of(r)
        if part is None or r.peak == "sustained" or r.count > 1 or r.bound == "at least":
            continue
        yield from _network(sheet, r, part)
        meanings = list(_meanings(r, part))
        if not meanings or any(m.prints != m.prints for m in meanings):
            continue
        spot = spot_of(sheet, r)
        if _MEASURED.search(f"{spot.head} {spot.before[-30:]} {spot.after[:20]}"):
            continue
        fits = [m for m in meanings if agree(r.printed_si, m.prints, _NEAR + rounding(r))]
        fits = [m for m in fits if m.scope in ("accelerator", r.scope) or not (r.direction and m.direction and m.direction != r.direction)]
        if fits:
            wrong = _wrong_scope(r, fits, part) or _whole_as_one(r, fits, part, spot.text)
            if wrong is not None:
                yield wrong
            continue
        told = None if _of_variant(r, part) else _mistake(r, meanings, part)
        if told is not None:
            expected, phrase = told
            if r.scope != "accelerator" and any(agree(r.printed_si, n * expected.prints, _NEAR) for n in counted.get(r.file, ())):
                continue  # the sum of as many as the sheet counts
            values = {"text": r.text, "printed": shown(r.printed_si, r), "part": name_of(part), "should": shown(expected.prints, r), "why": phrase}
            yield Finding("audit.known_ratio", "warning", values, place_of(r))


def _meanings(reading: Reading, part: Part) -> Iterator[Meaning]:
    if reading.quantity == "compute rate" and reading.scope in ("", "accelerator", "node", "rack", "domain", "cluster"):
        yield from (m for m in peak_meanings(part) if reading.precision in ("", m.precision) or {reading.precision, m.precision} == {"bf16", "fp16"})
    elif reading.quantity == "memory bandwidth":
        yield from memory_meanings(part, part.memory_bandwidth_Bps)
    elif reading.quantity == "memory" and reading.scope in ("", "accelerator", "node", "rack"):
        yield from memory_meanings(part, part.memory_bytes)
    elif reading.quantity == "bandwidth" and reading.tier == "scale-up" and part.scale_up_Bps == part.scale_up_Bps and reading.scope in _UP_SCOPES:
        yield from link_meanings(part)


@cache
def _line_rates() -> dict[str, float]:
    """Bytes a second of a port by the name of its InfiniBand generation."""
    found: dict[str, float] = {}
    for row in table("line_rates"):
        for name in _LINE_RATE.findall(row["source"]):
            found[name] = float(row["rate_Gbps"]) * 1e9 / 8
    return found


def _network(sheet: Sheet, reading: Reading, part: Part) -> Iterator[Finding]:
    """The cluster network of a node under the name of one accelerator; rates differ by purchase, so only this factor tells."""
    if reading.quantity != "bandwidth" or reading.tier != "scale-out":
        return
    named = _LINE_RATE.search(spot_of(sheet, reading).before[-32:])
    rate = _line_rates().get(named[0].upper(), 0.0) if named else 0.0
    if named and not in_bits(reading) and reading.scope in ("", "accelerator", "port", "nic") and agree(reading.printed_si, 8 * rate, _NEAR):
        values = {
            "text": reading.text, "printed": shown(reading.printed_si, reading), "part": named[0], "should": format_quantity(rate, "B/s", bits=True),
            "why": Phrase("audit.ratio.bits"),
        }  # fmt: skip
        yield Finding("audit.known_ratio", "warning", values, place_of(reading))
        return
    if reading.scope != "accelerator" or part.node < 2:
        return
    one = part.scale_out_Bps
    if agree(reading.printed_si, part.node * one, _NEAR) and one == one:
        values = {
            "text": reading.text, "printed": shown(reading.printed_si, reading), "part": name_of(part), "should": shown(one, reading),
            "why": Phrase("audit.ratio.all_accelerators", {"number": f"{part.node:g}"}),
        }  # fmt: skip
        yield Finding("audit.known_ratio", "warning", values, place_of(reading))


def _wrong_scope(reading: Reading, fits: list[Meaning], part: Part) -> Finding | None:
    """A figure of all links called that of one, or the other way round; of one link where nothing says so."""
    if reading.quantity != "bandwidth" or reading.scope not in ("link", "accelerator", ""):
        return None
    scope = reading.scope or "accelerator"
    own = [m for m in fits if m.scope == scope or (not reading.scope and m.scope != "link")]
    other = [m for m in fits if {m.scope, scope} == {"link", "accelerator"}]
    if own or not other:
        return None
    ratio = Phrase("audit.ratio.all_links" if scope == "link" else "audit.ratio.one_link", {"number": f"{part.links:g}"})
    wanted = next((m for m in link_meanings(part) if m.scope == scope and m.direction == other[0].direction), None)
    if wanted is None:
        return None
    values = {
        "text": reading.text,
        "printed": shown(reading.printed_si, reading),
        "part": name_of(part),
        "should": shown(wanted.prints, reading),
        "why": ratio,
    }
    return Finding("audit.known_ratio", "warning", values, place_of(reading))


def _of_variant(reading: Reading, named: Part) -> bool:
    """Whether the figure is that of another variant of the part, which another rule tells where the name leaves none open."""
    others = (known_part("accelerator", i) for i in siblings(named.accelerator_id))
    return any(
        agree(reading.printed_si, m.prints, _NEAR) for other in others for m in _meanings(reading, other) if m.scope in ("accelerator", "node")
    )


def _whole_as_one(reading: Reading, fits: list[Meaning], part: Part, line: str) -> Finding | None:
    """The sum over a node, rack or domain printed as the figure of one accelerator, in a line that speaks of no whole."""
    if part.is_system and reading.scope != "accelerator":
        return None
    taken = not reading.scope or any(reason.id == "audit.read.divided" for reason in reading.reasons)
    if any(m.scope not in _WHOLES for m in fits) or (reading.scope != "accelerator" and not (taken and not _WHOLE.search(line))):
        return None
    wanted = next(
        (m for m in _meanings(reading, part) if m.scope == "accelerator" and (m.direction, m.density) == (fits[0].direction, fits[0].density)), None
    )
    if wanted is None:
        return None
    why = Phrase("audit.ratio.all_accelerators", {"number": f"{fits[0].divisor:g}"})
    values = {
        "text": reading.text,
        "printed": shown(reading.printed_si, reading),
        "part": name_of(part),
        "should": shown(wanted.prints, reading),
        "why": why,
    }
    return Finding("audit.known_ratio", "warning", values, place_of(reading))


def _mistake(reading: Reading, meanings: list[Meaning], part: Part) -> tuple[Meaning, Phrase] | None:
    scopes = {reading.scope} if reading.scope in ("link", "node", "rack", "domain") else {"accelerator"}
    listed = [m for m in meanings if m.scope in scopes] or meanings[:1]
    if reading.direction:
        listed = [m for m in listed if m.direction in ("", reading.direction)] or listed
    if reading.quantity == "compute rate":
        if not reading.precision:
            return None
        listed = [m for m in listed if m.density == (reading.density or "dense")] or listed
    for m in listed:
        found = hypothesis(
            reading.printed_si,
            m.prints,
            reading.unit_si,
            links=float(part.links),
            accelerators=(float(part.node), float(part.accelerators), float(part.domain)),
        )
        if found is not None and math.isfinite(m.prints):
            return m, found
    return None


RULES = (
    ProductRule(
        "audit.known_ratio",
        "warning",
        ("facts/README: generic checks, a number whose partner appears at a telltale ratio", "facts/README trap 3"),
        _look,
    ),
)

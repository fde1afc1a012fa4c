"""From a figure in its context to a reading of what is printed: kind of quantity, tier, direction, scope, density, precision, basis."""

from __future__ import annotations

import re
from functools import cache
from typing import Final, Literal, get_args

from tierspan.formats.figures import words
from tierspan.formats.figures.basis import link_meanings
from tierspan.formats.figures.context import Context
from tierspan.formats.figures.known import near
from tierspan.formats.figures.subjects import named_in
from tierspan.quantities.errors import InputError
from tierspan.quantities.qualifiers import Bound, Direction, split_qualifiers
from tierspan.specs.catalog import accelerator, accelerator_ids
from tierspan.specs.reading import Quantity, Reading, ReadingScope, ReadingTier

_UNITS: Final[dict[str, Quantity]] = {
    "FLOP/s": "compute rate", "FLOP/s/W": "efficiency", "B/s": "bandwidth", "B": "memory", "W": "power", "VA": "power", "J": "energy", "V": "voltage",
    "A": "current", "kg": "mass", "m": "length", "Hz": "frequency", "token/s": "throughput", "T/s": "bandwidth", "USD": "price", "CNY": "price",
    "EUR": "price", "kg/m2": "mass",
}  # fmt: skip
_OF_NOUN: Final[dict[str, ReadingScope]] = {
    "link": "link", "port": "port", "gpu": "accelerator", "accelerator": "accelerator", "die": "die", "nic": "nic", "lane": "lane", "node": "node",
    "rack": "rack", "leaf": "switch", "spine": "switch", "core": "switch", "switch": "switch",
}  # fmt: skip
_EACH: Final = re.compile(r"\s*(?:max(?:imum)?\s+)?(?:each|apiece)(?!\s+(?:way|direction))", re.IGNORECASE)
_EACH_BEFORE: Final = re.compile(r"(?:每|单)[条个张台块只颗]\s*(?:单向|双向|每方向)?(?:合计)?\s*$")
_OVER: Final = re.compile(r"\b(?:over|above)\b(?!\s*$)", re.IGNORECASE)
"""Over NVLink is no bound; over 900 GB/s is one."""
_OF: Final = re.compile(r"\b(?:of|at|@)\s*$", re.IGNORECASE)
_RATE_WORD: Final = re.compile(r"throughput|bandwidth|speed|带宽|吞吐", re.IGNORECASE)
_BESIDE: Final = ("storage", "management", "dci", "host")
"""Networks that bits may belong to beside the cluster's own."""
_TIMES_FABRIC: Final = re.compile(
    r"\d\s?[x×*]\s?(?:NVLink|Infinity\s?Fabric|xGMI|UALink|HCCS|ICI|UB|Unified\s?Bus)[\s\w.-]*"
    r"(?:@|\bat|\bof|,|，)?\s*(?:单链路)?(?:双向|单向)?\s*$",
    re.IGNORECASE,
)
"""So many links of a fabric, each at what follows: "18 x NVLink 4 @ 50 GB/s"."""
_BRACKET: Final = re.compile(r"\s*[(（]([^)）]*)")
_CARRIED: Final = re.compile(r"\b(?:over|via|through)\s+(.*)", re.IGNORECASE)
_TIERS: Final = get_args(ReadingTier)
_PORTS: Final = (25, 50, 100, 200, 400, 800, 1600, 3200)
"""Rates of network ports and hosts in Gb/s."""


def classified(context: Context, file: str) -> Reading:
    """The reading of the printed figure; ``value_si`` is still ``printed_si``."""
    span = context.span
    value, unit, quantity = _quantity(context)
    before = context.before
    # a head that names the part tells less of the figure than the other one (the HBM2e of a model is no memory column)
    heads = (context.row, context.column) if named_in(context.row) else (context.column, context.row)
    wide = " ".join((context.section, context.earlier, *heads))
    tier = _tier(context, wide, quantity)
    if quantity == "bandwidth" and tier == "memory":
        quantity = "memory bandwidth"
    nearby = f"{context.column} {context.row} {before}"
    direction = _direction(nearby, context.near_after, context.note)
    density = words.first_behind(words.DENSITY, nearby, context.near_after) or words.nearest(words.DENSITY, context.note, "")
    # a label in brackets behind a figure is its own: "2,500 TFLOPS (BF16) and 5,000 TFLOPS (FP8)"
    bracket = _BRACKET.match(context.near_after)
    precision = ""
    if quantity in ("compute rate", "efficiency"):
        precision = words.nearest(words.PRECISIONS, "", bracket[1] if bracket else "") or words.nearest(words.PRECISIONS, nearby, context.near_after)
    if quantity == "compute rate" and not precision:
        precision = words.nearest(words.PRECISIONS, context.prefix, "") or words.nearest(words.PRECISIONS, context.section, "")
    if quantity == "compute rate" and not precision and context.line.cells:
        # a table with the precision in a cell of its own
        said = [name for name, pattern in words.PRECISIONS.items() if pattern.search(context.line.text)]
        precision = said[0] if len(said) == 1 else ""
    latency = words.nearest(words.LATENCY, f"{wide} {before}", context.near_after) if quantity == "latency" else ""
    return Reading(
        text=span.text, line=context.line.number, quantity=quantity, printed_si=value, unit_si=unit, file=file, label=_label(context),
        subject=context.named.text if context.named is not None else "", tier=tier, direction=direction, scope=_scope(context, wide, quantity),
        density=density, precision=precision, latency_basis=latency, peak=words.first_behind(words.PEAKS, nearby, context.near_after),  # type: ignore[arg-type]
        bound=_bound(before), count=span.count, value_si=value, noun=span.noun or span.of,
        catalog_id=context.part.id if context.part is not None else "", column=span.start,
    )  # fmt: skip


def _quantity(context: Context) -> tuple[float, str, Quantity]:
    """Value, unit and kind; a bare prefix (141G) takes the meaning that its words or the known part give it."""
    span = context.span
    q = span.quantity
    value, unit = q.value, q.unit
    if span.noun == "ratio":
        return value, unit, "ratio"
    if span.noun:
        return value, unit, "count"
    label = f"{context.column} {context.row} {context.before}"
    if span.bare:
        tier = words.nearest(words.TIERS, label, context.near_after)
        as_bytes = next((a.value for a in q.alternatives if a.unit == "B"), float("nan"))
        known = context.part.memory_bytes if context.part is not None else float("nan")
        if tier == "memory" or (not tier and (near(as_bytes, known) or _size_of_an_accelerator(as_bytes))):
            return as_bytes, "B", "memory"
    if unit == "s":
        every = f"{label} {context.near_after} {context.section} {context.earlier}"
        return value, unit, "latency" if words.LATENCY_WORDS.search(every) else "time"
    if unit == "1":
        return value, unit, "percentage" if "%" in span.text else "count" if not span.bare else "other"
    return value, unit, _UNITS.get(unit, "other")


@cache
def _memory_sizes() -> frozenset[float]:
    """Memory of every accelerator of the catalogue in bytes, without the numbers that are rates of ports too."""
    sizes = {accelerator(name).memory_bytes for name in accelerator_ids()}
    return frozenset(size for size in sizes if not any(near(size, port * 1e9, 0.001) for port in _PORTS))


def _size_of_an_accelerator(size_bytes: float) -> bool:
    return any(near(size_bytes, size, 0.001) for size in _memory_sizes())


def _tier(context: Context, wide: str, quantity: Quantity) -> ReadingTier:
    if quantity not in ("bandwidth", "memory", "latency", "count", "memory bandwidth"):
        return ""
    # "400 Gb/s per direction over RoCE" is of what stands behind, whatever came before
    over = _CARRIED.search(context.near_after)
    found = words.nearest(words.TIERS, "", over[1] if over else "") or words.nearest(words.TIERS, context.before, context.near_after)
    further = words.nearest(words.TIERS, f"{wide} {context.prefix}", "")
    if not found and context.span.bits and quantity == "bandwidth":
        headed = words.nearest(words.TIERS, f"{context.row} {context.column}", "")
        # bits are how networks are rated: 400G without a word is a port of the cluster network, unless the head of the cell says else
        # or the number is the one that the part has in bytes
        if not headed:
            of_memory = further == "memory" and _RATE_WORD.search(context.before)
            headed = _meant_as_bytes(context) or ("memory" if of_memory else further if further in _BESIDE else "scale-out")
        found = headed
    if not found and _RATE_WORD.fullmatch(context.column.strip()) and any(words.TIERS["memory"].search(head) for head in context.line.heads):
        found = "memory"
    found = found or further
    if not found and quantity == "memory":
        found = "memory"
    return found if found in _TIERS else ""  # type: ignore[return-value]


def _meant_as_bytes(context: Context) -> str:
    """The tier whose figure of the part has this number in bytes: 900 Gb/s of a part with 900 GB/s; "" where it can be a port."""
    rate, part = context.span.quantity.value, context.part
    if part is None or context.span.bare or context.span.count != 1 or any(near(rate, port * 1e9 / 8, 0.001) for port in _PORTS):
        return ""
    if any(near(8 * rate, m.prints, 0.005) for m in link_meanings(part)):
        return "scale-up"
    return "memory" if near(8 * rate, part.memory_bandwidth_Bps, 0.005) else ""


def _direction(nearby: str, after: str, note: str) -> Direction | Literal[""]:
    for text in (after, nearby, note):
        try:
            found, _ = split_qualifiers(text)
        except InputError:
            continue
        if found.direction:
            return found.direction
    return ""


def _scope(context: Context, wide: str, quantity: Quantity) -> ReadingScope:
    if quantity in ("ratio", "percentage"):
        return ""
    each = _EACH.match(context.near_after) or _EACH_BEFORE.search(context.before) or _OF.search(context.before)
    counted = context.span.of or (context.counted if each else "")
    if quantity == "bandwidth" and _TIMES_FABRIC.search(context.prefix):
        return "link"
    if counted in _OF_NOUN and quantity != "count":
        return "port" if _OF_NOUN[counted] == "switch" and context.span.count != 1 else _OF_NOUN[counted]
    found = words.first_behind(words.SCOPES, context.before, context.near_after)
    found = found or words.nearest(words.SCOPES, f"{context.column} {context.row}", "") or words.nearest(words.SCOPES, wide, "")
    if found == "switch" and context.span.count != 1:
        found = "port"
    if not found and context.named is not None and context.named.one:
        found = "accelerator"
    if not found and words.SCOPES["superchip"].search(context.prefix):
        found = "superchip"
    return found if found in get_args(ReadingScope) else ""  # type: ignore[return-value]


def _bound(before: str) -> Bound | Literal[""]:
    try:
        found, _ = split_qualifiers(_OVER.sub("", before[-24:]))
    except InputError:
        return ""
    return found.bound or ""


def _label(context: Context) -> str:
    """The words that name the figure: those of its clause before it, else the heads of its row and column."""
    pieces = [piece.strip(' :：-—=*·•(（\t"') for piece in re.split(r"[,;，；。|]|\s{3,}", context.before)]
    clause = next((piece for piece in reversed(pieces) if piece), "")
    return clause or context.row or context.column or context.near_after.strip(" :：-—()（）")

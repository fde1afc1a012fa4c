"""Figures as text to SI, and what is not certain about them.

``parse_quantity`` reads one figure (``"up to 1.8 TB/s bidirectional per GPU"``); ``parse_as`` reads one whose dimension is known.
Printing is in ``tierspan.quantities.printing`` and is offered here too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal

from tierspan.quantities.errors import InputError, Place, UnknownNameError
from tierspan.quantities.number_text import normalise, split_multiplier, split_number
from tierspan.quantities.printing import format_bytes, format_count, format_duration, format_quantity
from tierspan.quantities.qualifiers import Bound, Direction, Scope, split_qualifiers
from tierspan.quantities.unit_table import BARE, BIT, BYTE, REASON_BARE, UnitReading, known_symbols, read_unit, root_symbol

__all__ = [
    "Alternative",
    "Quantity",
    "format_bytes",
    "format_count",
    "format_duration",
    "format_quantity",
    "parse_as",
    "parse_quantity",
    "per_direction_Bps",
]

_CURRENCY = re.compile(r"^(US\$|\$|¥|€|USD|CNY|RMB|EUR)\s*(?=[\d.])", re.IGNORECASE)
_MONEY_SCALE = re.compile(r"^(k|K|M|B|bn|T)\s*(US\$|\$|¥|€|USD|CNY|RMB|EUR|元|美元)?$")
_MONEY_FACTOR = {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "bn": 1e9, "T": 1e12}
_PRODUCT = re.compile(r"\d\s*[x×*]\s*(?=\d)|[×*]\s*\d", re.IGNORECASE)
_RANGE = re.compile(r"\d\s*[A-Za-z%]*\s*(?:-|–|—|~|\bto\b|至|到)\s*\d")
_EXPONENT = re.compile(r"(?<=\d)[eE][-+]\d")
_PER_TIME = re.compile(r"每(秒|小时|天|年)")
_MAX_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another reading of the same text; the message ``reason_id`` says why it is possible."""

    value: float
    unit: str
    symbol: str
    reason_id: str


@dataclass(frozen=True, slots=True)
class Quantity:
    """One figure, read.

    ``value`` is in the SI ``unit`` (``"B/s"``, ``"B"``, ``"FLOP/s"``, ``"s"``, ``"W"``, ``"Hz"``, ``"T/s"`` transfers, ``"1"`` ...) and equals
    the printed number times ``factor``. ``value`` is as printed in direction and scope: ``per_direction_Bps`` converts.
    """

    value: float
    unit: str
    original: str
    factor: float
    symbol: str = ""
    direction: Direction | None = None
    scope: Scope | None = None
    bound: Bound | None = None
    aggregate: bool = False
    alternatives: tuple[Alternative, ...] = ()
    reason_id: str = ""

    @property
    def ambiguous(self) -> bool:
        """Whether the text allows other readings."""
        return bool(self.alternatives)

    def __str__(self) -> str:
        return format_quantity(self.value, self.unit)


def parse_quantity(text: str, *, default_unit: str | None = None, place: Place | None = None) -> Quantity:
    """Read one figure.

    ``default_unit`` is the unit of a number without one, and settles what a bare prefix stands for (``400G`` with ``Gb/s``).
    A number without a unit and without a default is an error, never a guess.

    Raises:
        InputError: no number, a range, a product, no unit, or contradictory qualifiers.
        UnknownNameError: the unit is unknown; the nearest ones are suggested.
    """
    plain = normalise(text)
    if not plain or len(plain) > _MAX_LENGTH:
        raise InputError("units.number_missing", place=place, value=text[:_MAX_LENGTH])
    if _PRODUCT.search(plain):
        raise InputError("units.product", place=place, value=text)
    if _RANGE.search(_EXPONENT.sub("", plain)):
        raise InputError("units.range", place=place, value=text)
    qualifiers, rest = split_qualifiers(plain, place=place)
    default = _default_reading(default_unit, place)
    number, unit_text = _number_and_unit(rest, place)
    scale, readings = _readings(unit_text, default, place, text)
    number *= scale
    first, *others = readings
    return Quantity(
        value=_times(number, first.factor),
        unit=first.unit,
        original=text,
        factor=scale * first.factor,
        symbol=first.symbol,
        direction=qualifiers.direction,
        scope=qualifiers.scope,
        bound=qualifiers.bound,
        aggregate=qualifiers.aggregate,
        alternatives=tuple(Alternative(_times(number, other.factor), other.unit, other.symbol, other.reason_id) for other in others),
        reason_id=first.reason_id if others else "",
    )


def parse_as(text: str, unit: str, *, key: str = "", place: Place | None = None) -> Quantity:
    """Read a figure that must have the dimension of ``unit``, which is also the default unit.

    Raises:
        InputError: as ``parse_quantity``, and where the dimension differs.
    """
    quantity = parse_quantity(text, default_unit=unit, place=place)
    wanted = _default_reading(unit, place)
    if wanted is not None and quantity.unit != wanted.unit:
        raise InputError("units.wrong_dimension", place=place, key=key or "value", value=text, unit=quantity.unit, wanted=unit)
    return quantity


def per_direction_Bps(quantity: Quantity, links: int | None = None, *, assume: Direction | None = None) -> float:
    """Bytes per second in one direction; ``links`` multiplies a figure per link or lane.

    ``assume`` is the direction of a figure that states none; without it such a figure is an error.

    Raises:
        InputError: not a data rate, no direction, or ``links`` with a figure of a wider scope.
    """
    if quantity.unit != "B/s":
        raise InputError("units.wrong_dimension", key="bandwidth", value=quantity.original, unit=quantity.unit, wanted="B/s")
    direction = quantity.direction or assume
    if direction is None:
        raise InputError("units.direction_missing", value=quantity.original)
    if links is not None and quantity.scope not in (None, "link", "lane"):
        raise InputError("units.links_scope", value=quantity.original, links=links, scope=quantity.scope)
    return quantity.value * (1 if links is None else links) / (2 if direction == "both-directions" else 1)


def _times(number: float, factor: float) -> float:
    """The product in decimal, so that 5 us is 5e-06 and not a neighbour of it."""
    return float(Decimal(repr(number)) * Decimal(repr(factor)))


def _default_reading(default_unit: str | None, place: Place | None) -> UnitReading | None:
    if default_unit is None:
        return None
    readings = read_unit(default_unit)
    if not readings:
        raise UnknownNameError("units.unknown", default_unit, known_symbols(), place=place, value=default_unit)
    if default_unit in {"b", "B"}:
        return UnitReading("B", BIT if default_unit == "b" else BYTE, BIT if default_unit == "b" else BYTE, default_unit)
    return readings[0]


def _number_and_unit(text: str, place: Place | None) -> tuple[float, str]:
    rates = _PER_TIME.findall(text)
    text = _PER_TIME.sub(" ", text)
    text = re.sub(r"\s*/\s*", "/", re.sub(r"\s+per\s+", "/", text, flags=re.IGNORECASE)).strip()
    currency = _CURRENCY.match(text)
    if currency:
        text = text[currency.end() :]
    number, unit = split_number(text, place=place)
    unit = unit.strip(" ,;:.").replace("·", "")
    if currency:
        scale, _, below = unit.partition("/")
        unit = f"{scale} {currency.group(1)}".strip() + (f"/{below}" if below else "")
    return number, unit + "".join(f"/{below}" for below in rates)


def _readings(unit: str, default: UnitReading | None, place: Place | None, text: str) -> tuple[float, tuple[UnitReading, ...]]:
    """The factor of number words, and the readings of the unit, the chosen one first."""
    if not unit:
        if default is None:
            raise InputError("units.unit_missing", place=place, value=text)
        return 1.0, (default,)
    scale, readings = 1.0, read_unit(unit)
    if not readings:
        scale, readings = _with_number_word(unit, default)
    if not readings:
        raise UnknownNameError("units.unknown", unit, known_symbols(), place=place, value=text)
    return scale, _settle(unit, readings, default)


def _with_number_word(unit: str, default: UnitReading | None) -> tuple[float, tuple[UnitReading, ...]]:
    scale, rest = split_multiplier(unit)
    above, slash, below = rest.partition("/")
    money = _MONEY_SCALE.match(above)
    if money and money.group(2):
        scale *= _MONEY_FACTOR[money.group(1)]
        rest = money.group(2) + slash + below
    if not rest:
        return scale, (default or UnitReading("1", 1.0, 1.0, ""),)
    return scale, read_unit(rest) if rest != unit else ()


def _settle(unit: str, readings: tuple[UnitReading, ...], default: UnitReading | None) -> tuple[UnitReading, ...]:
    """What the default unit decides: its own root behind a bare prefix, its dimension among several readings."""
    if default is None or len(readings) == 1:
        return readings
    if readings[0].reason_id == REASON_BARE and unit in BARE and not (unit in "gt" and default.unit == "kg"):
        return (replace(default, factor=BARE[unit] * default.root, symbol=unit + root_symbol(default), reason_id=""),)
    return tuple(reading for reading in readings if reading.unit == default.unit) or readings

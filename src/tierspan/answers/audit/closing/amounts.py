"""Printed figures in arithmetic: how exact they are, whether two agree, and how the sum is shown in the unit of the sheet."""

from __future__ import annotations

import re

from tierspan.quantities.printing import format_number, format_quantity
from tierspan.specs.reading import Reading

_DIGITS = re.compile(r"\d[\d,]*(?:\.\d+)?")


def rounding(reading: Reading) -> float:
    """Half of the last printed place, as a part of the figure; a tenth at most."""
    return rounding_of(reading.text, reading.bound == "about")


def rounding_of(text: str, about: bool = False) -> float:
    """As ``rounding``, of the last number in a text."""
    found = _DIGITS.findall(text)
    if not found:
        return 0.0
    number = found[-1].replace(",", "") if "x" not in text.lower() else max(found, key=len).replace(",", "")
    value = float(number)
    step = 10.0 ** -len(number.partition(".")[2]) if "." in number else 1.0
    exact = min(0.1, 0.5 * step / value) if value else 0.0
    return max(exact, 0.05) if about else exact


def agree(a: float, b: float, tolerance: float) -> bool:
    """Whether two values can be one."""
    return a > 0 and b > 0 and abs(a / b - 1.0) <= tolerance


def leeway(*readings: Reading) -> float:
    """How far a product of printed figures may be off: their rounding, and what parts of one vendor differ by."""
    return 0.012 + sum(rounding(r) for r in readings)


def shown(value_si: float, like: Reading) -> str:
    """A value in the manner of a printed figure: bits where it counts bits."""
    if like.quantity == "efficiency":
        return format_quantity(value_si, like.unit_si, digits=3, prefix="T")
    return format_quantity(value_si, like.unit_si, digits=4, bits=in_bits(like))


def in_bits(reading: Reading) -> bool:
    """Whether the figure counts bits a second: 400 Gb/s, 400G, 400GbE."""
    if reading.unit_si != "B/s":
        return False
    unit = re.sub(r"^.*\d\s*", "", re.sub(r"\s*[x×*]\s*\d+$", "", reading.text))
    return "B" not in unit


def number(value: float) -> str:
    """A count, with commas."""
    return format_number(value, 6)


def product(count: float, one: Reading) -> str:
    """``18 x 50 GB/s = 900 GB/s``."""
    return f"{number(count)} x {shown(one.printed_si, one)} = {shown(count * one.printed_si, one)}"

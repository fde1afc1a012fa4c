"""The units that the catalogue's data files use, and nothing more.

A unit in a data file is a base unit, optionally followed by ``both directions`` (the source adds the two directions: halved) and by
``per N`` (the source counts N of our accelerators together, as a card of two dies or a node of eight: divided by N).
"""

from __future__ import annotations

import re
from typing import Final

_BASES: Final = {
    "FLOP/s": (1.0, "FLOP/s"),
    "GFLOP/s": (1e9, "FLOP/s"),
    "TFLOP/s": (1e12, "FLOP/s"),
    "PFLOP/s": (1e15, "FLOP/s"),
    "TOP/s": (1e12, "FLOP/s"),
    "B": (1.0, "B"),
    "GB": (1e9, "B"),
    "TB": (1e12, "B"),
    "MiB": (2.0**20, "B"),
    "GiB": (2.0**30, "B"),
    "GB/s": (1e9, "B/s"),
    "TB/s": (1e12, "B/s"),
    "PB/s": (1e15, "B/s"),
    "GiB/s": (2.0**30, "B/s"),
    "Gb/s": (1e9 / 8, "B/s"),
    "Tb/s": (1e12 / 8, "B/s"),
    "m": (1.0, "m"),
    "ns/m": (1e-9, "s/m"),
    "us/km": (1e-9, "s/m"),
    "dB/km": (1e-3, "dB/m"),
    "m/s": (1.0, "m/s"),
    "kg": (1.0, "kg"),
    "lb": (0.45359237, "kg"),
    "t": (1e3, "kg"),
    "A": (1.0, "A"),
    "V": (1.0, "V"),
    "USD": (1.0, "USD"),
    "CNY": (1.0, "CNY"),
    "W": (1.0, "W"),
    "kW": (1e3, "W"),
    "s": (1.0, "s"),
    "us": (1e-6, "s"),
    "ns": (1e-9, "s"),
    "1": (1.0, "1"),
    "%": (0.01, "1"),
}
_PER_COUNT = re.compile(r"^(?P<rest>.+) per (?P<count>[1-9][0-9]*)$")
_BOTH = " both directions"


def known_units() -> tuple[str, ...]:
    """The base units, for suggestions."""
    return tuple(_BASES)


def unit_factor(unit: str) -> tuple[float, str]:
    """Factor to SI and the SI unit of a data-file unit.

    Raises:
        ValueError: the unit is not one of the table's (a mistake in the data files; a test reads them all).
    """
    factor = 1.0
    rest = unit
    if match := _PER_COUNT.match(rest):
        factor /= int(match["count"])
        rest = match["rest"]
    if rest.endswith(_BOTH):
        factor /= 2
        rest = rest.removesuffix(_BOTH)
    if rest not in _BASES:
        raise ValueError(f"catalogue unit {unit!r} is not known")
    base, si_unit = _BASES[rest]
    return factor * base, si_unit

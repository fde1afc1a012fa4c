"""Floor 1: numbers that know what they are (unit, direction, scope, source), findings, messages and errors.

The names below are loaded when they are first used: ``parse_quantity``, ``parse_as``, ``Quantity``, ``Alternative``,
``per_direction_Bps``, ``format_quantity``, ``format_duration``, ``format_bytes``, ``format_count``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tierspan.quantities.units import (
        Alternative,
        Quantity,
        format_bytes,
        format_count,
        format_duration,
        format_quantity,
        parse_as,
        parse_quantity,
        per_direction_Bps,
    )

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


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tierspan.quantities import units

    return getattr(units, name)

"""What the readers share: numbers with the rounding of their print, the rules every row must obey, and lines left unread."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

from tierspan.formats.bench.lines import LogText
from tierspan.formats.bench.secrets import redacted
from tierspan.specs.benchmark import CollectiveLog, Unread

_NUMBER = re.compile(r"[+-]?(?:\d+(?:[_,]\d{3})*|\d+(?:_\d+)+)(?:\.(?P<places>\d*))?(?:[eE](?P<power>[+-]?\d{1,2}))?|[+-]?\.(?P<bare>\d+)")
_SLACK = 1e-9
_MAX_TEXT = 200

SIZE_UNITS = {
    "": 1, "b": 1, "k": 2**10, "kb": 2**10, "kib": 2**10, "m": 2**20, "mb": 2**20, "mib": 2**20, "g": 2**30, "gb": 2**30, "gib": 2**30,
    "t": 2**40, "tb": 2**40, "tib": 2**40,
}  # fmt: skip
"""Units of message sizes as benchmarks use them: powers of two, whatever the letter."""


@dataclass(frozen=True, slots=True)
class Printed:
    """A printed number and half a unit of its last place, both scaled to SI: the true value lies within ``half`` of ``value``."""

    value: float
    half: float

    @property
    def low(self) -> float:
        """Smallest value that prints like this."""
        return self.value - self.half

    @property
    def high(self) -> float:
        """Largest value that prints like this."""
        return self.value + self.half


@dataclass(slots=True)
class Left:
    """Collects the lines that could not be used."""

    found: list[Unread] = field(default_factory=list)

    def add(self, line: int, text: str, reason_id: str, **values: object) -> None:
        """Note a line; settings in it that are not known communication settings are blotted out."""
        self.found.append(Unread(line, redacted(text)[:_MAX_TEXT], reason_id, values))


@dataclass(frozen=True, slots=True)
class Tool:
    """A benchmark program: its name, what its logs look like (in words), how they are recognised and read."""

    name: str
    recognise: Callable[[LogText], bool]
    read: Callable[[LogText, str], list[CollectiveLog]]


def printed(token: str, scale: float = 1.0) -> Printed | None:
    """Read a decimal number with the rounding of its print; ``None`` for anything else, also NaN and infinity."""
    match = _NUMBER.fullmatch(token)
    if not match:
        return None
    # Decimal, so that 14281 us are exactly what 0.014281 s is.
    factor = Decimal(repr(scale))
    value = float(Decimal(token.replace("_", "").replace(",", "")) * factor)
    places = len(match["places"] or match["bare"] or "")
    half = 0.5 * 10.0 ** (int(match["power"] or 0) - places) * scale
    return Printed(value, half) if math.isfinite(value) and math.isfinite(half) else None


def whole(token: str) -> int | None:
    """Read a whole number, also with ``_`` or ``,`` between thousands; ``None`` for anything else."""
    match = _NUMBER.fullmatch(token)
    if not match or match["places"] is not None or match["power"] or match["bare"] or len(token) > 24:
        return None
    return int(token.replace("_", "").replace(",", ""))


def size_of(text: str) -> float | None:
    """Read a message size such as ``32KiB``, ``8 M``, ``1024``; powers of two. ``None`` if it is none."""
    match = re.fullmatch(r"\s*([\d_,]+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    number = printed(match[1]) if match else None
    unit = SIZE_UNITS.get(match[2].lower()) if match else None
    return None if number is None or unit is None else number.value * unit


def rate_fits(size_bytes: float, time_s: Printed, rate_Bps: Printed) -> bool:
    """Whether size over time is the printed rate, within the rounding of both."""
    if time_s.value <= 0 or rate_Bps.value < 0 or size_bytes < 0:
        return False
    low, high = size_bytes / time_s.high, size_bytes / time_s.low if time_s.low > 0 else math.inf
    return low <= rate_Bps.high * (1 + _SLACK) and high >= rate_Bps.low * (1 - _SLACK)


def factor_fits(algbw_Bps: Printed, busbw_Bps: Printed, factor: float) -> bool:
    """Whether busbw is ``factor`` times algbw, within the rounding of both."""
    low, high = max(algbw_Bps.low, 0.0) * factor, algbw_Bps.high * factor
    return low <= busbw_Bps.high * (1 + _SLACK) and high >= busbw_Bps.low * (1 - _SLACK)


def looks_like_row(text: str, least: int) -> bool:
    """Whether a line under a table's header is a spoilt row: mostly numbers, ``least`` words or more."""
    tokens = text.split()
    return len(tokens) >= least and sum(printed(token) is not None for token in tokens) >= 0.6 * len(tokens)

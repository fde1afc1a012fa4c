"""Message sizes as people write them for benchmarks: ``1GiB``, ``64MB``, ``8G``, or a range ``8..8G``."""

from __future__ import annotations

import re
from typing import Final

from tierspan.quantities.errors import InputError, Place

_SIZE: Final = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*(?:([KMGT])(i?B)?|B)?\s*$", re.IGNORECASE)
_POWER: Final = {"K": 1, "M": 2, "G": 3, "T": 4}


def parse_size(text: str, place: Place | None = None) -> float:
    """Bytes of one size; a bare ``K``, ``M``, ``G`` is binary, as in the flags of the benchmarks (``-e 8G``), ``MB`` is decimal.

    Raises:
        InputError: no size, or zero.
    """
    found = _SIZE.match(text)
    size = 0.0
    if found is not None:
        letter, rest = (found[2] or "").upper(), found[3] or ""
        base = 1000.0 if rest and not rest.casefold().startswith("i") else 1024.0
        size = float(found[1]) * base ** _POWER.get(letter, 0)
    if size < 1:
        raise InputError("message_size.unclear", place=place, value=text)
    return size


def parse_sizes(text: str, place: Place | None = None) -> tuple[float, float]:
    """Smallest and largest bytes; equal for a single size.

    Raises:
        InputError: as ``parse_size``, or the range runs backwards.
    """
    first, dots, last = text.partition("..")
    low = parse_size(first, place)
    high = parse_size(last, place) if dots else low
    if high < low:
        raise InputError("message_size.backwards", place=place, value=text)
    return low, high

"""Rows of a trace viewer: on each of them one thing runs after another.

A viewer draws the spans of a thread as nested calls, and Perfetto drops one that overlaps another without lying inside it. Traffic of several
kinds shares the wires of a tier, so each kind has a row of its own there, and a second one where it overlaps itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final, NamedTuple

from tierspan.specs.trace import Span

GRID_PER_S: Final = 8_000_000
"""Times are rounded to 1/8 µs: as a fraction of a µs each is exact in binary, so no reader rounds neighbours into each other."""
FAMILIES: Final = ("", "tp", "cp", "ep", "activation_send", "gradient_send", "bulk")
"""Kinds of traffic with a row of their own, in the order shown; compute and host have one row."""
_FAMILY: Final = {name: name for name in FAMILIES if name != "bulk"} | {"parameter_gather": "bulk", "gradient_reduce": "bulk"}
_NUMBER: Final = {name: number for number, name in enumerate(FAMILIES)}


class Lane(NamedTuple):
    """One row: a stream, the kind of traffic on it, and 0, or 1, 2 ... where such traffic overlaps itself."""

    stream: int
    family: int
    again: int


class Placed(NamedTuple):
    """A span on its row, in units of the grid."""

    span: Span
    lane: Lane
    start: int
    end: int


def on_grid(seconds: float) -> int:
    """Seconds in units of the grid."""
    return round(seconds * GRID_PER_S)


def micros(grid: int) -> int | float:
    """Units of the grid in µs, without a fraction where there is none."""
    return grid // 8 if grid % 8 == 0 else grid / 8


def family_of(span: Span) -> str:
    """The kind of traffic of a span; empty for what runs on the device or the host."""
    return _FAMILY.get(span.kind, "")


def placed(spans: Sequence[Span]) -> list[Placed]:
    """Each span on the first row of its kind that is free; ``spans`` are sorted by rank, stream and start."""
    free: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    out = []
    for span in spans:
        start, end = on_grid(span.start_s), on_grid(span.end_s)
        family = _NUMBER[family_of(span)]
        rows = free[span.rank, span.stream, family]
        again = next((i for i, until in enumerate(rows) if until <= start), len(rows))
        if again == len(rows):
            rows.append(end)
        rows[again] = end
        out.append(Placed(span, Lane(span.stream, family, again), start, end))
    return out

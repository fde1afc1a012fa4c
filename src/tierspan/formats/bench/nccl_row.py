"""One row of an nccl-tests table, whatever columns its age printed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tierspan.formats.bench.base import Printed, printed, rate_fits, whole
from tierspan.formats.bench.names import REDUCTIONS, TYPE_BYTES

_WRONG = re.compile(r"N/A|\d+|\d+(?:\.\d+)?e[+-]?\d+|nan", re.I)
_CENT = 0.00501
_STAMPS = re.compile(r"\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d")


@dataclass(frozen=True, slots=True)
class Timing:
    """Out-of-place or in-place part of a row, SI."""

    time: Printed
    algbw: Printed
    busbw: Printed
    wrong: str


@dataclass(frozen=True, slots=True)
class Head:
    """The part of a row before its timings."""

    size: int
    count: int | None
    dtype: str
    redop: str
    rest: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """A whole row; ``timings`` are one or two."""

    head: Head
    root: int | None
    timings: tuple[Timing, ...]
    first_in_place: bool = False


def split_head(text: str, columns: Sequence[str]) -> Head | None:
    """Split off size, count, type and reduction; ``None`` if the line is not the beginning of a row."""
    tokens = text.lstrip("#").split()
    size = whole(tokens[0]) if tokens else None
    if size is None or size < 0:
        return None
    if columns and "count" not in columns:
        # Tables that people thinned out: size, time, algbw, busbw.
        return Head(size, None, "", "", tuple(tokens[1:])) if len(tokens) > 1 and all(printed(t) for t in tokens[1:]) else None
    count = whole(tokens[1]) if len(tokens) > 2 else None
    if columns and "type" not in columns:
        # The C++ tests of MSCCL++: size, count, time, algbw, busbw, #wrong.
        return Head(size, count, "", "", tuple(tokens[2:])) if count is not None and is_rest(" ".join(tokens[2:])) else None
    if count is None or count < 0 or not re.fullmatch(r"[a-z]\w{2,12}", tokens[2]):
        return None
    rest = tokens[3:]
    redop = rest.pop(0).lower() if rest and re.fullmatch(r"[A-Za-z]{3,10}", rest[0]) else ""
    return Head(size, count, tokens[2], redop, tuple(t for t in rest if not _STAMPS.fullmatch(t)))


def known_type(head: Head) -> bool:
    """Whether type and reduction are ones that nccl-tests prints."""
    return (not head.dtype or head.dtype in TYPE_BYTES) and (head.redop in REDUCTIONS or not head.redop)


def is_rest(text: str) -> bool:
    """Whether a line holds nothing but numbers: the rest of a row that other output cut in two."""
    tokens = text.split()
    return bool(tokens) and len(tokens) <= 9 and all(printed(t) or t == "N/A" for t in tokens)


def expected_values(columns: Sequence[str]) -> int | None:
    """How many values follow type and reduction by the header; ``None`` without one."""
    if not columns:
        return None
    return len([c for c in columns if c not in ("size", "count", "type", "redop", "timestamp")])


def parse_row(head: Head, columns: Sequence[str]) -> Row | None:
    """Parse a row whose values obey size over time = algbw; ``None`` if no layout of any version does so."""
    for root, timings in _layouts(head, columns):
        if all(rate_fits(head.size, part.time, part.algbw) for part in timings):
            return Row(head, root, timings)
    return None


def layouts_exist(head: Head, columns: Sequence[str]) -> bool:
    """Whether the values have the form of a whole row, right or wrong."""
    return next(_layouts(head, columns), None) is not None


def _layouts(head: Head, columns: Sequence[str]) -> Iterator[tuple[int | None, tuple[Timing, ...]]]:
    """Every way to read the values, those of the header first: root or not, with or without wrong, one part or two."""
    has_root = "root" in columns or not columns
    ways = [
        (root, wrong, extra, parts)
        for extra in ((4, 0) if "i_min" in columns else (0,))
        for root in ((1, 0) if has_root else (0, 1))
        for parts in (2, 1)
        for wrong in ((0, 1) if columns and not any("wrong" in c or "error" in c for c in columns) else (1, 0))
        if root + parts * (3 + wrong + extra) == len(head.rest)
    ]
    for root, wrong, extra, parts in ways:
        rooted = whole(head.rest[0]) if root else None
        if root and (rooted is None or not -1 <= rooted < 1_000_000):
            continue
        width = 3 + wrong + extra
        read = [_timing(head.rest[root + i * width : root + (i + 1) * width], bool(wrong)) for i in range(parts)]
        if all(read):
            yield rooted, tuple(part for part in read if part)


def _timing(tokens: Sequence[str], has_wrong: bool) -> Timing | None:
    time, algbw, busbw = printed(tokens[0], 1e-6), printed(tokens[1], 1e9), printed(tokens[2], 1e9)
    wrong = tokens[3] if has_wrong else ""
    if time is None or algbw is None or busbw is None or (has_wrong and not _WRONG.fullmatch(wrong)):
        return None
    if time.value <= 0 or algbw.value < 0 or busbw.value < 0:
        return None
    # The program prints two decimals or four digits; less is a number that was cut.
    if time.half > max(_CENT * 1e-6, 0.01 * time.value) or any(rate.half > max(_CENT * 1e9, 0.01 * rate.value) for rate in (algbw, busbw)):
        return None
    return Timing(time, algbw, busbw, "N/A" if wrong.upper() == "N/A" else wrong)

"""Bars of text: how the parts of a whole compare."""

from __future__ import annotations

from collections.abc import Sequence

_EIGHTHS = " ▏▎▍▌▋▊▉█"


def bar(share: float, width: int = 24) -> str:
    """A bar of ``share`` (0..1, clipped) of ``width`` characters, to an eighth of one; empty for NaN."""
    if share != share:
        return ""
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")


def stacked(shares: Sequence[float], width: int = 48, marks: str = "█▓▒░▚▞") -> str:
    """Several shares of one whole in one bar, each with its own mark; the lengths add up to that of their sum.

    Raises:
        ValueError: more shares than marks.
    """
    if len(shares) > len(marks):
        raise ValueError(f"{len(shares)} shares, and only {len(marks)} marks")
    out, reached = "", 0.0
    for share, mark in zip(shares, marks, strict=False):
        reached += max(share, 0.0)
        out += mark * (round(min(reached, 1.0) * width) - len(out))
    return out

"""A small drawing board: SVG text with measured lines of text, so that nothing runs over an edge.

Colours come from the page (custom properties) and fall back to ones that stand on white and on black.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Final

INK: Final = "var(--ink, currentColor)"
FAINT: Final = "var(--quiet, #7a8494)"
LINE: Final = "var(--line, #a9b2bf)"


def text_width(text: str, size: float) -> float:
    """Width of a line, px, in a wide font (DejaVu Sans); in others a little less. Chinese characters are squares."""
    return size * sum(_advance(c) for c in text)


def _advance(c: str) -> float:
    if ord(c) > 0x2E80:
        return 1.0
    if c in "il.,:;|!'()[] jftr":
        return 0.4
    return 0.95 if c in "mwMW%@" else 0.72 if c.isupper() else 0.64


def wrapped(text: str, size: float, width: float) -> list[str]:
    """``text`` in lines no wider than ``width`` px; broken at spaces, and between Chinese characters."""
    words: list[str] = []
    for word in text.split(" "):
        piece = ""
        for c in word:
            if ord(c) > 0x2E80 and piece and c not in "，。；：、）":
                words.append(piece)
                piece = ""
            piece += c
        words.append(piece + " ")
    lines, line = [], ""
    for word in words:
        if line and text_width((line + word).rstrip(), size) > width:
            lines.append(line.rstrip())
            line = ""
        line += word
    return [*lines, line.rstrip()] if line.strip() else lines


@dataclass(slots=True)
class Board:
    """Elements drawn from top to bottom; ``y`` is where the next one may begin, px."""

    width: float
    y: float = 0.0
    parts: list[str] = field(default_factory=list)

    def text(self, x: float, text: str, *, size: float = 13, bold: bool = False, colour: str = INK, width: float | None = None) -> None:
        """Lines of text below one another from ``x``, within ``width``; moves ``y`` below them."""
        for line in wrapped(text, size * (1.06 if bold else 1.0), (width or self.width - x)):
            self.y += size * 1.35
            weight = ' font-weight="600"' if bold else ""
            self.parts.append(f'<text x="{x:.0f}" y="{self.y - size * 0.3:.1f}" font-size="{size:g}" fill="{colour}"{weight}>{escape(line)}</text>')

    def label(self, x: float, y: float, text: str, *, size: float = 11, anchor: str = "middle", colour: str = FAINT) -> None:
        """One short line at a place."""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{colour}" text-anchor="{anchor}">{escape(text)}</text>')

    def box(self, x: float, y: float, width: float, height: float, *, colour: str = LINE, fill: str = "none", thick: float = 1.2) -> None:
        """A frame with round corners."""
        place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="5"'
        self.parts.append(f'<rect {place} fill="{fill}" stroke="{colour}" stroke-width="{thick:g}"/>')

    def line(self, points: list[tuple[float, float]], *, colour: str, thick: float = 2.0) -> None:
        """Straight lines from point to point."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{thick:g}"/>')

    def squares(self, places: list[tuple[float, float]], side: float, *, colour: str, opacity: float = 1.0) -> None:
        """Equal squares as one path."""
        if places:
            path = "".join(f"M{x:.1f} {y:.1f}h{side:.1f}v{side:.1f}h-{side:.1f}z" for x, y in places)
            self.parts.append(f'<path d="{path}" fill="{colour}" fill-opacity="{opacity:g}"/>')

    def svg(self, title: str) -> str:
        """The drawing with its title for those who cannot see it."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:.0f} {self.y:.0f}" width="{self.width:.0f}" '
            f'height="{self.y:.0f}" role="img" aria-label="{escape(title)}" font-family="system-ui, sans-serif">'
        )
        return "".join([head, *self.parts, "</svg>"])

"""What a page is made of; the template draws nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


@dataclass(frozen=True, slots=True)
class Column:
    """Head of a column: text, unit (shown under the text), and whether it holds numbers."""

    text: str
    unit: str = ""
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table; a cell is text, or (text, address) for a link."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""
    folded: bool = False
    """Shown closed on the screen (a long list); print opens it."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure with the sentence below it."""

    id: str
    title: str
    figure: Figure
    caption: str
    height: int = 460


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing without interaction: SVG text for a wide and for a narrow screen, with the sentence below it."""

    title: str
    wide: str
    narrow: str
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """One of the figures that most readers want: what it is, the value with its unit, and a remark; ``bad`` where it says no."""

    label: str
    value: str
    remark: str = ""
    bad: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """A finding: severity, what was found, and what to do."""

    severity: str
    text: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a page. ``commands`` are shown as a terminal would show them; ``terms`` are term and meaning; ``items`` a list of sentences."""

    id: str
    title: str
    texts: tuple[str, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    tables: tuple[Table, ...] = ()
    commands: tuple[str, ...] = ()
    terms: tuple[tuple[str, str], ...] = ()
    cards: tuple[Card, ...] = ()
    notes: tuple[Note, ...] = ()
    pictures: tuple[Picture, ...] = ()
    items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """All of a page in one language. ``explains``: terms are marked where they stand and explained in a glossary at the end."""

    lang: str
    title: str
    lead: tuple[str, ...]
    sections: tuple[Section, ...]
    foot: str
    explains: bool = False

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
class Section:
    """One part of a page. ``commands`` are shown as a terminal would show them; ``terms`` are term and meaning."""

    id: str
    title: str
    texts: tuple[str, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    tables: tuple[Table, ...] = ()
    commands: tuple[str, ...] = ()
    terms: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """All of a page in one language."""

    lang: str
    title: str
    lead: tuple[str, ...]
    sections: tuple[Section, ...]
    foot: str

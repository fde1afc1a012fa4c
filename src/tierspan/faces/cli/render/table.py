"""Tables: the unit stands in the head of the column, numbers stand flush right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its head, the unit of its numbers, how it stands, and whether a narrow terminal may fold it."""

    head: str
    unit: str = ""
    justify: Literal["left", "right", "center"] = "left"
    fold: bool = True


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table before it is drawn: terminal, page and notebook show the same cells."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""


def number(head: str, unit: str = "") -> Column:
    """A column of numbers."""
    return Column(head, unit, "right", fold=False)


def table(columns: Sequence[Column], rows: Iterable[Sequence[str]], *, title: str = "") -> Table:
    """A table of texts; an empty cell means that there is nothing to tell, unknown values are told as such by the caller.

    Raises:
        ValueError: a row has not as many cells as there are columns.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    made = Table(
        box=SIMPLE_HEAD,
        title=Text(title, style="bold") if title else None,
        title_justify="left",
        pad_edge=False,
        show_edge=False,
        header_style="bold",
    )
    for column in columns:
        head = Text(column.head)
        if column.unit:
            head.append(f"\n{column.unit}", style="dim")
        made.add_column(head, justify=column.justify, overflow="fold", no_wrap=not column.fold, vertical="top")
    for row in rows:
        if len(row) != len(columns):
            raise ValueError(f"{len(row)} cells for {len(columns)} columns")
        made.add_row(*(Text(cell) for cell in row))
    return made


def drawn(sheet: Sheet) -> Table:
    """A sheet as a table of the terminal."""
    return table(sheet.columns, sheet.rows, title=sheet.title)

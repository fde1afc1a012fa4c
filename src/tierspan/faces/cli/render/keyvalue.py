"""Names and values, one pair a line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def pairs(rows: Iterable[tuple[str, str]], *, title: str = "") -> Table:
    """A list of pairs; long values fold under themselves. Texts in Chinese keep their columns."""
    from rich.table import Table
    from rich.text import Text

    made = Table.grid(padding=(0, 2, 0, 0))
    made.title = Text(title, style="bold") if title else None
    made.title_justify = "left"
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in rows:
        made.add_row(Text(name, style="dim"), Text(value))
    return made

"""The Rich console that all tables go through."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

PIPE_COLUMNS = 120
"""Width where nobody sees a terminal: the same text on every machine."""


def make_console(stream: TextIO) -> Console:
    """A console on ``stream``: colours only on a terminal and without NO_COLOR, no markup, no highlighting by guesswork."""
    from rich.console import Console

    columns = os.environ.get("COLUMNS", "")
    width = int(columns) if columns.isdigit() and int(columns) > 0 else None if stream.isatty() else PIPE_COLUMNS
    return Console(file=stream, width=width, markup=False, emoji=False, highlight=False)

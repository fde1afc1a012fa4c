"""How much of a sheet is read. A spec sheet is small; what is larger is something else, or hostile."""

from __future__ import annotations

from typing import Final

MAX_TEXT_BYTES: Final = 2 * 2**20
"""Text, tables, JSON, HTML. Four hundred pages."""
MAX_YAML_BYTES: Final = 64 * 2**10
"""YAML; its parser is slow."""
MAX_FILE_BYTES: Final = 32 * 2**20
"""Workbooks and PDF as they lie on disk; pictures make them large."""
MAX_UNPACKED_BYTES: Final = 24 * 2**20
"""The parts of a workbook that are read, unpacked."""
MAX_LINES: Final = 20_000
MAX_LINE_CHARACTERS: Final = 20_000
MAX_FIGURES: Final = 3_000
"""Numbers in a document. Each is looked at by every rule of the audit, about 1.5 ms: this many stay within 5 s."""
MAX_CELLS: Final = 200_000
MAX_DEPTH: Final = 50
MAX_VALUES: Final = 50_000
"""Keys, items and lists of a JSON or YAML text; what an alias repeats counts again."""
MAX_PAGES: Final = 100
MAX_CPU_SECONDS: Final = 3
"""Time of the process that opens a workbook, PDF or HTML page."""
MAX_WALL_SECONDS: Final = 12.0
"""The same on the clock, for a machine that is busy, or has no limit of CPU time."""
MAX_MEMORY_BYTES: Final = 400 * 2**20
"""Address space of that process."""


def mebibytes(size_bytes: float) -> str:
    """A size as it is told: 2 MiB, 128 KiB."""
    return f"{size_bytes / 2**20:.4g} MiB" if size_bytes >= 2**20 else f"{size_bytes / 2**10:.4g} KiB"

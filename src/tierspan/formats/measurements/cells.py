"""Cells of one row as numbers, words and flags; an unreadable one names its file, line, column and value."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from tierspan.quantities.errors import InputError, Place


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of a row by column name; a column that the file lacks reads as empty."""

    path: str
    line: int
    values: Mapping[str, str]

    def place(self, column: str) -> Place:
        """Where a cell stands; ``Place.column`` counts cells from 1."""
        names = list(self.values)
        return Place(self.path, self.line, names.index(column) + 1 if column in names else None, column)

    def text(self, column: str) -> str:
        """The cell as written, without surrounding blanks."""
        return self.values.get(column, "")

    def number(self, column: str, lowest: float = 0.0) -> float | None:
        """The cell as a finite number, not below ``lowest``; ``None`` where it is empty."""
        written = self.text(column)
        if not written:
            return None
        try:
            value = float(written.replace("_", "?"))
        except ValueError:
            raise InputError("validation.not_a_number", place=self.place(column), column=column, value=written[:80]) from None
        if not math.isfinite(value):
            raise InputError("validation.not_a_number", place=self.place(column), column=column, value=written[:80])
        if value < lowest:
            raise InputError("validation.out_of_range", place=self.place(column), column=column, value=written[:80], lowest=f"{lowest:g}")
        return value

    def whole(self, column: str, lowest: int = 1) -> int | None:
        """The cell as a whole number, not below ``lowest``; ``None`` where it is empty."""
        value = self.number(column, lowest)
        if value is None:
            return None
        if not value.is_integer():
            raise InputError("validation.not_whole", place=self.place(column), column=column, value=self.text(column)[:80])
        return int(value)

    def word(self, column: str, allowed: tuple[str, ...]) -> str:
        """The cell as one of ``allowed``; "" where it is empty."""
        written = self.text(column)
        if written and written.lower() not in allowed:
            raise InputError("validation.bad_word", place=self.place(column), column=column, value=written[:80], allowed=", ".join(allowed))
        return written.lower()

    def yes(self, column: str) -> bool | None:
        """The cell as yes or no; ``None`` where it is empty."""
        written = self.word(column, ("yes", "no"))
        return written == "yes" if written else None

    def flags(self, column: str = "flags") -> frozenset[str]:
        """The blank-separated flags of a cell."""
        return frozenset(self.text(column).split())


_DATE = re.compile(r"\s*((?:19|20)\d\d)(?:-(\d{1,2}))?(?:-(\d{1,2}))?")


def decimal_year(text: str) -> float | None:
    """A date as a decimal year: ``2025-05-21`` is 2025.39; a month or a year alone counts as its middle; ``None`` without a year."""
    match = _DATE.match(text)
    if not match:
        return None
    year, month, day = match.groups()
    if month is None or not 1 <= int(month) <= 12:
        return int(year) + 0.5
    days = 0.5 if day is None else min(max(int(day) - 1, 0), 30) / 31
    return int(year) + (int(month) - 1 + days) / 12

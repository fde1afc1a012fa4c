"""Where a figure stands in the text: its line, the words before and behind it, what lies between two figures."""

from __future__ import annotations

from dataclasses import dataclass

from tierspan.answers.audit.rules.base import Sheet
from tierspan.quantities.errors import Place
from tierspan.quantities.number_text import normalise
from tierspan.specs.reading import Reading


@dataclass(frozen=True, slots=True)
class Spot:
    """A figure in the text that holds it: a line, or a cell with ``head`` the words of its row and column."""

    text: str
    start: int
    end: int
    head: str = ""

    @property
    def before(self) -> str:
        """The text before the figure."""
        return self.text[: self.start]

    @property
    def after(self) -> str:
        """The text behind the figure."""
        return self.text[self.end :]


def spot_of(sheet: Sheet, reading: Reading) -> Spot:
    """Where the figure stands; an empty text where the document does not hold it (a reading made by hand)."""
    for document in sheet.documents:
        if document.name != reading.file:
            continue
        for line in document.lines:
            if line.number != reading.line:
                continue
            for i, text in enumerate(line.cells or (line.text,)):
                if same_length(text)[reading.column :].startswith(same_length(reading.text)):
                    row = line.cells[0] if line.cells and i else ""
                    head = f"{row} {line.heads[i]}".strip() if i < len(line.heads) else ""
                    return Spot(text, reading.column, reading.column + len(reading.text), head)
    return Spot("", 0, 0)


def line_of(sheet: Sheet, reading: Reading) -> str:
    """The whole line of the figure, cells of a table joined."""
    spot = spot_of(sheet, reading)
    for document in sheet.documents:
        if document.name == reading.file:
            for line in document.lines:
                if line.number == reading.line and (spot.text in line.cells or line.text == spot.text):
                    return line.text
    return spot.text


def place_of(reading: Reading) -> Place:
    """The place that a finding about this figure names."""
    return Place(file=reading.file, line=reading.line, column=reading.column + 1)


def same_length(text: str) -> str:
    """Full-width digits, letters and signs as plain ones; each character keeps its place."""
    return "".join(plain if c not in "，：" and len(plain := normalise(c)) == 1 else c for c in text)

"""Figures of sheets as readings: found, put into their context, and brought to one basis."""

from __future__ import annotations

from collections.abc import Iterable

from tierspan.formats.figures.classify import classified
from tierspan.formats.figures.context import contexts
from tierspan.formats.figures.normalise import normalised
from tierspan.specs.reading import Reading
from tierspan.specs.sheet import SheetDocument

__all__ = ["read_figures"]


def read_figures(documents: Iterable[SheetDocument]) -> tuple[Reading, ...]:
    """The figures of documents in the order of the text."""
    return tuple(normalised(classified(found, document.name), found) for document in documents for found in contexts(document))

"""A number that knows where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

TEXT_UNIT: Final = "text"
"""The unit of a fact that is words, not a number: its ``value`` is NaN, ``original`` holds the words."""

Mark = Literal["vendor page", "second hand", "measured", "derived", "assumed", "given"]
"""How far a figure can be trusted by where it was read: ``vendor page`` was read there, ``second hand`` only as others repeat it."""

SourceKind = Literal["datasheet", "paper", "press", "secondary", "derived", "text", "measured", "inline", "assumed"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a figure was read: ``reference`` is an address or a document, ``date`` as YYYY, YYYY-MM or YYYY-MM-DD ("" = not recorded)."""

    reference: str
    kind: SourceKind
    date: str = ""

    @property
    def mark(self) -> Mark:
        """Whether the vendor's own page was read; a page reached by way of another text was not."""
        match self.kind:
            case "datasheet":
                return "second hand" if " via " in self.reference else "vendor page"
            case "measured" | "derived" | "assumed":
                return self.kind
            case "inline":
                return "given"
            case _:
                return "second hand"


@dataclass(frozen=True, slots=True)
class Fact:
    """One figure with its source.

    ``value`` is SI (bytes, bytes/s per direction, s, FLOP/s, W); ``original`` is the text as printed in the source, ``basis`` says
    per what and in which direction, ``used`` marks the one that predictions take where sources conflict.
    """

    key: str
    value: float
    unit: str
    source: Source
    basis: str = ""
    original: str = ""
    note: str = ""
    conflict: bool = False
    used: bool = True

    @property
    def is_text(self) -> bool:
        """Words instead of a number."""
        return self.unit == TEXT_UNIT

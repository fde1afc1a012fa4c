"""A number that knows where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SourceKind = Literal["datasheet", "paper", "press", "secondary", "derived", "text", "measured", "inline", "assumed"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a figure was read: ``reference`` is an address or a document, ``date`` as YYYY, YYYY-MM or YYYY-MM-DD ("" = not recorded)."""

    reference: str
    kind: SourceKind
    date: str = ""


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

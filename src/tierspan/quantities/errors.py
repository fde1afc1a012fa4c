"""Errors that a user can meet.

::

    TierspanError
    ├── InputError        a file or value cannot be read or breaks a rule (exit code 2)
    │   ├── UnknownNameError   an id, unit, key or layer type that nobody knows
    │   └── UnsupportedError   understood, and not modelled: names what is missing
    └── MissingExtraError an optional dependency is not installed (exit code 2)

An error carries the facts (where, value, rule, remedy), never a finished sentence in one language:
``render`` makes the text from the message catalogues.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was read: a file, and inside it a line (from 1), column (from 1) or key path."""

    file: str = ""
    line: int | None = None
    column: int | None = None
    key: str = ""

    def __str__(self) -> str:
        text = self.file
        if self.line is not None:
            text += f":{self.line}" if text else f"line {self.line}"
            if self.column is not None:
                text += f":{self.column}"
        if self.key:
            text += f" [{self.key}]" if text else self.key
        return text


class TierspanError(Exception):
    """Base of all errors that tierspan raises on purpose."""

    exit_code = 2


class InputError(TierspanError):
    """A file or value cannot be used.

    Args:
        message_id: id in the message catalogues; its text states the rule, the text of ``message_id + ".remedy"`` the remedy.
        place: where it was read.
        values: placeholders of the texts.
    """

    def __init__(self, message_id: str, *, place: Place | None = None, **values: object) -> None:
        self.message_id = message_id
        self.place = place or Place()
        self.values = values
        super().__init__(message_id, self.place, values)

    def __str__(self) -> str:
        from tierspan.quantities.messages import render_error

        return render_error(self, "en")


class UnknownNameError(InputError):
    """A name that nobody knows; ``values['suggestions']`` holds the nearest known ones."""

    def __init__(self, message_id: str, name: str, known: Iterable[str], *, place: Place | None = None, **values: object) -> None:
        self.suggestions = nearest_names(name, known)
        super().__init__(message_id, place=place, name=name, suggestions=", ".join(self.suggestions), **values)


class UnsupportedError(InputError):
    """Understood, and not modelled: the text names the layer or feature."""


class MissingExtraError(InputError):
    """An optional dependency is needed; the text names the extra to install."""


def nearest_names(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """The known names most like ``name`` (case-insensitive), best first, at most ``count``."""
    by_lower = {k.lower(): k for k in known}
    near = difflib.get_close_matches(name.lower(), by_lower, n=count, cutoff=0.6)
    # short names with two slips fall below the usual bar: then the single nearest is better than none
    return [by_lower[k] for k in near or difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)]

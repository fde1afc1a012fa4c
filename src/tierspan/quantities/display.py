"""How results show themselves in a terminal and in a notebook.

Results stand on a floor that does not know how they are told: they ask the teller that a face has registered, and show their fields where there
is none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Literal

Form = Literal["html", "sentence", "short"]
"""For a notebook, as one sentence, or as a name with the figures that matter."""
Teller = Callable[[object, Form], str | None]

_teller: Teller | None = None


def register(teller: Teller | None) -> Teller | None:
    """Let ``teller`` show the results from now on; returns the earlier one. It answers ``None`` for what it cannot tell."""
    global _teller
    earlier, _teller = _teller, teller
    return earlier


def told(value: object, form: Form) -> str | None:
    """``value`` in this form; ``None`` where nobody can tell it."""
    if _teller is None:
        return None
    try:
        return _teller(value, form)
    except Exception:
        # Showing a value must never break the session that looks at it.
        return None


class Shown:
    """A frozen result class that shows itself: derive from it and pass ``repr=False`` to ``dataclass``."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        """The answer for a notebook."""
        return told(self, "html")

    def __repr__(self) -> str:
        """What it is, with the figures that matter."""
        short = told(self, "short")
        return f"<{type(self).__name__} {short}>" if short else fields_text(self)

    def __str__(self) -> str:
        """The answer in one sentence."""
        return told(self, "sentence") or repr(self)


def fields_text(value: Any) -> str:
    """All fields of a dataclass, as ``dataclass`` itself would show them."""
    return f"{type(value).__qualname__}({', '.join(f'{f.name}={getattr(value, f.name)!r}' for f in fields(value) if f.repr)})"

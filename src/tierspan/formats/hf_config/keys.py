"""Typed access to the keys of a configuration; every failure names key, value, rule and remedy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tierspan.formats.json_text import kind_name
from tierspan.quantities.errors import InputError, Place


class Keys:
    """The keys of one configuration object, remembering which were read.

    A key may go by several names (``num_hidden_layers``, ``n_layer``): the first one present counts, and two names that disagree are
    an error. ``null`` counts as absent.
    """

    def __init__(self, data: Mapping[str, Any], locate: Callable[[str], Place]) -> None:
        self.data = data
        self.locate = locate
        self.read: set[str] = set()

    @property
    def family(self) -> str:
        """The ``model_type``."""
        return str(self.data.get("model_type") or "")

    def has(self, *names: str) -> bool:
        """Whether one of the names holds something else than null."""
        return any(self.data.get(name) is not None for name in names)

    def raw(self, *names: str) -> tuple[str, Any]:
        """The name found and its value; (first name, None) where none is present."""
        self.read.update(names)
        found = [(name, self.data[name]) for name in names if self.data.get(name) is not None]
        for name, value in found[1:]:
            if value != found[0][1]:
                raise InputError("models.key_conflict", place=self.locate(name), key=found[0][0], value=found[0][1], other=name, other_value=value)
        return found[0] if found else (names[0], None)

    def optional(self, *names: str, least: int = 1) -> int | None:
        """A whole number of at least ``least``, or None where no name is present."""
        name, value = self.raw(*names)
        return None if value is None else self._whole(name, value, least)

    def whole(self, *names: str, default: int | None = None, least: int = 1) -> int:
        """As ``optional``, but the key must be there unless the family has a ``default``."""
        value = self.optional(*names, least=least)
        if value is None:
            value = default
        if value is None:
            raise self.missing(*names)
        return value

    def missing(self, *names: str) -> InputError:
        """The error for a key that must be there."""
        place = self.locate(names[0])
        bare = Place(place.file, key=place.key)
        return InputError("models.key_missing", place=bare, key=names[0], names=", ".join(names), family=self.family or "?")

    def flag(self, *names: str, default: bool = False) -> bool:
        """A boolean."""
        name, value = self.raw(*names)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise InputError("models.key_flag", place=self.locate(name), key=name, value=_short(value))
        return value

    def word(self, *names: str, default: str = "") -> str:
        """A string."""
        name, value = self.raw(*names)
        if value is None:
            return default
        if not isinstance(value, str):
            raise InputError("models.key_word", place=self.locate(name), key=name, value=_short(value))
        return value

    def items(self, name: str, length: int | None = None) -> list[Any] | None:
        """A list, with one entry a layer where ``length`` is given."""
        _, value = self.raw(name)
        if value is None:
            return None
        if not isinstance(value, list):
            raise InputError("models.key_list", place=self.locate(name), key=name, value=_short(value))
        if length is not None and len(value) != length:
            raise InputError("models.key_list_length", place=self.locate(name), key=name, value=len(value), layers=length)
        return value

    def layer_numbers(self, name: str, layers: int) -> set[int] | None:
        """A list of layer numbers, counted from 0."""
        entries = self.items(name)
        if entries is None:
            return None
        for entry in entries:
            if isinstance(entry, bool) or not isinstance(entry, int) or not 0 <= entry < layers:
                raise InputError("models.key_layer", place=self.locate(name), key=name, value=_short(entry), last=layers - 1)
        return set(entries)

    def multiple(self, key: str, value: int, other: str, other_value: int) -> None:
        """Refuse ``value`` that is not a multiple of ``other_value``."""
        if value % other_value:
            raise InputError("models.not_multiple", place=self.locate(key), key=key, value=value, other=other, other_value=other_value)

    def _whole(self, name: str, value: object, least: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError("models.key_number", place=self.locate(name), key=name, value=_short(value), kind=kind_name(value))
        if isinstance(value, float) and not value.is_integer():
            raise InputError("models.key_number", place=self.locate(name), key=name, value=value, kind=kind_name(value))
        if value < least or value > _LARGEST:
            raise InputError("models.key_range", place=self.locate(name), key=name, value=value, least=least, most=_LARGEST)
        return int(value)


_LARGEST = 10**9


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."

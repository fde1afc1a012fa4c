"""Typed reading of the keys of an inline description: a plain mapping as it comes out of YAML or JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

from tierspan.quantities.errors import InputError, Place, UnknownNameError
from tierspan.quantities.facts import Fact, Source
from tierspan.quantities.qualifiers import Direction
from tierspan.quantities.units import Quantity, parse_as, parse_quantity, per_direction_Bps

PlaceOf = Callable[[str], Place]
"""Where the key of this path was read; the path is dotted, list items by number (``tiers.0.bandwidth``)."""


class Fields:
    """One mapping, read key by key; ``finish`` refuses the keys that nobody asked for."""

    def __init__(self, mapping: object, place_of: PlaceOf, path: str = "") -> None:
        self._path = path
        self._place_of = place_of
        if not isinstance(mapping, Mapping):
            raise InputError("value.type", place=self.place(), key=path or "it", value=mapping, expected="a mapping")
        self._mapping: Mapping[str, object] = {str(key): value for key, value in mapping.items()}
        self._asked: list[str] = []
        self.facts: list[Fact] = []

    def place(self, key: str = "") -> Place:
        """Where ``key`` was read."""
        return self._place_of(self.path(key))

    def path(self, key: str = "") -> str:
        """The dotted path of ``key``."""
        return ".".join(part for part in (self._path, key) if part)

    def has(self, key: str) -> bool:
        """Whether the mapping has ``key`` with a value."""
        self._asked.append(key)
        return self._mapping.get(key) is not None

    def raw(self, key: str, *, required: bool = False) -> object:
        """The value of ``key`` as it stands; ``None`` where it is absent."""
        if self.has(key):
            return self._mapping[key]
        if required:
            raise InputError("key.missing", place=self.place(), key=self.path(key))
        return None

    def text(self, key: str, *, required: bool = False, choices: Iterable[str] | None = None) -> str | None:
        """A text, one of ``choices`` where given."""
        value = self.raw(key, required=required)
        if value is None:
            return None
        if not isinstance(value, str) or not value.strip():
            raise self._wrong_type(key, value, "a text")
        if choices is not None and value not in (known := tuple(choices)):
            raise UnknownNameError("value.not_one_of", value, known, place=self.place(key), key=self.path(key), value=value, allowed=", ".join(known))
        return value

    def flag(self, key: str) -> bool:
        """True or false; false where absent."""
        value = self.raw(key)
        if value is None or isinstance(value, bool):
            return bool(value)
        raise self._wrong_type(key, value, "true or false")

    def count(self, key: str, *, required: bool = False) -> int | None:
        """A whole number above zero."""
        value = self.raw(key, required=required)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._wrong_type(key, value, "a whole number")
        if value < 1:
            raise InputError("value.not_positive", place=self.place(key), key=self.path(key), value=value)
        return value

    def share(self, key: str) -> float:
        """A number above 0 and at most 1."""
        value = self.raw(key, required=True)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong_type(key, value, "a number")
        if not 0 < value <= 1:
            raise InputError("value.out_of_range", place=self.place(key), key=self.path(key), value=value, low=0, high=1)
        return float(value)

    def quantity(self, key: str, unit: str, suffix: str, *, required: bool = False) -> float | None:
        """A figure: ``key`` holds text with a unit, or ``key`` + ``suffix`` a number in SI.

        Returns:
            The value in ``unit`` (SI), per accelerator.
        """
        found = self._figure(key, unit, suffix, required=required)
        if not isinstance(found, Quantity):
            return found
        if found.scope not in (None, "accelerator") or found.aggregate:
            raise InputError("inline.scope", place=self.place(key), key=self.path(key), value=found.original)
        return self._noted(key, found.value, unit, found.original)

    def number(self, key: str, unit: str) -> float:
        """A plain number in ``unit`` under a key whose name carries it."""
        value = self.raw(key, required=True)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong_type(key, value, "a number or a text with a unit")
        return self._noted(key, float(value), unit, f"{value} {unit}")

    def rate(self, key: str, *, required: bool = False, assume: Direction | None = None, links: int | None = None) -> float | None:
        """A bandwidth in bytes/s per direction; see ``quantity``. ``assume`` is the direction of a text that states none."""
        found = self._figure(key, "B/s", "_Bps", required=required)
        if not isinstance(found, Quantity):
            return found if found is None or links is None else found * links
        if (found.scope not in (None, "accelerator") or found.aggregate) and not (links and found.scope in ("link", "lane")):
            raise InputError("inline.scope", place=self.place(key), key=self.path(key), value=found.original)
        if found.direction is None and assume is None:
            raise InputError("units.direction_missing", place=self.place(key), value=found.original)
        return self._noted(key, per_direction_Bps(found, links, assume=assume), "B/s", found.original)

    def child(self, key: str, *, required: bool = False) -> Fields | None:
        """The mapping under ``key``."""
        value = self.raw(key, required=required)
        return None if value is None else Fields(value, self._place_of, self.path(key))

    def children(self, key: str, *, required: bool = False) -> list[Fields]:
        """The mappings of the list under ``key``."""
        value = self.raw(key, required=required)
        if value is None:
            return []
        if not isinstance(value, list | tuple) or (required and not value):
            raise self._wrong_type(key, value, "a list")
        return [Fields(item, self._place_of, f"{self.path(key)}.{number}") for number, item in enumerate(value)]

    def all_keys(self) -> tuple[str, ...]:
        """The keys of the mapping; all count as asked for."""
        self._asked.extend(self._mapping)
        return tuple(self._mapping)

    def finish(self) -> None:
        """Refuse keys that nobody asked for.

        Raises:
            UnknownNameError: the first such key, with the nearest known ones.
        """
        for key in self._mapping:
            if key not in self._asked:
                raise UnknownNameError("key.unknown", key, dict.fromkeys(self._asked), place=self.place(key))

    def _figure(self, key: str, unit: str, suffix: str, *, required: bool) -> Quantity | float | None:
        if self.has(key) and self.has(key + suffix):
            raise InputError("key.conflict", place=self.place(key), key=self.path(key), other=self.path(key + suffix))
        if self.has(key + suffix):
            value = self._mapping[key + suffix]
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise self._wrong_type(key + suffix, value, "a number")
            return self._noted(key, float(value), unit, f"{value} {unit}")
        value = self.raw(key, required=required)
        if value is None:
            return None
        if not isinstance(value, str):
            raise InputError("inline.unit", place=self.place(key), key=self.path(key), value=value, other=self.path(key + suffix))
        if value.strip().replace(".", "", 1).isdigit():
            raise InputError("inline.unit", place=self.place(key), key=self.path(key), value=value, other=self.path(key + suffix))
        found = parse_as(value, unit, key=self.path(key), place=self.place(key))
        if unit == "B/s" and not found.ambiguous:
            # the unit that the key implies settles a bare prefix, but 400G is eight times more in bytes than in bits
            bare = parse_quantity(value, place=self.place(key))
            found = bare if bare.ambiguous else found
        if found.ambiguous:
            others = ", ".join(f"{other.value:g} {other.unit}" for other in found.alternatives)
            raise InputError(
                "inline.ambiguous", place=self.place(key), key=self.path(key), value=value, first=f"{found.value:g} {found.unit}", others=others
            )
        return found

    def _noted(self, key: str, value: float, unit: str, original: str) -> float:
        if not math.isfinite(value):
            raise InputError("value.not_finite", place=self.place(key), key=self.path(key), value=original)
        if value <= 0:
            raise InputError("value.not_positive", place=self.place(key), key=self.path(key), value=original)
        self.facts.append(Fact(key, value, unit, Source(str(self.place(key)) or "given inline", "inline"), original=original))
        return value

    def _wrong_type(self, key: str, value: object, expected: str) -> InputError:
        return InputError("value.type", place=self.place(key), key=self.path(key), value=value, expected=expected)

"""What the trial is made of: a case with its figures, a trap that makes one of them wrong, a statement in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

Language = Literal["en", "zh"]
Part = Literal["tuned", "held-out"]


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with the unit it is printed with ("" for a count)."""

    value: float
    unit: str = ""

    def times(self, factor: float) -> Amount:
        """The same unit, another number."""
        return replace(self, value=self.value * factor)

    def named(self, unit: str) -> Amount:
        """The same number, another unit: a mistake of the writer, not a conversion."""
        return replace(self, unit=unit)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of ``words.csv``, written in the language and manner of the statement; "" leaves it out."""

    id: str


Slot = Amount | Word | str
Slots = Mapping[str, Slot]


@dataclass(frozen=True, slots=True)
class Case:
    """Something true about one thing: its figures by the name that templates use, and where they come from."""

    id: str
    slots: Slots
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trap:
    """A way to make a true statement false.

    ``change`` returns the slots that differ, or None where the trap does not apply to the case. A statement is changed only where its template
    shows all of ``needs`` and none of ``without``: what the reader cannot see is not wrong.
    """

    kind: str
    needs: tuple[str, ...]
    change: Callable[[Slots], Slots | None]
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Family:
    """Cases of one kind, the templates of the same name, and the traps that they can hold."""

    name: str
    cases: Callable[[], Iterable[Case]]
    traps: tuple[Trap, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """A text for the audit. ``trap`` is "" where it is true; ``name`` ends as a file of its form does."""

    id: str
    name: str
    language: Language
    text: str
    sources: tuple[str, ...]
    trap: str = ""
    truth: str = ""


def amount(slots: Slots, name: str) -> Amount:
    """The figure of this name.

    Raises:
        TypeError: the slot holds words (a mistake in a family).
    """
    found = slots[name]
    if not isinstance(found, Amount):
        raise TypeError(f"{name} is not a figure")
    return found


def scaled(kind: str, name: str, factor: float, *, needs: tuple[str, ...] = (), without: tuple[str, ...] = ()) -> Trap:
    """The figure ``name`` printed as ``factor`` times what it is."""
    return Trap(kind, (name, *needs), lambda slots: {name: amount(slots, name).times(factor)}, without)


def renamed(kind: str, name: str, units: Mapping[str, str], *, needs: tuple[str, ...] = (), without: tuple[str, ...] = ()) -> Trap:
    """The figure ``name`` printed with another unit, by the unit that it has."""

    def change(slots: Slots) -> Slots | None:
        before = amount(slots, name)
        return {name: before.named(units[before.unit])} if before.unit in units else None

    return Trap(kind, (name, *needs), change, without)


def swapped(kind: str, name: str, other: str, *, needs: tuple[str, ...] = (), without: tuple[str, ...] = ()) -> Trap:
    """The figure ``other`` printed where ``name`` belongs."""
    return Trap(kind, (name, *needs), lambda slots: {name: slots[other]} if other in slots else None, without)


def reworded(kind: str, name: str, word: str, *, needs: tuple[str, ...] = (), without: tuple[str, ...] = ()) -> Trap:
    """The word ``name`` replaced by another, or left out ("")."""
    return Trap(kind, (name, *needs), lambda _: {name: Word(word)}, without)

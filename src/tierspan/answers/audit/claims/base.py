"""What a kind of claim is: it finds sentences that say something that can be computed again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from tierspan.answers.audit.claims.amounts import Amount
from tierspan.answers.audit.claims.sentence import Sentence
from tierspan.quantities.printing import format_number, format_quantity
from tierspan.specs.reading import Reason

Verdict = Literal["confirmed", "refuted", "unanswerable"]


@dataclass(frozen=True, slots=True)
class Found:
    """A claim in a sentence: the verdict, the computation as messages, and the indexes of the amounts that it is about."""

    verdict: Verdict
    arithmetic: tuple[Reason, ...]
    amounts: frozenset[int] = frozenset()


@runtime_checkable
class Kind(Protocol):
    """A kind of claim. Kinds are asked in their ``order``; an amount that one has used is not used again by a later one."""

    name: str
    order: int

    def find(self, sentence: Sentence) -> Iterable[Found]:
        """The claims of this kind in a sentence."""
        ...


def told(message_id: str, /, **values: object) -> Reason:
    """A line of the computation: message ``audit.claim.<message_id>``."""
    return Reason(f"audit.claim.{message_id}", values)


def found(verdict: Verdict, *lines: Reason, about: Iterable[Amount] = ()) -> Found:
    """A claim about these amounts."""
    return Found(verdict, lines, frozenset(a.index for a in about))


def number(value: float, digits: int = 4) -> str:
    """A number for a message; whole numbers are shown in full."""
    return format_number(value, max(digits, 15) if value == int(value) and abs(value) < 1e15 else digits)


def shown(value: float, unit: str, digits: int = 4) -> str:
    """An SI value with its unit for a message."""
    return number(value, digits) if unit == "1" else f"{number(100.0 * value, 3)} %" if unit == "%" else format_quantity(value, unit, digits=digits)

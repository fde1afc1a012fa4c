"""Products, quotients and sums that are written out: ``384 x 432 = 165,888``, ``18 x 50 GB/s = 900 GB/s``, ``6,912 = 432 x 16``, ``450:50 = 9``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from tierspan.answers.audit.claims.amounts import Amount, agrees
from tierspan.answers.audit.claims.base import Found, Kind, found, number, shown, told
from tierspan.answers.audit.claims.sentence import Sentence

_BEFORE: Final = r"^[^=≈\d,;，；。:：]{0,30}?"
_OPERATORS: Final = (
    ("x", re.compile(_BEFORE + r"(?:[x×*✕]|\btimes\b|乘以?)\s*$", re.IGNORECASE)),
    ("+", re.compile(_BEFORE + r"(?:\+|\bplus\b|加)\s*$", re.IGNORECASE)),
    ("/", re.compile(_BEFORE + r"(?:/|÷|\bdivided\s+by\b|除以)\s*$|^\s?[:：]\s?$", re.IGNORECASE)),
    (
        "=",
        re.compile(
            r"^[^=≈\d,;，；。:：]{0,30}?(?:=|≈|≅|\bequals?\b|\bmakes?\b|\bgives?\b|等于|合计|共计|总计|共)"
            r"\s*(?:≈|~|约为?|about|roughly|approximately)?[^\d=,;，；。:：]{0,12}$",
            re.IGNORECASE,
        ),
    ),
)
_ABOUT: Final = re.compile(r"≈|≅|~|约|about|roughly|approximately|近", re.IGNORECASE)
_PRODUCTS: Final = {
    ("V", "A"): "W", ("A", "V"): "W", ("W", "s"): "J", ("s", "W"): "J", ("B/s", "s"): "B", ("s", "B/s"): "B", ("FLOP/s", "s"): "FLOP",
    ("T/s", "B"): "B/s",
}  # fmt: skip
_QUOTIENTS: Final = {("FLOP/s", "W"): "FLOP/s/W", ("W", "V"): "A", ("B", "B/s"): "s", ("B", "s"): "B/s", ("J", "s"): "W", ("J", "W"): "s"}


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of an equation: what it comes to, and how it is written."""

    value: float
    unit: str
    text: str
    amounts: tuple[Amount, ...]


class Product:
    """An equation of numbers that are written out."""

    name = "product"
    order = 20

    def find(self, sentence: Sentence) -> Iterator[Found]:
        """Each stretch of numbers that operators join, one of them an equals sign."""
        for amounts, operators in _runs(sentence):
            sides = _sides(amounts, operators)
            for left, right in pairwise(sides):
                if left is None or right is None or max(len(left.amounts), len(right.amounts)) < 2:
                    continue
                if left.unit != right.unit or (_is_ratio(sentence, right) and " / " not in left.text):
                    continue
                work, said = (left, right) if len(left.amounts) >= len(right.amounts) else (right, left)
                about = _ABOUT.search(sentence.between(left.amounts[-1], right.amounts[0])) is not None
                yield _judged(work, said, about)


def _is_ratio(sentence: Sentence, side: _Side) -> bool:
    """Whether a side is written as a ratio to one, "2:1": no product comes to it."""
    colon = len(side.amounts) == 2 and re.search(r"[:：]", sentence.between(side.amounts[0], side.amounts[1])) is not None
    return colon and side.amounts[1].value == 1


def _judged(work: _Side, said: _Side, about: bool) -> Found:
    line = told("product.line", left=work.text, result=shown(work.value, work.unit, 6))
    amounts = (*work.amounts, *said.amounts)
    if len(said.amounts) == 1 and agrees(said.amounts[0], work.value, about=about):
        exact = abs(work.value - said.value) <= 1e-9 * abs(said.value)
        return found("confirmed", line, *(() if exact else (told("product.rounded", said=said.text),)), about=amounts)
    if len(said.amounts) > 1 and abs(work.value - said.value) <= 0.005 * abs(said.value):
        return found("confirmed", line, told("product.other", right=said.text, result=shown(said.value, said.unit, 6)), about=amounts)
    ratio = said.value / work.value if work.value else float("inf")
    return found("refuted", line, told("product.said", said=said.text, ratio=number(ratio, 3)), about=amounts)


def _runs(sentence: Sentence) -> Iterator[tuple[list[Amount], list[str]]]:
    amounts, operators = list[Amount](), list[str]()
    for amount in sentence.amounts:
        operator = _operator(sentence.between(amounts[-1], amount)) if amounts else ""
        if amounts and not operator:
            if "=" in operators and len(amounts) > 2:
                yield amounts, operators
            amounts, operators = [], []
        elif operator == "x" and operators == ["/"] and re.search(r"[:：]", sentence.between(amounts[0], amounts[1])):
            # "Tomahawk 5: 64 x 800G": the colon follows a name, it divides nothing
            amounts, operators = amounts[1:], []
        elif operator == "x" and operators[-1:] == ["/"] and re.search(r"[^\W\d_]", sentence.between(amounts[-2], amounts[-1])):
            # "42 x 400G down / 21 x 400G up": the stroke parts two things
            amounts, operators = amounts[-1:], []
        if amounts:
            operators.append(operator)
        amounts.append(amount)
    if "=" in operators and len(amounts) > 2:
        yield amounts, operators


def _operator(gap: str) -> str:
    return next((name for name, pattern in _OPERATORS if pattern.search(gap)), "")


def _sides(amounts: Sequence[Amount], operators: Sequence[str]) -> list[_Side | None]:
    sides: list[_Side | None] = []
    start = 0
    for i, operator in enumerate([*operators, "="]):
        if operator == "=":
            sides.append(_side(amounts[start : i + 1], operators[start:i]))
            start = i + 1
    return sides


def _side(amounts: Sequence[Amount], operators: Sequence[str]) -> _Side | None:
    """Products and quotients first, then sums; None where the units do not go together."""
    terms: list[tuple[float, str]] = [(amounts[0].value, _unit(amounts[0]))]
    text = amounts[0].text
    for operator, amount in zip(operators, amounts[1:], strict=True):
        text += f" {operator} {amount.text}"
        value, unit = terms[-1]
        if operator == "+":
            terms.append((amount.value, _unit(amount)))
            continue
        joined = _joined(unit, _unit(amount), operator)
        if joined is None or (operator == "/" and amount.value == 0):
            return None
        terms[-1] = (value * amount.value if operator == "x" else value / amount.value, joined)
    units = {unit for _, unit in terms}
    return _Side(sum(value for value, _ in terms), units.pop(), text, tuple(amounts)) if len(units) == 1 else None


def _unit(amount: Amount) -> str:
    return "1" if amount.unit in ("1", "%") else "W" if amount.unit == "VA" else amount.unit


def _joined(a: str, b: str, operator: str) -> str | None:
    if operator == "x":
        return b if a == "1" else a if b == "1" else _PRODUCTS.get((a, b))
    return a if b == "1" else "1" if a == b else _QUOTIENTS.get((a, b))


KINDS: tuple[Kind, ...] = (Product(),)

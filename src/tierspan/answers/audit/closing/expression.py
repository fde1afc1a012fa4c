"""Arithmetic that a line writes out: the values left and right of a sign of equality, in SI, and what they say of direction."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tierspan.answers.audit.closing.amounts import rounding_of
from tierspan.answers.audit.closing.places import same_length
from tierspan.quantities.errors import InputError
from tierspan.quantities.units import parse_quantity

_NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?"
_TOKEN = re.compile(
    rf"(?P<root>√\s?3|sqrt\(3\))|(?<![A-Za-z0-9_.-])(?P<number>{_NUMBER})(?P<unit>\s?(?:%|(?![xX](?:\s|\d|\())[A-Za-zµμ]+(?:/[A-Za-z]+)*))?|(?P<sign>[x×*·✕+/÷()（）−]|\s-\s)|(?P<word>[^\W\d_][\w.-]*|[一-鿿]+)",
    re.IGNORECASE,
)
_LIMIT = re.compile(r"[:：;；。，、|—]|,(?!\d{3}(?!\d))|\.\s|\bi\.e\.|\bso\b|^|\bthat\s+is\b|[\"“”]")
_RIGHT = re.compile(rf"^\s*(?P<about>[~≈≤≥约]|about|roughly)?\s*(?P<number>{_NUMBER})(?P<unit>\s?(?:%|[A-Za-zµμ]+(?:/[A-Za-z]+)*))?", re.IGNORECASE)
_SIGNS = {"x": "*", "X": "*", "×": "*", "·": "*", "✕": "*", "÷": "/", "（": "(", "）": ")", "−": "-"}


@dataclass(frozen=True, slots=True)
class Equation:
    """``left`` and ``right`` in SI; units "1" where a side has none; ``text`` as written; ``tolerance`` the rounding of all its figures."""

    text: str
    left: float
    right: float
    left_unit: str
    right_unit: str
    right_text: str
    tolerance: float
    start: int
    terms: int
    left_words: str
    tail: str


def equations(line: str) -> Iterator[Equation]:
    """The equations of a line of text that can be computed; what cannot is passed over."""
    plain = same_length(line)
    for sign in re.finditer(r"[=＝≈]", plain):
        if plain[sign.end() : sign.end() + 1] in "=>" or plain[sign.start() - 1 : sign.start()] in "<>=!":
            continue
        limits = [m.end() for m in _LIMIT.finditer(plain[: sign.start()])]
        start = max(limits, default=0)
        earlier = re.search(r"[=＝≈]", plain[start : sign.start()])
        if earlier:
            start += earlier.end()
        left = plain[start : sign.start()]
        right = _RIGHT.match(plain[sign.end() :])
        if right is None or plain[sign.end() + right.end() : sign.end() + right.end() + 2].strip()[:1] in ("x", "×", "*", "+"):
            continue
        computed = _value(left)
        result = _figure(right["number"], right["unit"])
        if computed is not None and result is not None and result[1] == "1" and computed[1]:
            computed = _value(left, counts_only=True)
        if computed is None or result is None or computed[2] < 2:
            continue
        about = bool(right["about"]) or sign[0] == "≈"
        tolerance = 0.006 + rounding_of(right[0], about) + computed[3]
        end = sign.end() + right.end()
        tail = re.split(r"[;；。|]|\.\s", plain[end:])[0]
        yield Equation(
            line[start:end].strip(), computed[0], result[0], computed[1], result[1], right[0].strip(), tolerance, start, computed[2], left, tail
        )


def _figure(number: str, unit: str | None) -> tuple[float, str] | None:
    value = float(number.replace(",", ""))
    spelled = (unit or "").strip()
    if not spelled:
        return value, "1"
    if spelled == "%":
        return value / 100.0, "1"
    try:
        found = parse_quantity(f"{value} {spelled}")
    except InputError:
        return value, "1"
    return found.value, found.unit


def _value(text: str, *, counts_only: bool = False) -> tuple[float, str, int, float] | None:
    """Value, unit of the last factor with one, number of figures and their rounding; None where the text is no plain arithmetic."""
    pieces: list[str] = []
    units: list[str] = []
    spread = 0.0
    terms = 0
    for match in _TOKEN.finditer(text):
        if match["root"]:
            pieces.append(str(math.sqrt(3)))
        elif match["number"]:
            found = _figure(match["number"], match["unit"])
            if found is None:
                return None
            if counts_only and found[1] != "1":
                # what the things are of: "8 NICs of 400G"
                while pieces and pieces[-1] in "*+/-":
                    pieces.pop()
                continue
            if pieces and pieces[-1] not in "*+/-(":
                if not re.search(r"(?:(?<!out )\bof|\bat|@|各|每\S?)\s*(?:~|约|about)?\s*$", text[: match.start()]):
                    return None
                pieces.append("*")
            pieces.append(repr(found[0]))
            if found[1] != "1":
                units.append(found[1])
                spread += rounding_of(match["number"])
            terms += 1
        elif match["sign"]:
            sign = _SIGNS.get(match["sign"].strip(), match["sign"].strip())
            if sign in "*/+-" and (not pieces or pieces[-1] in "*/+-("):
                continue
            pieces.append(sign)
    while pieces and pieces[-1] in "*/+-":
        pieces.pop()
    joined = " ".join(pieces)
    if not terms or ("(" in joined and joined.count("(") != joined.count(")")):
        joined = joined.replace("(", "").replace(")", "")
    # an empty pair of brackets comes from words in brackets
    joined = re.sub(r"\(\s*\)", "", joined)
    value = _computed(joined.split())
    if value is None or not math.isfinite(value):
        return None
    return value, units[-1] if len(set(units)) == 1 else "".join(sorted(set(units))), terms, spread


def _computed(tokens: list[str]) -> float | None:
    """The value of numbers, signs and brackets; None where they make no expression."""
    place = 0

    def atom() -> float | None:
        nonlocal place
        if place >= len(tokens):
            return None
        token = tokens[place]
        place += 1
        if token == "(":
            inner = total()
            if place >= len(tokens) or tokens[place] != ")":
                return None
            place += 1
            return inner
        try:
            return float(token)
        except ValueError:
            return None

    def term() -> float | None:
        nonlocal place
        value = atom()
        while value is not None and place < len(tokens) and tokens[place] in "*/":
            sign = tokens[place]
            place += 1
            other = atom()
            if other is None or (sign == "/" and not other):
                return None
            value = value * other if sign == "*" else value / other
        return value

    def total() -> float | None:
        nonlocal place
        value = term()
        while value is not None and place < len(tokens) and tokens[place] in "+-":
            sign = tokens[place]
            place += 1
            other = term()
            if other is None:
                return None
            value = value + other if sign == "+" else value - other
        return value

    found = total()
    return found if place == len(tokens) else None

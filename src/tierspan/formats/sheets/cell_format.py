"""The value of a cell as its workbook shows it: percent, units and scales that only the number format holds."""

from __future__ import annotations

import datetime
import re
from functools import lru_cache

_BRACKET = re.compile(r"\[([^\]]*)\]")
_LITERAL = re.compile(r'"([^"]*)"|\\(.)|_.|\*.')


def shown_value(value: object, number_format: str | None) -> str:
    """A value as text; its digits are all kept, only percent, scale and literal texts of the format are added."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return _number(float(value), number_format or "General") if abs(value) < 1e300 else str(value)
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(" ", "minutes")
    return " ".join(str(value).split())


def _number(value: float, number_format: str) -> str:
    before, after, scale, percent = _parts(number_format[:200], value < 0)
    shown = _digits(value * 100 if percent else value / 1000**scale)
    return f"{before}{shown}{'%' if percent else ''}{after}".strip()


@lru_cache(maxsize=1000)
def _parts(number_format: str, negative: bool) -> tuple[str, str, int, bool]:
    """Texts before and after the digits, thousands left out, and whether it is a percentage."""
    sections = re.split(r';(?=(?:[^"]*"[^"]*")*[^"]*$)', number_format)
    section = sections[1] if negative and len(sections) > 1 else sections[0]
    section = _BRACKET.sub(lambda match: f'"{match[1][1:].partition("-")[0]}"' if match[1].startswith("$") else "", section)
    texts: list[tuple[int, str]] = []

    def keep(match: re.Match[str]) -> str:
        text = match[1] if match[1] is not None else match[2] or ""
        if text:
            texts.append((match.start(), text))
        return "\0" * len(match[0])

    bare = _LITERAL.sub(keep, section)
    places = [match.start() for match in re.finditer(r"[0#?]", bare)]
    if not places:
        return "", "", 0, "%" in bare
    commas = re.match(r",*", bare[places[-1] + 1 :])
    scale = len(commas[0]) if commas else 0
    # Signs that need no quotes: currencies, and the space before a unit.
    texts += [(match.start(), match[0]) for match in re.finditer(r"[$€£¥￥]", bare)]
    before = "".join(text for at, text in sorted(texts) if at < places[0])
    after = "".join(text for at, text in sorted(texts) if at > places[-1])
    if after and " \0" in bare[places[-1] :]:
        after = " " + after
    return before, after, scale, "%" in bare


def _digits(value: float) -> str:
    """All digits that the value has, without an exponent where a person would write none."""
    text = f"{value:.15g}"
    if "e" in text and 1e-9 <= abs(value) < 1e21:
        text = f"{value:.15f}".rstrip("0").rstrip(".") if abs(value) < 1 else f"{value:.0f}"
    return text

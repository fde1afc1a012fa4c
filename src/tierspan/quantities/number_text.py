"""Numbers as people write them: ``1,024``, ``1 024``, ``1.6e3``, full-width digits, ``250 万``."""

from __future__ import annotations

import math
import re
import unicodedata

from tierspan.quantities.errors import InputError, Place

_SPACES = "  \u2009\u202f"
NUMBER = re.compile(
    rf"[-+\u2212]?(?:\d{{1,3}}(?:,\d{{3}})+(?![\d,])|\d{{1,3}}(?:[{_SPACES}]\d{{3}})+(?!\d)|\d+(?:_\d+)*|(?=\.\d))(?:\.\d+)?(?:[eE][-+]?\d+)?"
)
_LEFTOVER = re.compile(r"\s*[.,]\d")
_MULTIPLIERS = {
    "万亿": 1e12, "千亿": 1e11, "百亿": 1e10, "十亿": 1e9, "亿": 1e8, "千万": 1e7, "百万": 1e6, "十万": 1e5, "万": 1e4, "千": 1e3, "百": 1e2,
    "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "mn": 1e6, "bn": 1e9,
}  # fmt: skip
_MULTIPLIER = re.compile("|".join(f"{word}(?![a-z])" if word.isascii() else word for word in _MULTIPLIERS), re.IGNORECASE)


def normalise(text: str) -> str:
    """Full-width forms to plain ones (``４００Ｇ`` to ``400G``, ``／`` to ``/``, ``µ`` to ``μ``), spaces trimmed."""
    return unicodedata.normalize("NFKC", text).strip()


def split_number(text: str, *, place: Place | None = None) -> tuple[float, str]:
    """The number that ``text`` begins with, and what follows it.

    Raises:
        InputError: no number, a decimal comma, or one too large for a float.
    """
    match = NUMBER.match(text)
    if match is None or not match.group():
        raise InputError("units.number_missing", place=place, value=text)
    if _LEFTOVER.match(text, match.end()):
        raise InputError("units.number_unclear", place=place, value=text)
    plain = match.group().replace("\u2212", "-").translate({ord(sign): None for sign in ",_" + _SPACES})
    number = float(plain)
    if not math.isfinite(number):
        raise InputError("units.number_unclear", place=place, value=text)
    return number, text[match.end() :].strip()


def split_multiplier(text: str) -> tuple[float, str]:
    """A leading number word (``million``, ``万``) as a factor, and the rest; factor 1 where there is none."""
    match = _MULTIPLIER.match(text)
    if match is None:
        return 1.0, text
    return _MULTIPLIERS[match.group().lower()], text[match.end() :].strip()

"""Numbers of a sentence with what they count: ``10万卡``, ``160k cards``, ``54 days``, ``1.8 TB/s``, ``7x``, ``30.1 %``, bare ones too.

The figures of a sheet (``formats.figures``) are read for their meaning; a claim needs every number, the bare ones and those with number words too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from tierspan.quantities.errors import InputError
from tierspan.quantities.number_text import normalise
from tierspan.quantities.unit_table import known_symbols
from tierspan.quantities.units import parse_quantity

NOUNS: Final[dict[str, str]] = {
    "accelerator": r"(?:AI\s+)?(?:GPUs?|NPUs?|TPUs?|XPUs?|PPUs?|cards?|chips?|accelerators?|boards?)"
    r"|张加速卡|张卡|块卡|颗芯片|枚芯片|张|颗|卡(?!间)|芯片|加速器",
    "rack": r"racks?|cabinets?|个?机柜|个?柜",
    "node": r"servers?|nodes?|hosts?|boxes|台服务器|个?节点|台",
    "set": r"sets?|(?:super[\s-]?)?pods?|super[\s-]?nodes?|systems?|units?|套(?:系统|超节点|设备)?|个?超节点",
    "event": r"(?:unexpected\s+|unplanned\s+)?(?:job\s+)?(?:interruptions?|failures?|interrupts?|incidents?|faults?|crashes|errors?)"
    r"|次(?:意外)?(?:中断|故障|失败)|起故障|次",
    "token": r"tokens?|tok|个?词元",
    "parameter": r"parameters?|params?|个?参数",
    "times": r"[x×](?!\s*\d|\w|\.)|[-\s]?fold\b|times(?![\w])|倍",
    "user": r"(?:concurrent\s+)?users?|并发|个?用户",
    "link": r"links?|lanes?|ports?|条链路|路|个?端口|口",
}
"""What a claim counts; the first that fits is taken."""
_SCALE: Final = (
    r"(?:\s?(?P<word>万亿|千亿|百亿|十亿|亿|千万|百万|十万|万|千(?!瓦|卡|米|克|兆)|thousand\b|million\b|billion\b|trillion\b)"
    r"|(?P<letter>(?-i:[kKMBTb]))(?![A-Za-z0-9/]))"
)
_FACTORS: Final = {
    "万亿": 1e12, "千亿": 1e11, "百亿": 1e10, "十亿": 1e9, "亿": 1e8, "千万": 1e7, "百万": 1e6, "十万": 1e5, "万": 1e4, "千": 1e3,
    "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "b": 1e9, "T": 1e12,
}  # fmt: skip
_NUMBER: Final = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d{1,18}(?!\d))(?:\.\d+)?(?:[eE][+-]?\d{1,2}(?![A-Za-z0-9]))?"
_WORDS: Final = {
    "twice": 2.0, "double": 2.0, "half": 0.5, "triple": 3.0, "three times": 3.0, "four times": 4.0, "ten times": 10.0, "two times": 2.0,
    "两倍": 2.0, "二倍": 2.0, "三倍": 3.0, "四倍": 4.0, "五倍": 5.0, "六倍": 6.0, "七倍": 7.0, "八倍": 8.0, "九倍": 9.0, "十倍": 10.0,
    "百倍": 100.0, "一半": 0.5, "翻倍": 2.0,
}  # fmt: skip
_COUNTED: Final = {"万卡": 1e4, "十万卡": 1e5, "百万卡": 1e6, "千卡": 1e3}
_THINGS: Final = (
    "x 1 卡 张 张卡 块 台 个 套 节点 参数 parameters params cards chips GPU GPUs NPU NPUs TPUs XPUs dies nodes systems racks servers token tokens "
    "tok toks 词元 endpoints modules links lanes ports switches hops accelerators"
)
_LEFT_OUT: Final = frozenset(_THINGS.split())
"""Symbols of the unit table that are things here."""
_OWN: Final = {
    "GB/sec": "GB/s", "TB/sec": "TB/s", "tokens/sec": "tokens/s", "tok/s": "tokens/s", "token/s": "tokens/s", "TPS": "tokens/s",
    "PFlops": "PFLOPS", "TFlops": "TFLOPS", "P": "PFLOPS",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Amount:
    """A number: ``value`` in ``unit`` (SI; "1" for counts, "%" as a share), ``noun`` what it counts ("" for none), where it stands in the sentence.

    ``step`` is the size of its last written digit in the same unit: what rounding may hide. ``per`` tells "per GPU" and the like behind a rate.
    """

    index: int
    start: int
    end: int
    text: str
    value: float
    unit: str
    noun: str
    step: float
    per: str = ""

    @property
    def count(self) -> bool:
        """Whether it counts things or stands bare."""
        return self.unit == "1" and self.noun != "times"


@cache
def _units() -> str:
    words = [s for s in (*known_symbols(), *_OWN) if (s not in _LEFT_OUT and len(s) > 1) or s in "WVAshdP秒天度"]
    return "|".join(re.escape(w) + ("(?![A-Za-z0-9])" if w[-1].isascii() and w[-1].isalpha() else "") for w in sorted(words, key=len, reverse=True))


@cache
def _pattern() -> re.Pattern[str]:
    nouns = "|".join(f"(?P<{name}>{pattern}{'(?![A-Za-z])' if name != 'times' else ''})" for name, pattern in NOUNS.items())
    words = "|".join(rf"\b{w}\b" if w.isascii() else w for w in sorted(_WORDS, key=len, reverse=True))
    counted = "|".join(sorted(_COUNTED, key=len, reverse=True))
    unit = rf"(?P<unit>(?:{_units()})(?:/(?:s|sec|W|秒|h|GPU|卡|user|用户)(?![A-Za-z])){{0,2}})"
    return re.compile(
        rf"(?P<spelled>{words})|(?<![\d.])(?P<cards>{counted})"
        rf"|(?<![A-Za-z0-9_.,])(?<![A-Za-z]-)(?<![^\d\s)]/)(?P<number>{_NUMBER})(?P<scale>{_SCALE})?"
        rf"(?:\s?-?(?P<percent>%|per\s?cent|个百分点)|\s?-?{unit}|\s?-?(?:{nouns}))?",
        re.IGNORECASE,
    )


_PER: Final = re.compile(
    r"^\s?(?:/|per|each|every|a|每个?|每张?)\s?(?P<what>GPU|card|chip|accelerator|NPU|user|request|stream|卡|用户|路|node|server|rack|台|柜)",
    re.IGNORECASE,
)
_PER_BEFORE: Final = re.compile(
    r"(?P<what>单卡|每卡|每张卡|每GPU|单用户|每用户|per[\s-]GPU|per[\s-]user|每台|单台|每柜|单柜)[^,，;；。]{0,12}$", re.IGNORECASE
)


def amounts_of(text: str, blanked: Sequence[tuple[int, int]] = ()) -> tuple[Amount, ...]:
    """The numbers of a sentence from left to right; ``blanked`` are the places of names, whose digits are no numbers."""
    plain = "".join(c if len(n := normalise(c)) != 1 else n for c in text)
    for start, end in blanked:
        plain = plain[:start] + "\x00" * (end - start) + plain[end:]
    found: list[Amount] = []
    for match in _pattern().finditer(plain):
        made = _amount(plain, match, len(found))
        # nothing can be said of a zero, and everything is divided by something
        if made is not None and made.value > 0 and math.isfinite(made.value):
            found.append(made)
    return tuple(found)


def _amount(plain: str, match: re.Match[str], index: int) -> Amount | None:
    start, end = match.span()
    text = plain[start:end].strip()
    if match["spelled"]:
        return Amount(index, start, end, text, _WORDS[match["spelled"].lower()], "1", "times", 0.0)
    if match["cards"]:
        return Amount(index, start, end, text, _COUNTED[match["cards"]], "1", "accelerator", 0.0)
    value = float(match["number"].replace(",", ""))
    if plain[start - 1 : start] == "√":
        value = math.sqrt(value)
    factor = _FACTORS[match["word"].lower() if match["word"] else match["letter"]] if match["scale"] else 1.0
    step = _last_digit(match["number"]) * factor
    per = _per(plain, start, end)
    if match["percent"]:
        return Amount(index, start, end, text, value / 100.0, "%", "percent", step / 100.0, per)
    if match["unit"]:
        made = _with_unit(value * factor, match["unit"])
        if made is None:
            return None
        si, unit, scale = made
        return Amount(index, start, end, text, si, unit, "", step * scale, per or _per(match["unit"].lower() + " ", 0, 0))
    noun = next((name for name in NOUNS if match[name]), "")
    if not noun and match["letter"] in ("B", "b", "T"):
        noun = "token" if match["letter"] == "T" else "parameter"
    return Amount(index, start, end, text, value * factor, "1", noun, step, per)


def _with_unit(value: float, unit: str) -> tuple[float, str, float] | None:
    head = re.sub(r"/(?:GPU|卡|user|用户)$", "", unit, flags=re.IGNORECASE)
    try:
        one = parse_quantity(f"1 {_OWN.get(head, head)}")
    except InputError:
        return None
    return value * one.value, one.unit, one.value


def _per(plain: str, start: int, end: int) -> str:
    found = _PER.match(plain[end : end + 24]) or _PER_BEFORE.search(plain[max(0, start - 24) : start])
    what = found["what"].lower() if found else ""
    if re.search(r"user|request|stream|用户|路", what):
        return "user"
    if re.search(r"node|server|台", what):
        return "node"
    if re.search(r"rack|柜", what):
        return "rack"
    return "accelerator" if what else ""


def _last_digit(number: str) -> float:
    """The size of the last digit that is written, zeros at the end of a whole number not counted."""
    plain = number.replace(",", "")
    mantissa, _, power = plain.lower().partition("e")
    whole, _, part = mantissa.partition(".")
    size = 10.0 ** -len(part) if part else 10.0 ** (len(whole) - len(whole.rstrip("0")))
    return size * 10.0 ** (int(power) if power else 0)


def agrees(said: Amount, calculated: float, *, about: bool = False) -> bool:
    """Whether a printed number can stand for a calculated one: rounded or cut at its last digit, within 5 %; ``about`` allows 5 % outright."""
    if not math.isfinite(calculated) or said.value == 0:
        return calculated == said.value
    off = abs(calculated - said.value)
    relative = off / abs(calculated) if calculated else math.inf
    if relative <= 0.05 and (about or off < said.step * (1.0 + 1e-9)):
        return True
    return off <= 1e-9 * abs(calculated)

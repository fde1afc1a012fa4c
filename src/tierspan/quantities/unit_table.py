"""The unit symbols of the field and what each can mean.

Case decides first (``b`` bit, ``B`` byte, ``m`` milli, ``M`` mega). A spelling that only fits with another case, or a bare
prefix (``400G``), gives every reading it allows, the likeliest first, each other one with the id of the reason.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache

DECIMAL = {"p": 1e-12, "n": 1e-9, "u": 1e-6, "μ": 1e-6, "m": 1e-3, "": 1.0}
DECIMAL |= {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18, "Z": 1e21}
BINARY = {"Ki": 2.0**10, "ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50, "Ei": 2.0**60}
LONG = {"": 1.0, "kilo": 1e3, "mega": 1e6, "giga": 1e9, "tera": 1e12, "peta": 1e15, "exa": 1e18}
LONG |= {"kibi": 2.0**10, "mebi": 2.0**20, "gibi": 2.0**30, "tebi": 2.0**40}
CHINESE = {"": 1.0, "皮": 1e-12, "纳": 1e-9, "微": 1e-6, "毫": 1e-3, "千": 1e3, "兆": 1e6, "吉": 1e9, "太": 1e12, "拍": 1e15, "艾": 1e18}

BARE = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "g": 1e9, "T": 1e12, "t": 1e12, "P": 1e15, "E": 1e18}
_UPRIGHT = {"g": "G", "t": "T", "K": "k"}
BIT, BYTE = 0.125, 1.0
HOUR, DAY = 3600.0, 86400.0
POUND_KG = 0.45359237

REASON_CASE = "units.reading.case"
REASON_BARE = "units.reading.bare_prefix"
REASON_BILLION = "units.reading.billion"


@dataclass(frozen=True, slots=True)
class UnitReading:
    """One meaning of a unit spelling: SI ``unit``, ``factor`` to it, ``root`` (the factor without prefix), ``symbol`` as it should be written."""

    unit: str
    factor: float
    root: float
    symbol: str
    reason_id: str = ""


def _prefixes(text: str) -> dict[str, float]:
    return {letter: DECIMAL[letter] for letter in ["", *text]}


_DATA = {**_prefixes("kKMGTPEZ"), **BINARY}
_BIG = _prefixes("kKMGTPEZ")
_ELECTRIC = _prefixes("pnuμmkKMGTPEZ")
_TIME = _prefixes("pnuμm")
_NONE = {"": 1.0}

# (spellings, SI unit, factor of the root, prefixes)
_ROOTS: tuple[tuple[tuple[str, ...], str, float, dict[str, float]], ...] = (
    (("b", "bit", "bits", "Bit", "Bits"), "B", BIT, _DATA),
    (("B", "byte", "bytes", "Byte", "Bytes"), "B", BYTE, _DATA),
    (("bps",), "B/s", BIT, _DATA),
    (("Bps",), "B/s", BYTE, _DATA),
    (("bit", "bits"), "B", BIT, LONG),
    (("byte", "bytes"), "B", BYTE, LONG),
    (("比特", "位"), "B", BIT, CHINESE),
    (("字节",), "B", BYTE, CHINESE),
    (("FLOP", "OP"), "FLOP", 1.0, _BIG),
    (("FLOPS", "FLOPs", "OPS", "OPs"), "FLOP/s", 1.0, _BIG),
    (("F",), "FLOP/s", 1.0, {letter: DECIMAL[letter] for letter in "GTPE"}),
    (("flops",), "FLOP/s", 1.0, LONG),
    (("浮点运算", "次浮点运算"), "FLOP", 1.0, CHINESE),
    (("Hz",), "Hz", 1.0, _BIG),
    (("hertz",), "Hz", 1.0, LONG),
    (("赫兹", "赫"), "Hz", 1.0, CHINESE),
    (("W",), "W", 1.0, _ELECTRIC),
    (("watt", "watts"), "W", 1.0, LONG),
    (("瓦", "瓦特"), "W", 1.0, CHINESE),
    (("VA",), "VA", 1.0, _BIG),
    (("伏安",), "VA", 1.0, CHINESE),
    (("J",), "J", 1.0, _ELECTRIC),
    (("焦", "焦耳"), "J", 1.0, CHINESE),
    (("Wh",), "J", HOUR, _ELECTRIC),
    (("瓦时",), "J", HOUR, CHINESE),
    (("度", "度电"), "J", 1e3 * HOUR, _NONE),
    (("s", "sec", "secs", "second", "seconds"), "s", 1.0, _TIME),
    (("秒",), "s", 1.0, CHINESE),
    (("microsecond", "microseconds"), "s", 1e-6, _NONE),
    (("millisecond", "milliseconds"), "s", 1e-3, _NONE),
    (("nanosecond", "nanoseconds"), "s", 1e-9, _NONE),
    (("min", "minute", "minutes", "分钟"), "s", 60.0, _NONE),
    (("h", "hr", "hrs", "hour", "hours", "小时"), "s", HOUR, _NONE),
    (("d", "day", "days", "天"), "s", DAY, _NONE),
    (("year", "years", "yr", "年"), "s", 365 * DAY, _NONE),
    (("A", "amp", "amps"), "A", 1.0, _prefixes("pnuμmk")),
    (("安", "安培"), "A", 1.0, CHINESE),
    (("V", "volt", "volts"), "V", 1.0, _prefixes("pnuμmk")),
    (("伏", "伏特"), "V", 1.0, CHINESE),
    (("g",), "kg", 1e-3, _prefixes("mk")),
    (("gCO2", "gCO2e", "gCO2eq"), "kg", 1e-3, _prefixes("k")),
    (("tCO2", "tCO2e", "tCO2eq", "tonne", "tonnes", "吨"), "kg", 1e3, _NONE),
    (("t",), "kg", 1e3, _NONE),
    (("千克", "公斤", "kgs"), "kg", 1.0, _NONE),
    (("lb", "lbs", "pound", "pounds", "磅"), "kg", POUND_KG, _NONE),
    (("m", "metre", "metres", "meter", "meters"), "m", 1.0, {**_prefixes("pnuμmk"), "c": 1e-2}),
    (("米",), "m", 1.0, CHINESE),
    (("公里",), "m", 1e3, _NONE),
    (("ft",), "m", 0.3048, _NONE),
    (("m2", "m^2", "平方米"), "m2", 1.0, _NONE),
    (("GT",), "T", 1e9, _NONE),
    (("MT",), "T", 1e6, _NONE),
    (("pps",), "packet/s", 1.0, _BIG),
    (("packet", "packets"), "packet", 1.0, _BIG),
    (("token", "tokens", "tok", "toks", "词元"), "token", 1.0, _NONE),
    (("req", "request", "requests"), "request", 1.0, _NONE),
    (("dB",), "dB", 1.0, _NONE),
    (("%", "percent", "per cent"), "1", 1e-2, _NONE),
    (("1",), "1", 1.0, _NONE),
    (("$", "USD", "US$", "dollar", "dollars", "美元"), "USD", 1.0, _NONE),
    (("¥", "CNY", "RMB", "元", "人民币"), "CNY", 1.0, _NONE),
    (("€", "EUR", "欧元"), "EUR", 1.0, _NONE),
    (("GPU", "GPUs", "NPU", "NPUs", "TPUs", "XPUs", "card", "cards", "chips", "accelerators", "dies", "卡", "张", "张卡", "块"), "1", 1.0, _NONE),
    (
        (
            "endpoints",
            "modules",
            "systems",
            "hops",
            "nodes",
            "servers",
            "racks",
            "links",
            "lanes",
            "ports",
            "switches",
            "parameters",
            "params",
            "台",
            "个",
            "套",
            "参数",
            "节点",
        ),
        "1",
        1.0,
        _NONE,
    ),
)


@cache
def _exact() -> dict[str, UnitReading]:
    table: dict[str, UnitReading] = {}
    for spellings, unit, root, prefixes in _ROOTS:
        for spelling in spellings:
            for prefix, scale in prefixes.items():
                table.setdefault(prefix + spelling, UnitReading(unit, scale * root, root, prefix + spelling))
    return table


@cache
def _relaxed() -> dict[str, tuple[UnitReading, ...]]:
    table: dict[str, list[UnitReading]] = {}
    for symbol, reading in _exact().items():
        same_case = table.setdefault(symbol.casefold(), [])
        if all((reading.unit, reading.factor) != (other.unit, other.factor) for other in same_case):
            same_case.append(reading)
    return {symbol: tuple(readings) for symbol, readings in table.items()}


def known_symbols() -> Iterable[str]:
    """Every spelling of a simple unit, and the usual rates, for suggestions."""
    yield from _exact()
    for prefix in "kMGTP":
        yield from (f"{prefix}{root}/s" for root in ("b", "B", "bit", "FLOP"))
    yield from ("GT/s", "GiB/s", "tokens/s")


def read_unit(text: str) -> tuple[UnitReading, ...]:
    """All readings of a unit such as ``GB/s``, ``gCO2/kWh`` or ``400G``'s ``G``, the likeliest first; empty where none is known."""
    numerator, *denominators = text.split("/")
    if not denominators and numerator in {"b", "B", *BARE}:
        return tuple(_bare(numerator))
    if numerator in BARE and [(below.unit, below.factor) for name in denominators for below in _atom(name)] == [("s", 1.0)]:
        return _bare_rates(numerator)
    readings = list(_atom(numerator))
    for denominator in denominators:
        readings = [_divide(reading, below) for reading in readings for below in _atom(denominator)[:1]]
    return tuple(_likeliest_first(readings))


def root_symbol(reading: UnitReading) -> str:
    """The symbol without its prefix: ``b/s`` of ``Gb/s``; empty for a plain number."""
    symbol, scale = reading.symbol, reading.factor / reading.root
    for prefix, size in {**BINARY, **DECIMAL}.items():
        if prefix and symbol.startswith(prefix) and math.isclose(scale, size):
            return symbol[len(prefix) :]
    return "" if symbol == "1" else symbol


def _atom(symbol: str) -> tuple[UnitReading, ...]:
    exact = _exact().get(symbol)
    if exact is not None:
        return (exact,)
    found = _relaxed().get(symbol.casefold(), ())
    ranked = sorted(found, key=lambda reading: sum(a != b for a, b in zip(symbol, reading.symbol, strict=False)))
    return tuple(replace(reading, reason_id=REASON_CASE) for reading in ranked)


def _divide(above: UnitReading, below: UnitReading) -> UnitReading:
    symbol = f"{above.symbol}/{below.symbol}"
    if above.unit == "FLOP/s" and below.unit == "s":  # "TFLOPS/s" says the second twice
        return replace(above, symbol=symbol)
    return UnitReading(f"{above.unit}/{below.unit}", above.factor / below.factor, above.root / below.root, symbol, above.reason_id)


def _likeliest_first(readings: list[UnitReading]) -> list[UnitReading]:
    """Data rates keep the order of the fewest changed letters; elsewhere the larger unit is meant (``80gb``, ``3 mw``)."""
    return readings if all(reading.unit == "B/s" for reading in readings) else sorted(readings, key=lambda reading: -reading.factor)


def _bare_rates(symbol: str) -> tuple[UnitReading, UnitReading]:
    scale, letter = BARE[symbol], _UPRIGHT.get(symbol, symbol)
    bits = UnitReading("B/s", scale * BIT, BIT, f"{letter}b/s", REASON_BARE)
    return bits, UnitReading("B/s", scale, BYTE, f"{letter}B/s", REASON_BARE)


def _bare(symbol: str) -> Iterator[UnitReading]:
    """A prefix that stands alone: the unit was left out."""
    if symbol in {"b", "B"}:
        yield UnitReading("1", 1e9, 1.0, "billion", REASON_BILLION)
        yield replace(_exact()[symbol], reason_id=REASON_BILLION)
        return
    scale, letter, rates = BARE[symbol], _UPRIGHT.get(symbol, symbol), _bare_rates(symbol)
    size = UnitReading("B", scale, BYTE, f"{letter}B", REASON_BARE)
    count = UnitReading("1", scale, 1.0, {"k": "thousand", "M": "million", "T": "trillion"}.get(letter, ""), REASON_BARE)
    flops = UnitReading("FLOP/s", scale, 1.0, f"{letter}FLOP/s", REASON_BARE)
    yield from {"k": (count, size), "M": (count, size), "G": (*rates, size), "T": (*rates, size, flops, count)}.get(letter, (flops, size, *rates))
    if symbol in {"g", "t"}:  # gram and tonne
        yield replace(_exact()[symbol], reason_id=REASON_BARE)

"""SI values to text: a sensible prefix, few digits, English or Chinese."""

from __future__ import annotations

import math

_UP = ("", "k", "M", "G", "T", "P", "E", "Z")
_DOWN = ("", "m", "µ", "n", "p")
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_COUNT = ((1e12, "T"), (1e9, "B"), (1e6, "M"))
_COUNT_ZH = ((1e12, "万亿"), (1e8, "亿"), (1e4, "万"))
_SCALED_UP = frozenset({"Hz", "T/s", "VA", "packet/s"})
_HEADS = frozenset({"B", "FLOP", "W", "J"})
_SCALED_DOWN = frozenset({"s", "W", "J", "A", "V", "m"})
_CURRENCIES = frozenset({"USD", "CNY", "EUR"})
_DURATIONS = ((2 * 86400.0, 86400.0, "d", "天"), (2 * 3600.0, 3600.0, "h", "小时"), (120.0, 60.0, "min", "分钟"))


def format_number(value: float, digits: int = 3) -> str:
    """``value`` with ``digits`` significant digits, without trailing zeros; all digits before the point are kept, in groups of three."""
    if not math.isfinite(value):
        return str(value)
    rounded = _round(value, digits)
    if rounded != 0 and not 1e-4 <= abs(rounded) < 1e15:
        return f"{rounded:.{digits}g}"
    decimals = 0 if rounded == 0 else max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    text = f"{rounded:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_quantity(value_si: float, unit: str, *, lang: str = "en", digits: int = 3, prefix: str = "auto", bits: bool = False) -> str:
    """An SI value for people: ``450 GB/s``, ``400 Gb/s`` (``bits``), ``989 TFLOP/s``, ``12.3 µs``, ``3.4 h``.

    ``prefix``: ``"auto"``, or a fixed one such as ``"G"``, ``"Gi"`` or ``""``.
    """
    if bits and unit in {"B", "B/s"}:
        value_si, unit = value_si * 8, "b" + unit[1:]
    if unit == "1":
        whole = math.isfinite(value_si) and value_si == int(value_si)
        return format_number(value_si, max(digits, 15) if whole else digits)
    if not math.isfinite(value_si):
        return f"{value_si} {unit}"
    if unit in _CURRENCIES and prefix == "auto":
        return f"{format_count(value_si, digits=digits)} {unit}"
    if prefix != "auto":
        return f"{format_number(value_si / _factor(prefix), digits)} {prefix}{unit}"
    if unit == "s":
        return format_duration(value_si, lang=lang, digits=digits)
    number, letter = _scale(value_si, unit, digits)
    return f"{format_number(number, digits)} {letter}{unit}"


def format_duration(seconds: float, *, lang: str = "en", digits: int = 3) -> str:
    """A time: below two minutes in (parts of) seconds, else minutes, hours or days."""
    size = abs(seconds)
    for start, length, name, name_zh in _DURATIONS:
        if size >= start and math.isfinite(size):
            return f"{format_number(seconds / length, digits)} {name_zh if lang == 'zh' else name}"
    number, letter = _scale(seconds, "s", digits)
    unit = f"{letter}s" if letter or lang != "zh" else "秒"
    return f"{format_number(number, digits)} {unit}"


def format_bytes(size: float, *, binary: bool = False, digits: int = 3) -> str:
    """A size: ``80 GB``, or ``74.5 GiB`` where ``binary``."""
    if not binary or not math.isfinite(size):
        return format_quantity(size, "B", digits=digits)
    step = 0
    while step + 1 < len(_BINARY) and abs(_round(size / 1024.0**step, max(digits, 4))) >= 1024:
        step += 1
    return f"{format_number(size / 1024.0**step, max(digits, 4) if abs(size) >= 1000 * 1024.0**step else digits)} {_BINARY[step]}B"


def format_count(count: float, *, lang: str = "en", digits: int = 3) -> str:
    """A count: ``8.03 B`` (billions), ``12.5 M``, ``1,024``; in Chinese ``80.3 亿``."""
    for size, name in _COUNT_ZH if lang == "zh" else _COUNT:
        if math.isfinite(count) and abs(_round(count / size, digits)) >= 1:
            return f"{format_number(count / size, digits)} {name}"
    return format_number(count, max(digits, 7))


def _round(value: float, digits: int) -> float:
    return float(f"{value:.{digits - 1}e}")


def _scale(value: float, unit: str, digits: int) -> tuple[float, str]:
    """The number in front of the fitting prefix; rounding may carry into the next prefix (999.9 to 1 k)."""
    size = abs(_round(value, digits))
    head = unit.partition("/")[0].replace("b", "B")
    if size >= 1000 and (unit in _SCALED_UP or head in _HEADS):
        step = min(math.floor(math.log10(size) / 3 + 1e-12), len(_UP) - 1)
        return value / 1000.0**step, _UP[step]
    if 0 < size < 1 and head in _SCALED_DOWN:
        step = min(-math.floor(math.log10(size) / 3 + 1e-12), len(_DOWN) - 1)
        return value * 1000.0**step, _DOWN[step]
    return value, ""


def _factor(prefix: str) -> float:
    if prefix in _BINARY:
        return 1024.0 ** _BINARY.index(prefix)
    if prefix in _UP:
        return 1000.0 ** _UP.index(prefix)
    return 1000.0 ** -_DOWN.index(prefix.replace("u", "µ"))

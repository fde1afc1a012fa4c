"""SI to text, and back."""

from __future__ import annotations

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierspan.quantities.errors import InputError
from tierspan.quantities.units import format_bytes, format_count, format_duration, format_quantity, parse_as, parse_quantity, per_direction_Bps

POSITIVE = st.floats(1e-9, 1e20)
DECIMAL = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}


@pytest.mark.parametrize(
    ("value", "unit", "options", "text"),
    [
        (450e9, "B/s", {}, "450 GB/s"),
        (50e9, "B/s", {}, "50 GB/s"),
        (50e9, "B/s", {"bits": True}, "400 Gb/s"),
        (80e9, "B", {}, "80 GB"),
        (989e12, "FLOP/s", {}, "989 TFLOP/s"),
        (12.3e-6, "s", {}, "12.3 µs"),
        (1200, "W", {}, "1.2 kW"),
        (12240, "s", {}, "3.4 h"),
        (12240, "s", {"lang": "zh"}, "3.4 小时"),
        (999.96e9, "B/s", {}, "1 TB/s"),
        (999.4e9, "B/s", {}, "999 GB/s"),
        (0, "W", {}, "0 W"),
        (-1200, "W", {}, "-1.2 kW"),
        (1234.5, "m", {}, "1,230 m"),
        (1234.5, "m", {"digits": 5}, "1,234.5 m"),
        (0.4137, "1", {}, "0.414"),
        (165888, "1", {}, "165,888"),
        (32e9, "T/s", {}, "32 GT/s"),
        (2.5e6, "USD", {}, "2.5 M USD"),
        (5.2e12, "FLOP/s/W", {}, "5.2 TFLOP/s/W"),
        (450e9, "B/s", {"prefix": "Gi"}, "419 GiB/s"),
        (0.45e12, "B/s", {"prefix": "G"}, "450 GB/s"),
        (2e-3, "s", {"prefix": "u"}, "2,000 us"),
        (math.nan, "B", {}, "nan B"),
        (math.inf, "s", {}, "inf s"),
    ],
)
def test_format_quantity(value, unit, options, text):
    assert format_quantity(value, unit, **options) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(3e-9, "3 ns"), (0.25, "250 ms"), (1, "1 s"), (119, "119 s"), (120, "2 min"), (7200, "2 h"), (86400, "24 h"), (54 * 86400, "54 d"), (0, "0 s")],
)
def test_format_duration(seconds, text):
    assert format_duration(seconds) == text


def test_format_bytes_and_count():
    assert format_bytes(80e9) == "80 GB"
    assert format_bytes(80e9, binary=True) == "74.5 GiB"
    assert format_bytes(1023.9999, binary=True) == "1 KiB"
    assert format_bytes(2**20, binary=True) == "1 MiB"
    assert format_count(8030261248) == "8.03 B"
    assert format_count(8030261248, lang="zh") == "80.3 亿"
    assert format_count(16384) == "16,384"
    assert format_count(12.5e6) == "12.5 M"
    assert format_count(1.04e12) == "1.04 T"


@given(value=POSITIVE, unit=st.sampled_from(["B/s", "B", "FLOP/s", "W", "s", "Hz", "J", "FLOP", "USD", "A", "V", "m"]))
def test_print_then_parse_returns_the_value(value, unit):
    if unit == "s" and value > 1e12:
        value = 1e12
    text = format_quantity(value, unit, digits=6)
    if "e" in text.lower() and unit != "FLOP":
        return
    quantity = parse_as(text, unit)  # the unit is named because "1 B" alone can be a billion
    assert quantity.value == pytest.approx(value, rel=1e-5)
    assert not quantity.ambiguous


@given(value=st.floats(1, 1e20))
def test_print_as_bits_then_parse(value):
    assert parse_quantity(format_quantity(value, "B/s", bits=True, digits=6)).value == pytest.approx(value, rel=1e-5)


@given(value=st.integers(1, 10**15), lang=st.sampled_from(["en", "zh"]))
def test_count_round_trip(value, lang):
    assert parse_as(format_count(value, lang=lang), "1").value == pytest.approx(value, rel=5e-3)


@given(
    number=st.floats(1e-3, 1e6), prefix=st.sampled_from(sorted(DECIMAL)), root=st.sampled_from(["b/s", "B/s", "bps", "Bps", "FLOP/s", "W", "Hz", "J"])
)
def test_prefixes_only_scale(number, prefix, root):
    assert parse_quantity(f"{number!r} {prefix}{root}").value == pytest.approx(
        parse_quantity(f"{number!r} {root}").value * DECIMAL[prefix], rel=1e-12
    )


@given(number=st.floats(1e-3, 1e6), prefix=st.sampled_from([*DECIMAL, "Ki", "Gi"]), rate=st.sampled_from(["/s", "ps", " per second"]))
def test_eight_bits_are_a_byte(number, prefix, rate):
    if prefix == "" and rate == " per second":
        prefix = "G"
    bits, octets = parse_quantity(f"{number * 8!r} {prefix}b{rate}"), parse_quantity(f"{number!r} {prefix}B{rate}")
    assert bits.value == pytest.approx(octets.value, rel=1e-12)
    assert bits.unit == octets.unit == "B/s"


@given(number=st.floats(1e-3, 1e6))
def test_both_directions_are_twice_one(number):
    both, one = (per_direction_Bps(parse_quantity(f"{number!r} GB/s {word}")) for word in ("bidirectional", "unidirectional"))
    assert 2 * both == pytest.approx(one, rel=1e-12)


@given(text=st.text(max_size=60))
def test_any_text_gives_a_quantity_or_an_input_error(text):
    with contextlib.suppress(InputError):
        assert math.isfinite(parse_quantity(text).value)

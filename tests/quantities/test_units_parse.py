"""One figure as text to SI: spellings, qualifiers, what is ambiguous, what is refused."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tierspan.quantities import messages
from tierspan.quantities.errors import InputError, Place, UnknownNameError
from tierspan.quantities.units import parse_as, parse_quantity, per_direction_Bps

CERTAIN = [
    # What general unit libraries misread: bits are not gilberts, transfers not teslas.
    ("400 Gb/s", 50e9, "B/s"),
    ("2 GT/s", 2e9, "T/s"),
    ("400 Gbps", 50e9, "B/s"),
    ("7.2 Tbps", 0.9e12, "B/s"),
    ("3.2 TBps", 3.2e12, "B/s"),
    ("989 TFLOPS", 989e12, "FLOP/s"),
    ("989 TFLOP/s", 989e12, "FLOP/s"),
    ("53 gCO2e/kWh", 0.053 / 3.6e6, "kg/J"),
    ("3 $/h", 3 / 3600, "USD/s"),
    ("900 GB/s", 900e9, "B/s"),
    ("900 GiB/s", 900 * 2**30, "B/s"),
    ("0.5 us", 0.5e-6, "s"),
    ("0.5 µs", 0.5e-6, "s"),
    ("0.5 μs", 0.5e-6, "s"),
    ("80 GB", 80e9, "B"),
    # Bit and byte.
    ("400 Gbit/s", 50e9, "B/s"),
    ("400 gigabits per second", 50e9, "B/s"),
    ("900 gigabytes per second", 900e9, "B/s"),
    ("900 GBytes/s", 900e9, "B/s"),
    ("800 GB/sec", 800e9, "B/s"),
    ("8 Tb/s", 1e12, "B/s"),
    ("192Gb", 24e9, "B"),
    ("64 KiB", 65536, "B"),
    ("1 KB", 1000, "B"),
    ("141GB", 141e9, "B"),
    # Operations.
    ("1.4 PFLOPs", 1.4e15, "FLOP/s"),
    ("1.4 PFLOPs/s", 1.4e15, "FLOP/s"),
    ("512 TOPS", 512e12, "FLOP/s"),
    ("10 PF", 10e15, "FLOP/s"),
    ("1979 TF", 1979e12, "FLOP/s"),
    ("5e21 FLOP", 5e21, "FLOP"),
    ("5.2 TFLOPS/W", 5.2e12, "FLOP/s/W"),
    # Power, energy, time, the room.
    ("1.2kW", 1200, "W"),
    ("20 MW", 20e6, "W"),
    ("20 mW", 0.02, "W"),
    ("15 kVA", 15e3, "VA"),
    ("100 kWh", 3.6e8, "J"),
    ("5 pJ/bit", 40e-12, "J/B"),
    ("1.98 GHz", 1.98e9, "Hz"),
    ("12 ms", 0.012, "s"),
    ("130 ns", 130e-9, "s"),
    ("54 days", 54 * 86400, "s"),
    ("30 min", 1800, "s"),
    ("32 A", 32, "A"),
    ("415V", 415, "V"),
    ("1,360 kg", 1360, "kg"),
    ("3000 lb", 1360.77711, "kg"),
    ("100 m", 100, "m"),
    ("10 km", 1e4, "m"),
    ("4.9 ns/m", 4.9e-9, "s/m"),
    ("38%", 0.38, "1"),
    ("1024 GPUs", 1024, "1"),
    # Money.
    ("$2.5M", 2.5e6, "USD"),
    ("2 M USD", 2e6, "USD"),
    ("1.5 million USD", 1.5e6, "USD"),
    ("￥２５０万", 2.5e6, "CNY"),
    ("$30k", 30e3, "USD"),
    # Chinese.
    ("每秒 400 吉比特", 50e9, "B/s"),
    ("400 吉比特每秒", 50e9, "B/s"),
    ("900 GB 每秒", 900e9, "B/s"),
    ("10 万卡", 1e5, "1"),
    ("5 兆瓦", 5e6, "W"),
    ("20千瓦", 20e3, "W"),
    ("10 微秒", 10e-6, "s"),
    ("３００　千瓦", 300e3, "W"),
    ("每秒 3 太字节", 3e12, "B/s"),
    ("两万卡".replace("两", "2 "), 2e4, "1"),
]


@pytest.mark.parametrize(("text", "value", "unit"), CERTAIN)
def test_certain_readings(text, value, unit):
    quantity = parse_quantity(text)
    assert quantity.unit == unit
    assert quantity.value == pytest.approx(value, rel=1e-12)
    assert not quantity.ambiguous
    assert quantity.original == text


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,024 W", 1024),
        ("1 024 W", 1024),
        ("1\u202f024 W", 1024),
        ("1,024,000.5 W", 1024000.5),
        ("1.6e3 W", 1600),
        ("１６W", 16),
        (".5 W", 0.5),
        ("-5 W", -5),
        ("\u22125 W", -5),
        ("1_024 W", 1024),
        ("5e-3 W", 0.005),
        ("1e3W", 1000),
        ("10 224.5 W", 10224.5),
    ],
)
def test_numbers(text, number):
    assert parse_quantity(text).value == number


def test_decimal_product_is_exact():
    assert parse_quantity("5 us").value == 5e-6


@pytest.mark.parametrize(
    ("text", "direction", "scope"),
    [
        ("900 GB/s bidirectional", "both-directions", None),
        ("900 GB/s bi-dir", "both-directions", None),
        ("900 GB/s in both directions", "both-directions", None),
        ("450 GB/s each way", "per-direction", None),
        ("450 GB/s per direction", "per-direction", None),
        ("450 GB/s (unidirectional)", "per-direction", None),
        ("450 GB/s uni", "per-direction", None),
        ("450 GB/s/direction", "per-direction", None),
        ("单向 450 GB/s", "per-direction", None),
        ("双向900GB/s", "both-directions", None),
        ("总线带宽 900GB/s", None, None),
        ("100 GB/s per link", None, "link"),
        ("每链路 50 GB/s", None, "link"),
        ("112 Gb/s per lane", None, "lane"),
        ("每卡 400 Gb/s", None, "accelerator"),
        ("单卡 64GB", None, "accelerator"),
        ("400 Gb/s per NPU", None, "accelerator"),
        ("20 tokens/s/GPU", None, "accelerator"),
        ("3 $/GPU/h", None, "accelerator"),
        ("196 GB/s per die", None, "die"),
        ("14.4 TB/s per node", None, "node"),
        ("每节点 3.2 Tb/s", None, "node"),
        ("￥250万／台", None, "node"),
        ("150 kW/rack", None, "rack"),
        ("单机柜 120 kW", None, "rack"),
        ("130 TB/s per domain", None, "domain"),
        ("每超节点 269 TB/s", None, "domain"),
        ("900 GB/s bidirectional bandwidth per link", "both-directions", "link"),
        ("双向 1.8 TB/s 每卡", "both-directions", "accelerator"),
        ("100 GB/s per direction per link", "per-direction", "link"),
    ],
)
def test_direction_and_scope(text, direction, scope):
    quantity = parse_quantity(text)
    assert (quantity.direction, quantity.scope) == (direction, scope)


@pytest.mark.parametrize(
    ("text", "bound", "aggregate"),
    [
        ("up to 700W", "at most", False),
        ("<150 ns", "at most", False),
        ("~1.8 TB/s", "about", False),
        ("约 500 kW", "about", False),
        ("at least 2 us", "at least", False),
        ("14.4 TB/s aggregate", None, True),
        ("聚合 14.4 TB/s", None, True),
        ("不超过 20 kW", "at most", False),
    ],
)
def test_bound_and_aggregate(text, bound, aggregate):
    quantity = parse_quantity(text)
    assert (quantity.bound, quantity.aggregate) == (bound, aggregate)


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("400G", [(50e9, "B/s"), (400e9, "B/s"), (400e9, "B")]),
        ("400 G/s", [(50e9, "B/s"), (400e9, "B/s")]),
        ("４００Ｇ", [(50e9, "B/s"), (400e9, "B/s"), (400e9, "B")]),
        ("51.2T", [(6.4e12, "B/s"), (51.2e12, "B/s"), (51.2e12, "B"), (51.2e12, "FLOP/s"), (51.2e12, "1")]),
        ("1945P", [(1945e15, "FLOP/s"), (1945e15, "B"), (1945e15 / 8, "B/s"), (1945e15, "B/s")]),
        ("70B", [(70e9, "1"), (70, "B")]),
        ("70b", [(70e9, "1"), (8.75, "B")]),
        ("400 gbps", [(50e9, "B/s"), (400e9, "B/s")]),
        ("900 GBPS", [(900e9, "B/s"), (112.5e9, "B/s")]),
        ("80gb", [(80e9, "B"), (10e9, "B")]),
        ("3 mw", [(3e6, "W"), (3e-3, "W")]),
    ],
)
def test_ambiguous_readings_are_all_kept(text, readings):
    quantity = parse_quantity(text)
    assert quantity.ambiguous
    assert [(quantity.value, quantity.unit), *((other.value, other.unit) for other in quantity.alternatives)] == readings
    assert messages.has(quantity.reason_id)
    assert all(messages.has(other.reason_id) for other in quantity.alternatives)


@pytest.mark.parametrize(
    ("text", "unit", "value", "symbol"),
    [
        ("400G", "Gb/s", 50e9, "Gb/s"),
        ("400G", "GB/s", 400e9, "GB/s"),
        ("3.2T", "Gb/s", 400e9, "Tb/s"),
        ("80G", "GB", 80e9, "GB"),
        ("96G", "GiB", 96e9, "GB"),
        ("64M", "B", 64e6, "MB"),
        ("70B", "1", 70e9, "billion"),
        ("70B", "B", 70, "B"),
        ("1024", "1", 1024, "1"),
        ("5", "us", 5e-6, "us"),
        ("128K", "1", 128e3, "K"),
        ("2.4t", "kg", 2400, "t"),
        ("1945P", "PFLOP/s", 1945e15, "PFLOP/s"),
    ],
)
def test_the_wanted_unit_settles_what_the_text_leaves_open(text, unit, value, symbol):
    quantity = parse_as(text, unit)
    assert (quantity.value, quantity.symbol, quantity.ambiguous) == (value, symbol, False)


def test_a_default_does_not_settle_bit_or_byte_in_lower_case():
    assert parse_quantity("400gbps", default_unit="GB/s").ambiguous


@pytest.mark.parametrize(
    ("text", "id_"),
    [
        ("", "units.number_missing"),
        ("fast", "units.number_missing"),
        ("nan W", "units.number_missing"),
        ("inf W", "units.number_missing"),
        ("x" * 5000, "units.number_missing"),
        ("1,6 W", "units.number_unclear"),
        ("1.2.3 W", "units.number_unclear"),
        ("1e999 W", "units.number_unclear"),
        ("500", "units.unit_missing"),
        ("12 foo", "units.unknown"),
        ("1 gilbert", "units.unknown"),
        ("900 GBs", "units.unknown"),
        ("1,979 TFLOPS*", "units.unknown"),
        ("1,979 TFLOPS sparse", "units.unknown"),
        ("__import__('os')", "units.number_missing"),
        ("1 __import__('os')", "units.unknown"),
        ("8x7B", "units.product"),
        ("8 × 400G", "units.product"),
        ("700Ｗ×8", "units.product"),
        ("120-130 kW", "units.range"),
        ("0.4~0.6 us", "units.range"),
        ("120 to 130 kW", "units.range"),
        ("120 至 130 kW", "units.range"),
        ("2 GB/s uni bidirectional", "units.two_directions"),
        ("单向双向 2 GB/s", "units.two_directions"),
        ("50 GB/s per lane per GPU", "units.two_scopes"),
    ],
)
def test_refused(text, id_):
    with pytest.raises(InputError) as caught:
        parse_quantity(text)
    assert caught.value.message_id == id_
    for lang in messages.languages():
        assert "{" not in messages.render_error(caught.value, lang)


def test_unknown_unit_suggests_and_tells_the_remedy():
    with pytest.raises(UnknownNameError) as caught:
        parse_quantity("900 GBs", place=Place("sheet.txt", 4))
    assert str(caught.value) == (
        "error: sheet.txt:4: the unit 'GBs' in '900 GBs' is not known; nearest: GBps, GB/s, GB\n"
        "  remedy: Use a known unit. Case matters: b is bit, B is byte, m is milli, M is mega."
    )
    assert messages.render_error(caught.value, "zh") == (
        "错误：sheet.txt:4：不认识“900 GBs”中的单位“GBs”；最接近的有：GBps, GB/s, GB\n"
        "  处理办法：请使用已知单位。注意大小写：b 为比特，B 为字节，m 为毫，M 为兆。"
    )


def test_wrong_dimension():
    with pytest.raises(InputError, match=r"rate is '3 GB', which is in B; a figure in Gb/s is needed"):
        parse_as("3 GB", "Gb/s", key="rate")


def test_unknown_default_unit_is_an_error():
    with pytest.raises(UnknownNameError):
        parse_quantity("3", default_unit="parsec")


@pytest.mark.parametrize(
    ("text", "links", "value"),
    [
        ("900 GB/s bidirectional per GPU", None, 450e9),  # NVLink 4: both directions summed
        ("1.8 TB/s 双向 每卡", None, 900e9),
        ("25 GB/s per direction per link", 18, 450e9),
        ("50 GB/s bidirectional per link", 18, 450e9),
        ("400 Gb/s per direction", None, 50e9),
        ("400 Gb/s each way per port", 8, 400e9),
        ("50 GB/s both directions", 18, 450e9),
    ],
)
def test_per_direction(text, links, value):
    assert per_direction_Bps(parse_quantity(text), links) == value


def test_per_direction_never_guesses():
    with pytest.raises(InputError, match="one direction or both"):
        per_direction_Bps(parse_quantity("900 GB/s"))
    assert per_direction_Bps(parse_quantity("900 GB/s"), assume="both-directions") == 450e9
    with pytest.raises(InputError, match="cannot be multiplied by 18 links"):
        per_direction_Bps(parse_quantity("900 GB/s bidirectional per GPU"), 18)
    with pytest.raises(InputError, match="a figure in B/s is needed"):
        per_direction_Bps(parse_quantity("900 GB"))


def test_the_package_itself_stays_light():
    code = (
        "import sys, tierspan.quantities as q; assert 'tierspan.quantities.units' not in sys.modules;"
        "q.parse_quantity; assert not {'numpy', 'pydantic', 'rich', 'typer'} & set(sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, env={"PYTHONPATH": ":".join(sys.path)}).returncode == 0

"""Site files: what a room has, in SI; mistakes name file, line, key and remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tierspan.formats.site import read_site
from tierspan.quantities.errors import InputError
from tierspan.quantities.messages import render_error

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "site.yaml"


def written(tmp_path: Path, text: str, name: str = "site.yaml") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_example_is_read_in_si():
    site = read_site(EXAMPLE)
    assert (site.racks, site.rack_power_W, site.cooling, site.total_power_W, site.pue) == (20, 17e3, "air", 340e3, 1.4)
    assert site.supply is not None
    assert (site.supply.voltage_V, site.supply.current_A, site.supply.phases, site.supply.feeds, site.supply.redundancy) == (415.0, 32.0, 3, 2, "2N")
    assert (site.electricity_price_per_kWh, site.currency) == (0.12, "USD")


def test_a_text_with_a_unit_is_as_good_as_a_key_with_one(tmp_path):
    assert read_site(written(tmp_path, 'rack_power: "17 kW"\nrack_distance: "150 cm"\n')).rack_power_W == 17e3
    assert read_site(written(tmp_path, 'rack_power: "17 kW"\nrack_distance: "150 cm"\n')).rack_distance_m == 1.5


def test_the_section_of_a_scenario_and_json_are_read(tmp_path):
    assert read_site(written(tmp_path, "site:\n  rack_power_kW: 40\n")).rack_power_W == 40e3
    assert read_site(written(tmp_path, '{"rack_power_kW": 40, "cooling": "liquid"}', "site.json")).cooling == "liquid"


def test_direct_current_has_one_phase(tmp_path):
    site = read_site(written(tmp_path, "supply:\n  voltage_V: 800\n  current_A: 200\n  direct_current: true\n"))
    assert site.supply is not None
    assert site.supply.phases == 1


@pytest.mark.parametrize(
    ("text", "line", "message", "value"),
    [
        ("racks: 20\nrack_power_kw: 17\n", 2, "key.unknown", "rack_power_kW"),
        ("racks: 20\nrack_power_kW: -3\n", 2, "value.out_of_range", "-3"),
        ("racks: 20\nrack_power_kW: lots\n", 2, "value.type", "lots"),
        ("racks: 20\nrack_power_kW: true\n", 2, "value.type", "True"),
        ("rack_power_kW: .nan\n", 1, "value.out_of_range", "nan"),
        ("rack_power_kW: 17000000\n", 1, "value.out_of_range", "17000000"),
        ("racks: 0\n", 1, "value.not_positive", "0"),
        ("cooling: fans\n", 1, "value.not_one_of", "fans"),
        ("pue: 0.9\n", 1, "value.out_of_range", "0.9"),
        ('rack_power: "17 kg"\n', 1, "units.wrong_dimension", "17 kg"),
        ('rack_power: "17 kW"\nrack_power_kW: 17\n', 1, "key.conflict", "rack_power_kW"),
        ("supply:\n  voltage_V: 415\n", 1, "key.missing", "supply.current_A"),
        ("supply:\n  voltage_V: 415\n  current_A: 32\n  phases: 2\n", 4, "site.phases", "2"),
        ("supply:\n  voltage_V: 415\n  current_A: 32\n  feeds: 3\n  redundancy: 2N\n", 4, "site.feeds", "2N"),
        ("supply:\n  voltage_V: 415\n  current_A: 32\n  amps: 3\n", 4, "key.unknown", "amps"),
        ("electricity_price_per_kWh: 0.1\n", 1, "site.currency_missing", "currency"),
        ("- 1\n- 2\n", 1, "scenario.not_mapping", "list"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path, text, line, message, value):
    with pytest.raises(InputError) as caught:
        read_site(written(tmp_path, text))
    error = caught.value
    assert error.message_id == message
    assert error.place.line == line
    for lang in ("en", "zh"):
        shown = render_error(error, lang)
        assert "site.yaml" in shown
        assert len(shown.splitlines()) == 2
    assert value.lower() in render_error(error, "en").lower()

"""The room: laws with their bounds, and what a sheet asks of a site."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierspan.answers.audit.machines import machines_of
from tierspan.answers.audit.room import room_of
from tierspan.answers.audit.room_laws import capped_throughput, current_A, feed_power_W, floor_load_kg_m2
from tierspan.formats.figures import read_figures
from tierspan.formats.sheets.reader import sheet_of_text
from tierspan.formats.site import read_site
from tierspan.quantities import messages
from tierspan.quantities.messages import fill
from tierspan.specs.site import Site, Supply

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "site.yaml"
LIQUID = Site(
    racks=8, rack_power_W=140e3, cooling="liquid", floor_load_kg_m2=4500.0, rack_footprint_m2=0.72, rack_mass_kg=3500.0, rack_distance_m=2.0,
    supply=Supply(415.0, 125.0, 3, 4, "2N"),
)  # fmt: skip
NVL72 = "GB200 NVL72: 72 GPU\nPer rack: 120 kW (or 132 kW?) liquid"


@pytest.fixture(autouse=True)
def strict():
    earlier = messages.set_strict(True)
    yield
    messages.set_strict(earlier)


def readings(text: str):
    return read_figures([sheet_of_text(text, "sheet.txt")])


def checks(text: str, site: Site):
    found = room_of(readings(text), site)
    for check in found:
        assert messages.has(f"audit.room.name.{check.name}")
        for lang in ("en", "zh"):
            assert fill(check.told.id, lang, check.told.values)
    return {check.name: check for check in found}


def lights(text: str, site: Site):
    return {name: check.light for name, check in checks(text, site).items()}


def test_a_rack_of_the_wish_takes_one_server_and_the_wish_more_racks_than_there_are():
    found = checks("Want 256 H100 (32 servers, 10.2 kW max each).", read_site(EXAMPLE))
    assert found["rack_power"].told.values["fits"] == 1
    assert (found["racks"].needed, found["racks"].available, found["racks"].light) == (32, 20, "fail")
    assert found["supply_current"].light == "pass"
    assert found["total_power"].needed == pytest.approx(32 * 10.2e3)
    assert found["power_with_cooling"].needed == pytest.approx(1.4 * 32 * 10.2e3)
    assert found["floor_load"].light == "unknown"


def test_a_liquid_rack_fits_no_air_cooled_room():
    found = lights(NVL72, read_site(EXAMPLE))
    assert {name: found[name] for name in ("rack_power", "cooling", "supply_current", "busbar")} == {
        "rack_power": "fail", "cooling": "fail", "supply_current": "fail", "busbar": "pass",
    }  # fmt: skip


def test_a_room_built_for_it_passes():
    found = checks(NVL72, LIQUID)
    assert {check.light for check in found.values()} == {"pass"}
    # 132 kW at 50 V
    assert found["busbar"].needed == pytest.approx(2640.0)


def test_the_sheet_goes_before_the_catalogue():
    (machine,) = machines_of(readings("GB200 NVL72: 72 GPU\nPer rack: 138 kW"))
    assert (machine.unit_power_W, machine.from_sheet) == (138e3, True)
    (known,) = machines_of(readings("GB200 NVL72: 72 GPU"))
    assert (known.unit_power_W, known.from_sheet) == (145e3, False)


def test_a_capped_rack_says_what_is_left():
    found = checks(NVL72, Site(rack_power_W=100e3, cooling="liquid"))
    assert found["rack_power"].light == "derate"
    check = found["throughput"]
    assert check.light == "derate"
    assert 0.0 < check.available < 100 / 132 < 1.0
    assert "Estimate" in fill(check.told.id, "en", check.told.values)


def test_sources_that_differ_by_pounds_are_told_as_unknown():
    heavy = checks(NVL72, Site(rack_mass_kg=1500.0))
    assert (heavy["rack_mass"].light, heavy["rack_mass"].told.id) == ("unknown", "audit.room.mass_conflict")
    floor = checks(NVL72, Site(floor_load_kg_m2=2000.0, rack_footprint_m2=0.72))
    assert (floor["floor_load"].light, floor["floor_load"].told.id) == ("unknown", "audit.room.floor_conflict")


def test_a_domain_of_many_racks_is_beyond_copper():
    found = checks("CloudMatrix384: 384 NPU", Site(rack_distance_m=1.0))
    assert found["copper_reach"].needed == 15.0
    assert found["copper_reach"].told.id == "audit.room.reach_optical"
    assert checks("CloudMatrix384: 384 NPU", Site(rack_distance_m=0.1))["copper_reach"].told.id == "audit.room.reach_pass"


def test_the_voltage_of_the_supply_is_compared():
    at_415 = checks("DGX B200 system, 8 GPU", Site(supply=Supply(415.0, 32.0)))
    assert at_415["supply_voltage"].light == "pass"
    assert lights("DGX B200 system, 8 GPU", Site(supply=Supply(120.0, 32.0, 1)))["supply_voltage"] == "fail"


def test_what_nobody_says_is_unknown():
    assert room_of(readings("GB200 NVL72: 72 GPU"), None) == ()
    assert [check.light for check in room_of(readings("PPU 400W"), LIQUID)] == ["unknown"]
    assert set(lights("H20, 8 GPU", Site()).values()) <= {"unknown", "pass"}


def test_feeds_and_currents():
    assert feed_power_W(415.0, 32.0, 3, 2, "2N") == pytest.approx(23001.7, rel=1e-4)
    assert feed_power_W(415.0, 32.0, 3, 2, "N") == pytest.approx(2 * 23001.7, rel=1e-4)
    assert feed_power_W(230.0, 16.0, 1, 3, "N+1", 0.8) == pytest.approx(2 * 230 * 16 * 0.8)
    assert current_A(132e3, 50.0) == pytest.approx(2640.0)
    assert current_A(feed_power_W(415.0, 32.0, 3, 1, "N"), 415.0, 3) == pytest.approx(32.0)
    assert floor_load_kg_m2(1360.0, 0.72) == pytest.approx(1888.9, rel=1e-4)


@given(share=st.floats(0.0, 1.5), other=st.floats(0.0, 1.5))
def test_a_tighter_cap_never_leaves_more(share, other):
    low, high = sorted((share, other))
    for one, two in zip(capped_throughput(low), capped_throughput(high), strict=True):
        assert 0.0 <= one <= two <= 1.0
    least, most = capped_throughput(share)
    assert least <= most


def test_the_cap_law_at_its_ends():
    assert capped_throughput(1.0) == (1.0, 1.0)
    assert capped_throughput(0.1) == (0.0, 0.0)
    assert capped_throughput(0.575, 0.15)[0] == pytest.approx(0.5)

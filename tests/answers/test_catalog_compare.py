"""Parts side by side: what is compared, what is refused and why, planes that do not add, and what printed figures are."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierspan.answers.catalog_compare.comparison import PartsComparison, compare_parts
from tierspan.answers.catalog_compare.supply import word_of
from tierspan.faces.cli.plain import plain
from tierspan.quantities.errors import InputError, UnknownNameError
from tierspan.quantities.messages import has
from tierspan.specs import catalog

DIMENSIONS = ["bandwidth", "latency", "capacity", "power", "nature"]


def row(answer: PartsComparison, name: str):
    return next(one for one in answer.rows if one.id == name)


def values(answer: PartsComparison, name: str) -> list[float | None]:
    return [cell.value for cell in row(answer, name).cells]


@pytest.fixture(scope="module")
def racks() -> PartsComparison:
    return compare_parts("gb200-nvl72", "cloudmatrix384")


def test_bandwidths_are_per_accelerator_and_direction(racks):
    assert values(racks, "bandwidth.scale_up") == [900e9, 392e9]
    assert values(racks, "bandwidth.scale_out") == [50e9, 50e9]
    assert values(racks, "bandwidth.scale_up_to_scale_out") == [pytest.approx(18), pytest.approx(7.84)]
    assert row(racks, "bandwidth.scale_up").cells[1].ratio == pytest.approx(392 / 900)


def test_planes_are_listed_and_no_row_is_their_sum(racks):
    planes = {plane.name: plane for plane in racks.parts[1].planes}
    assert [plane.carries_training for plane in planes.values()] == [True, True, False]
    rates = [plane.bandwidth_Bps for plane in planes.values()]
    sums = {sum(rates), sum(rates[:2]), rates[0] + rates[2], rates[1] + rates[2]}
    told = {cell.value for one in racks.rows for cell in one.cells}
    assert not sums & told
    assert [f.values["id"] for f in racks.findings if f.id == "catalog_compare.planes_apart"] == ["gb200-nvl72", "cloudmatrix384"]


def test_printed_peaks_of_the_rack_are_called_what_they_are(racks):
    told = [(one.printed, one.precision, one.what, one.of_dense) for one in racks.parts[0].headlines if one.precision]
    assert ("720 PFLOP/s", "fp8", "sparse", pytest.approx(2)) in told
    assert ("1440 PFLOP/s", "fp4", "sparse", pytest.approx(2)) in told
    assert ("180 PFLOP/s", "bf16", "dense", pytest.approx(1)) in told
    assert values(racks, "capacity.domain_peak.bf16")[0] == pytest.approx(180e15)


def test_latencies_of_different_bases_are_not_compared(racks):
    up = row(racks, "latency.scale_up")
    assert up.refused == "catalog_compare.latency_basis"
    assert [cell.value for cell in up.cells] == [1.5e-6, 1e-6]
    assert all(cell.ratio is None for cell in up.cells)
    assert not row(racks, "latency.scale_out").refused


def test_two_assumed_latencies_are_not_compared_either():
    assert row(compare_parts("mi300x", "mi355x"), "latency.scale_up").refused == "catalog_compare.latency_basis"


def test_latencies_of_one_basis_are_compared():
    up = row(compare_parts("dgx-a100", "dgx-h100"), "latency.scale_up")
    assert (up.refused, up.cells[1].ratio) == ("", 1)


def test_peaks_that_count_vector_units_are_not_compared_with_those_that_do_not(racks):
    assert row(racks, "capacity.accelerator_peak.bf16").refused == "catalog_compare.peak_units"
    assert row(compare_parts("gb200-nvl72", "gb300-nvl72"), "capacity.accelerator_peak.bf16").cells[1].ratio == pytest.approx(1, rel=0.05)


def test_one_precision_is_never_held_against_another(racks):
    assert values(racks, "capacity.accelerator_peak.fp8") == [5e15, None]
    assert row(racks, "capacity.accelerator_peak.fp8").cells[1].ratio is None
    told = [f.values for f in racks.findings if f.id == "catalog_compare.precision"]
    assert told == [{"precision": "FP8, FP4, INT8", "ids": "gb200-nvl72"}]


def test_nominal_power_is_not_compared_with_maximum():
    answer = compare_parts("gb200-nvl72", "dgx-b200")
    assert row(answer, "power.unit").refused == "catalog_compare.power_basis"
    assert row(answer, "power.unit").values["bases"] == {"gb200-nvl72": "nominal", "dgx-b200": "maximum"}
    assert row(answer, "power.peak_a_watt.bf16").refused == "catalog_compare.power_basis"


def test_power_of_one_basis_is_compared_per_watt():
    answer = compare_parts("dgx-h100", "dgx-b200")
    assert row(answer, "power.peak_a_watt.bf16").cells[0].value == pytest.approx(8 * 989e12 / 10.2e3)
    assert row(answer, "power.peak_a_watt.bf16").cells[1].ratio == pytest.approx((2250 / 14.3) / (989 / 10.2))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("the unit one buys, maximum", "maximum"),
        ("rack nominal", "nominal"),
        ("planning budget of a rack", "planning budget"),
        ("per accelerator; vendor term: TDP", "TDP"),
        ("per accelerator; vendor term: maximum TDP", "maximum"),
        ("per accelerator; vendor term: Typical Board Power", "board power"),
        ("16 racks estimate of an analyst, all racks", "estimate"),
        ("rack", "not stated"),
    ],
)
def test_what_a_figure_of_power_counts(text, word):
    assert word_of(text) == word


def test_unknown_stays_unknown(racks):
    assert values(racks, "power.weight") == [1360, None]
    assert row(racks, "power.weight").cells[1].ratio is None


def test_accelerators_are_compared_in_their_usual_systems():
    answer = compare_parts("h100", "mi300x")
    assert [(part.kind, part.system) for part in answer.parts] == [("accelerator", "dgx-h100"), ("accelerator", "mi300x-node8")]
    assert answer.parts[0].assumed
    assert {f.id for f in answer.findings} >= {"catalog_compare.usual_system"}


def test_a_name_of_both_is_the_system_of_that_id_or_else_the_accelerator():
    assert [part.kind for part in compare_parts("gb200", "gb200-nvl72").parts] == ["accelerator", "system"]


def test_openness_says_who_else_makes_the_links():
    answer = compare_parts("gb200-nvl72", "helios", "cloudmatrix384")
    told = [cell.text for cell in row(answer, "nature.scale_up_openness").cells]
    assert told[0].startswith("proprietary")
    assert told[1] == "open standard"
    assert told[2].startswith("proprietary")


@pytest.mark.parametrize("name", catalog.system_ids())
def test_every_tier_has_a_carrier_but_hccs(name):
    for tier in catalog.system(name).tiers:
        assert (catalog.carrier(tier) is None) == (tier.transport == "hccs"), tier.name


def test_disagreeing_sources_are_told(racks):
    told = [(f.values["id"], f.values["key"]) for f in racks.findings if f.id == "catalog_compare.conflict"]
    assert ("gb200-nvl72", "unit power") in told
    assert ("cloudmatrix384", "bandwidth") in told


def test_impossible_comparisons_are_refused():
    for names, message in ((["h100"], "catalog_compare.count"), (["h100", "H100"], "catalog_compare.twice"), (["h100"] * 9, "catalog_compare.count")):
        with pytest.raises(InputError) as caught:
            compare_parts(*names)
        assert caught.value.message_id == message
    with pytest.raises(UnknownNameError, match="neither") as unknown:
        compare_parts("h100", "h1oo")
    assert "H100" in unknown.value.suggestions


@given(st.lists(st.sampled_from(catalog.system_ids() + catalog.accelerator_ids()), min_size=2, max_size=8, unique=True))
def test_any_parts_make_an_answer_that_keeps_its_rules(names):
    answer = compare_parts(*names)
    assert [part.id for part in answer.parts] == names
    order = [DIMENSIONS.index(one.dimension) for one in answer.rows]
    assert all(a <= b for a, b in pairwise(order))
    assert len({one.id for one in answer.rows}) == len(answer.rows)
    for one in answer.rows:
        assert len(one.cells) == len(names)
        assert one.cells[0].ratio is None
        if one.refused:
            assert has(one.refused)
            assert all(cell.ratio is None for cell in one.cells)
    # Every plane stands alone: no value of a bandwidth row is above the fastest one of its part.
    for index, part in enumerate(answer.parts):
        fastest = max(plane.bandwidth_Bps for plane in part.planes)
        for name in ("bandwidth.scale_up", "bandwidth.scale_out"):
            told = next((one.cells[index].value for one in answer.rows if one.id == name), None)
            assert told is None or told <= fastest
    json.dumps(plain(answer), allow_nan=False)

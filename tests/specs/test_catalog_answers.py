"""What the catalogue tells: lists and sheets."""

import json

import pytest

from tierspan.answers.catalog import AcceleratorSheet, SystemSheet, list_catalog, show, show_system
from tierspan.quantities.errors import UnknownNameError
from tierspan.specs import catalog


def test_the_list_holds_everything():
    entries = list_catalog().entries
    assert len(entries) == len(catalog.accelerator_ids()) + len(catalog.system_ids())
    assert {entry.kind for entry in list_catalog("system").entries} == {"system"}


@pytest.mark.parametrize("pattern", ["mi355", "MI355X", "*355*"])
def test_the_list_can_be_searched(pattern):
    assert [entry.id for entry in list_catalog(pattern=pattern).entries] == ["mi355x", "mi355x-node8"]


def test_an_accelerator_shows_every_source_and_what_is_used():
    sheet = show("ascend-910c")
    assert isinstance(sheet, AcceleratorSheet)
    peaks = [fact for fact in sheet.facts if fact.key == "peak_flops.bf16"]
    assert len(peaks) == 3
    assert all(fact.conflict and fact.source.reference for fact in peaks)
    assert [fact.value for fact in peaks if fact.used] == [752e12]


def test_a_system_says_that_nothing_pools_by_itself():
    sheet = show("gb200-nvl72")
    assert isinstance(sheet, SystemSheet)
    assert sheet.domain.accelerators == 72
    assert sheet.domain.peak_flops["bf16"] == pytest.approx(180e15)
    assert sheet.scale_ratio == pytest.approx(18)
    assert [note.id for note in sheet.notes] == ["catalog.no_pooling", "catalog.memory_semantics", "catalog.same_basis"]


def test_a_ratio_is_on_one_basis_whatever_the_headline():
    assert show_system("dgx-h100").scale_ratio == pytest.approx(9)
    assert show_system("dgx-b300").scale_ratio == pytest.approx(9)


def test_planes_apart_are_shown_and_not_added():
    sheet = show_system("cloudmatrix384")
    told = sheet.to_dict("zh")
    assert [plane["kind"] for plane in told["other_planes"]] == ["vpc"]
    assert [tier["kind"] for tier in told["tiers"]] == ["scale-up", "scale-out"]
    assert "VPC" in told["notes"][-1]["text"]
    assert told["scale_up_domain"]["injection_bandwidth_Bps"] == pytest.approx(384 * 392e9)


def test_messages_without_memory_semantics():
    assert "catalog.no_memory_semantics" in [note.id for note in show_system("gaudi2-node8").notes]


def test_a_box_of_one_accelerator_pools_nothing():
    assert "catalog.no_pooling" not in [note.id for note in show_system("dgx-spark").notes]


def test_every_sheet_is_json():
    for name in (*catalog.accelerator_ids(), *catalog.system_ids()):
        told = json.loads(json.dumps(show(name).to_dict(), allow_nan=False))
        assert told["id"] == name
        assert all(fact["source"] for fact in told["facts"])
    json.dumps(list_catalog().to_dict())


def test_an_unknown_thing():
    with pytest.raises(UnknownNameError, match="neither") as caught:
        show("h1oo")
    assert "H100" in caught.value.suggestions

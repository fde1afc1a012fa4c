"""Fabrics, networks, switches, optics, cables and fibres: sources, conflicts, figures that must close, and what is never used."""

import csv
from typing import get_args

import pytest

from tierspan.quantities.errors import UnknownNameError
from tierspan.quantities.facts import SourceKind
from tierspan.specs import catalog
from tierspan.specs.catalog.names import folded
from tierspan.specs.catalog.parts import FOLDER, KINDS
from tierspan.specs.catalog.tables import DATA

NAMED_BY_THE_MISSION = {
    "fabric": "nvlink1 nvlink2 nvlink3 nvlink4 nvlink5 nvlink6 nvlink-fusion pcie3-x16 pcie4-x16 pcie5-x16 pcie6-x16 pcie7-x16 "
    "ualink eth-x als oisa sue ub infinity-fabric ici neuronlink",
    "network": "ib-edr ib-hdr ib-ndr ib-xdr rocev2 ultra-ethernet slingshot11 efa tcp-ip",
    "switch": "nvswitch1 nvswitch2 nvswitch3 nvlink-switch5 tomahawk5 tomahawk6 tomahawk-ultra quantum-2 quantum-x800 sn5600",
    "optics": "sr8-800g dr8-800g lpo-800g cpo",
    "cable": "dac-800g acc-400g aec-800g aoc-800g",
    "fibre": "smf hollow-core",
}


def rows():
    for kind in KINDS:
        with (FOLDER / f"{kind}.csv").open(encoding="utf-8", newline="") as file:
            yield from ((kind, row) for row in csv.DictReader(file))


def test_everything_that_the_mission_names_is_there():
    for kind, names in NAMED_BY_THE_MISSION.items():
        assert set(names.split()) <= set(catalog.part_ids(kind)), kind


def test_the_files_have_the_columns_of_facts_and_are_plain():
    head = (DATA / "system_facts.csv").read_text(encoding="utf-8").splitlines()[0]
    for kind in KINDS:
        content = (FOLDER / f"{kind}.csv").read_bytes()
        assert content.decode().splitlines()[0] == head, kind
        assert b"\r" not in content, kind


def test_every_fact_has_a_source_and_every_figure_a_basis():
    for kind, row in rows():
        assert row["source"], (kind, row)
        assert row["source_kind"] in get_args(SourceKind), (kind, row)
        assert {row["conflict"], row["used"]} <= {"0", "1"}, (kind, row)
        assert row["basis"] or row["unit"] == "text", (kind, row)
        assert None not in {*row, *row.values()}, (kind, row)


@pytest.mark.parametrize("name", catalog.part_ids())
def test_one_reading_is_used_and_those_that_differ_are_marked(name):
    found = catalog.part(name)
    for key in {fact.key for fact in found.facts}:
        same = [fact for fact in found.facts if fact.key == key]
        assert sum(fact.used for fact in same) == (0 if found.kind == "unverified" and key != "why" else 1), key
        assert all(fact.conflict == (len({fact.original for fact in same}) > 1) for fact in same), key
    assert all(fact.is_text or fact.value > 0 for fact in found.facts)


def test_what_is_not_trusted_is_used_nowhere():
    weak = catalog.part_ids("unverified")
    assert {"mlu590", "hygon-k100", "metax-c500", "biren-br100", "mtt-s4000"} <= set(weak)
    assert not set(weak) & {*catalog.accelerator_ids(), *catalog.system_ids()}
    assert all(catalog.part(name).words("why") for name in weak)
    assert all(catalog.part(name).number("memory") is None for name in weak)


def test_ids_and_names_mean_one_thing():
    ids = catalog.part_ids()
    assert len(set(ids)) == len(ids)
    assert not set(ids) & {*catalog.accelerator_ids(), *catalog.system_ids()}
    for name in ids:
        assert catalog.part(name).id == name
        assert catalog.part(catalog.part(name).name).id == name
    taken = {folded(name) for thing in ("accelerator", "system") for name in catalog.known_names(thing)}
    assert not [name for name in catalog.known_part_names() if folded(name) in taken]


@pytest.mark.parametrize(("name", "found"), [("NVLink 5", "nvlink5"), ("PCIe Gen6", "pcie6-x16"), ("NDR", "ib-ndr"), ("xGMI", "infinity-fabric")])
def test_parts_by_the_names_people_use(name, found):
    assert catalog.part(name).id == found


def test_an_unknown_part():
    with pytest.raises(UnknownNameError) as caught:
        catalog.part("nvlnk5")
    assert "nvlink5" in caught.value.suggestions


@pytest.mark.parametrize("generation", range(1, 7))
def test_lanes_and_links_of_nvlink_close(generation):
    found = catalog.part(f"nvlink{generation}")
    assert found.number("lanes_per_link") * found.number("lane_rate") == pytest.approx(found.number("link_bandwidth"))
    assert found.number("links") * found.number("link_bandwidth") == pytest.approx(found.number("bandwidth"))
    assert found.number("headline_bandwidth") == pytest.approx(found.number("bandwidth"))


@pytest.mark.parametrize("name", ["ib-edr", "ib-hdr", "ib-ndr", "ib-xdr", "ib-gdr", "ib-ldr"])
def test_four_lanes_make_a_port(name):
    found = catalog.part(name)
    assert found.number("lanes") * found.number("lane_rate") == pytest.approx(found.number("port_rate"))


@pytest.mark.parametrize(
    ("name", "ports", "rate"), [("tomahawk5", "ports_800g", 800), ("quantum-2", "ports_400g", 400), ("quantum-x800", "ports_800g", 800)]
)
def test_ports_of_a_switch_make_its_capacity_in_one_direction(name, ports, rate):
    found = catalog.part(name)
    assert found.number(ports) * rate * 1e9 / 8 == pytest.approx(found.number("capacity"))
    headline = found.number("headline_capacity")
    assert headline is None or headline == pytest.approx(found.number("capacity"))


def test_oisa_closes_in_one_direction():
    found = catalog.part("oisa")
    assert found.number("bandwidth") == pytest.approx(found.number("switches") * 51.2e12 / 8 / 128)
    assert found.number("headline_bandwidth") == pytest.approx(found.number("bandwidth"))

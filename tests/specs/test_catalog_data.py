"""The data files of the catalogue: sources, conflicts, units, and figures that must close."""

import csv
from pathlib import Path
from typing import get_args

import pytest

from tierspan.quantities.facts import SourceKind
from tierspan.specs import catalog
from tierspan.specs.catalog.tables import DATA, UNMEASURED, facts, rows
from tierspan.specs.catalog.units import unit_factor
from tierspan.specs.precision import PRECISIONS

SHARED = Path(__file__).parents[2].parent / "shared"
FACT_FILES = ("accelerator_facts", "fabric_facts", "system_facts")
# FP8 that is not twice BF16: Gaudi 3 runs both at one rate, Trainium 1 too; Trainium2 prints 1299 against 667.
# Rubin is announced with FP8 at 4.4 times BF16, Trainium3 with 3.75; the two figures of the 950DT come from different tables.
FP8_EXCEPTIONS = {"gaudi3": 1.0, "trainium1-core": 1.0, "trainium2": 1.95, "rubin": 4.375, "trainium3": 3.75, "ascend-950dt": 1.89}


def all_fact_rows():
    return [(name, row) for name in FACT_FILES for row in rows(name)]


def test_every_fact_has_a_source_a_kind_and_a_basis():
    kinds = set(get_args(SourceKind))
    for name, row in all_fact_rows():
        assert row["source"].strip(), (name, row)
        assert row["source_kind"] in kinds, (name, row)
        assert row["basis"].strip(), (name, row)
        assert {row["conflict"], row["used"]} <= {"0", "1"}, (name, row)
        assert None not in {*row, *row.values()}, (name, row)


def test_exactly_one_fact_of_a_key_is_used():
    for name in FACT_FILES:
        for thing, listed in facts(name).items():
            for key in {fact.key for fact in listed}:
                same = [fact for fact in listed if fact.key == key]
                assert sum(fact.used for fact in same) == 1, (name, thing, key)


def test_facts_that_differ_are_marked_as_a_conflict_and_only_those():
    for name in FACT_FILES:
        for thing, listed in facts(name).items():
            for key in {fact.key for fact in listed}:
                same = [fact for fact in listed if fact.key == key]
                differ = len({fact.original for fact in same}) > 1
                assert all(fact.conflict == differ for fact in same), (name, thing, key)


def test_every_unit_converts_and_the_values_are_positive():
    for name in FACT_FILES:
        for thing, listed in facts(name).items():
            for fact in listed:
                if fact.is_text:
                    assert fact.original.strip(), (name, thing, fact)
                    continue
                assert fact.value > 0, (name, thing, fact)
                assert fact.unit in {"FLOP/s", "B", "B/s", "W", "s", "1", "kg", "A"}, (name, thing, fact)


@pytest.mark.parametrize(
    ("unit", "factor", "si"),
    [
        ("GB/s", 1e9, "B/s"),
        ("GB/s both directions", 0.5e9, "B/s"),
        ("Gb/s per 2", 1e9 / 16, "B/s"),
        ("GiB/s both directions per 2", 2**30 / 4, "B/s"),
        ("MiB", 2**20, "B"),
        ("us", 1e-6, "s"),
        ("TOP/s", 1e12, "FLOP/s"),
    ],
)
def test_units(unit, factor, si):
    assert unit_factor(unit) == (pytest.approx(factor, rel=1e-12), si)


@pytest.mark.parametrize("unit", ["", "gb/s", "GB per 0", "GB/s one direction", "furlong"])
def test_unknown_units_are_refused(unit):
    with pytest.raises(ValueError, match="not known"):
        unit_factor(unit)


def test_the_tables_refer_to_each_other():
    fabrics = {row["id"] for row in rows("fabrics")}
    assert {row["fabric"] for row in rows("tiers")} == fabrics == set(facts("fabric_facts"))
    assert {row["id"] for row in rows("tiers")} == set(catalog.system_ids())
    assert set(facts("system_facts")) <= set(catalog.system_ids())
    assert set(facts("accelerator_facts")) == set(catalog.accelerator_ids())
    for row in rows("aliases"):
        known = catalog.accelerator_ids() if row["thing"] == "accelerator" else catalog.system_ids()
        assert row["id"] in known, row
    for name in ("accelerators", "systems", "fabrics"):
        ids = [row["id"] for row in rows(name)]
        assert len(set(ids)) == len(ids), name


def test_the_tables_of_the_unmeasured_have_the_columns_of_the_measured():
    for path in UNMEASURED.glob("*.csv"):
        assert path.read_text(encoding="utf-8").splitlines()[0] == (DATA / path.name).read_text(encoding="utf-8").splitlines()[0], path.name


def test_what_is_unmeasured_changes_no_figure_that_a_fit_used():
    for name in FACT_FILES:
        with (DATA / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            kept = {(row["id"], row["key"]) for row in csv.DictReader(file)}
        with (UNMEASURED / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            assert not kept & {(row["id"], row["key"]) for row in csv.DictReader(file)}, name


def test_printed_peaks_are_one_or_two_times_the_dense_sum():
    seen = 0
    for name in catalog.system_ids():
        found = catalog.system(name)
        for fact in found.facts:
            if fact.key.startswith("headline_peak.") and fact.used:
                _, precision, what = fact.key.split(".")
                sum_of_dense = found.unit_accelerators * catalog.accelerator(found.accelerator).peak_flops[precision]
                # The inference headline of Rubin is neither.
                ratio = {"dense": 1, "training": 1, "sparse": 2, "unlabelled": 2, "inference": 10 / 7}[what]
                assert fact.value / sum_of_dense == pytest.approx(ratio, rel=0.03), (name, fact.key)
                seen += 1
    assert seen > 8


def test_no_two_names_fold_to_one():
    from tierspan.specs.catalog.names import folded

    for thing in ("accelerator", "system"):
        seen: dict[str, str] = {}
        for alias in [row for row in rows("aliases") if row["thing"] == thing]:
            assert seen.setdefault(folded(alias["alias"]), alias["id"]) == alias["id"], alias


def test_the_csv_files_are_plain():
    for path in sorted((*DATA.glob("*.csv"), *UNMEASURED.glob("*.csv"))):
        content = path.read_bytes()
        assert b"\r" not in content, path
        with path.open(encoding="utf-8", newline="") as file:
            lengths = {len(line) for line in csv.reader(file)}
        assert len(lengths) == 1, path


def test_accelerators_are_complete():
    for name in catalog.accelerator_ids():
        card = catalog.accelerator(name)
        assert card.peak_flops, name
        assert set(card.peak_flops) <= {*PRECISIONS, "fp4"}, name
        assert all(0 < share <= 1 for share in card.achievable.values()), name
        assert set(card.achievable) <= set(card.peak_flops), name
        if card.memory_usable_bytes is not None:
            # A label of 80 GB can stand for 80 GiB: the usable size may pass the label by 7.4 %, no more.
            assert 0.9 < card.memory_usable_bytes / card.memory_bytes < 1.074, name
        assert catalog.system(catalog.default_system(name)).accelerator == name


def test_what_a_product_lacks_is_not_there():
    assert "bf16" not in catalog.accelerator("v100-sxm2-32gb").peak_flops
    assert "fp8" not in catalog.accelerator("a100-sxm4-80gb").peak_flops
    assert "fp4" not in catalog.accelerator("h100-sxm5-80gb").peak_flops
    assert catalog.accelerator("tpu7x").power_W is None


def test_fp8_is_twice_bf16_except_where_the_sheets_say_otherwise():
    seen = set()
    for name in catalog.accelerator_ids():
        peaks = catalog.accelerator(name).peak_flops
        if {"fp8", "bf16"} <= set(peaks):
            ratio = FP8_EXCEPTIONS.get(name, 2.0)
            seen.add(name)
            assert peaks["fp8"] / peaks["bf16"] == pytest.approx(ratio, rel=0.02), name
    assert set(FP8_EXCEPTIONS) < seen


def test_links_times_rate_is_the_bandwidth():
    closed = 0
    for row in rows("fabrics"):
        values = {fact.key: fact.value for fact in facts("fabric_facts")[row["id"]] if fact.used}
        if "links" in values:
            closed += 1
            assert values["links"] * values["link_bandwidth"] == pytest.approx(values["bandwidth"]), row
        if "headline_bandwidth" in values:
            assert values["headline_bandwidth"] == pytest.approx(values["bandwidth"]), row
    assert closed > 8


def test_in_a_mesh_the_pairs_share_the_bandwidth():
    meshes = 0
    for name in catalog.system_ids():
        inner = catalog.system(name).tiers[0]
        if inner.topology != "mesh" or name == "mi250x-node8":  # a GCD of the MI250X has its twin on the same card
            continue
        meshes += 1
        assert inner.pair_bandwidth_Bps * (inner.domain_size - 1) == pytest.approx(inner.bandwidth_Bps), name
    assert meshes > 6


def test_in_a_torus_the_neighbours_share_the_bandwidth():
    neighbours = {"torus-2d": 4, "torus-3d": 6}
    for name in catalog.system_ids():
        inner = catalog.system(name).tiers[0]
        if inner.transport == "ici":
            assert inner.pair_bandwidth_Bps * neighbours[inner.topology] == pytest.approx(inner.bandwidth_Bps), name


@pytest.mark.parametrize(
    ("system", "ratio"),
    [("dgx-h100", 9), ("dgx-b300", 9), ("gb200-nvl72", 18), ("gb300-nvl72", 9), ("dgx-a100", 12), ("cloudmatrix384", 7.84)],
)
def test_scale_up_to_scale_out(system, ratio):
    inner, outer = catalog.system(system).tiers
    assert inner.bandwidth_Bps / outer.bandwidth_Bps == pytest.approx(ratio)


def test_rack_power_is_above_the_sum_of_its_accelerators():
    for name in catalog.system_ids():
        found = catalog.system(name)
        power_W = catalog.accelerator(found.accelerator).power_W
        if found.unit_power_W is not None and power_W is not None:
            assert found.unit_power_W > found.unit_accelerators * power_W, name


def test_printed_pools_agree_with_the_sum_of_their_parts():
    for name, listed in facts("system_facts").items():
        found = catalog.system(name)
        for fact in listed:
            if fact.key == "pooled_memory" and fact.used:
                assert fact.value == pytest.approx(found.unit_accelerators * catalog.accelerator(found.accelerator).memory_bytes, rel=0.01)


def test_every_accelerator_of_the_public_measurements_resolves():
    if not SHARED.is_dir():
        pytest.skip("the public measurements are not at hand")
    with (SHARED / "facts" / "aliases.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            assert catalog.accelerator(row["product_id"]).id == row["product_id"]
            for column in ("training_csv", "memory_csv", "collectives_csv"):
                for name in filter(None, row[column].split("|")):
                    if name != "V100":  # the sources do not say which memory
                        assert catalog.accelerator(name).id == row["product_id"], name
    with (SHARED / "validation" / "training.csv").open(encoding="utf-8") as file:
        seen = {(row["accelerator"], row["node_size"], row["hbd_size"]) for row in csv.DictReader(file)}
    for name, node, domain in sorted(seen):
        sizes = {"node_size": int(node) if node else None, "domain_size": int(domain) if domain else None}
        built = catalog.cluster(catalog.fitting_system(name, **sizes), 2, **sizes)
        assert built.accelerator.id == catalog.resolve("accelerator", name).id
        assert sizes["node_size"] in (None, built.node_size)
        assert sizes["domain_size"] in (None, built.tiers[0].domain_size)

"""Names, systems and clusters of the catalogue."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierspan.quantities.errors import InputError, Place, UnknownNameError
from tierspan.specs import catalog


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("h100-sxm5-80gb", "h100-sxm5-80gb"),
        ("H100", "h100-sxm5-80gb"),
        ("h100_sxm", "h100-sxm5-80gb"),
        ("NVIDIA H100 SXM5 80GB", "h100-sxm5-80gb"),
        ("V100", "v100-sxm2-32gb"),
        ("Ascend 910C", "ascend-910c"),
        ("TPU-v5p", "tpu-v5p"),
        ("B200-SXM", "b200-sxm"),
    ],
)
def test_accelerator_names(name, found):
    assert catalog.accelerator(name).id == found


@pytest.mark.parametrize(("name", "found"), [("DGX H100", "dgx-h100"), ("nvl72", "gb200-nvl72"), ("CM384", "cloudmatrix384")])
def test_system_names(name, found):
    assert catalog.system(name).id == found


def test_what_an_alias_leaves_open_is_said():
    assert catalog.resolve("accelerator", "A100").assumed == "memory size not stated: 80 GB"
    assert catalog.resolve("accelerator", "a100-sxm4-80gb").assumed == ""


def test_unknown_names_suggest_near_ones():
    with pytest.raises(UnknownNameError) as caught:
        catalog.accelerator("h10", place=Place("s.yaml", 3))
    assert "h100" in " ".join(caught.value.suggestions).lower()
    with pytest.raises(UnknownNameError) as caught:
        catalog.system("dgx-h1000", place=Place("s.yaml", 3, key="cluster.system"))
    assert str(caught.value) == (
        "error: s.yaml:3 [cluster.system]: the catalogue has no system dgx-h1000; nearest: dgx-h100, hgx-h100, dgx-v100\n"
        "  remedy: See 'tierspan catalog list' for the names, or describe the system inline (accelerator, node_size, tiers)."
    )


@given(st.text(max_size=30))
def test_any_text_is_a_name_or_a_clear_error(name):
    told = ""
    try:
        told = catalog.accelerator(name).id
    except UnknownNameError as error:
        told = str(error)
    assert told in catalog.accelerator_ids() or told.startswith("error: ")


def test_a_cluster_has_the_systems_tiers():
    built = catalog.cluster("dgx-h100", 1024)
    assert (built.accelerators, built.node_size, built.scale_up_domain_size) == (1024, 8, 8)
    assert [tier.kind for tier in built.tiers] == ["scale-up", "scale-out"]
    assert built.tiers[-1].domain_size is None
    assert built.system is catalog.system("dgx-h100")
    assert built.tiers[0].in_network_reduction
    assert built.tiers[0].memory_semantics


def test_a_large_cluster_costs_no_more():
    assert catalog.cluster("cloudmatrix384", 432 * 384).accelerators == 165_888


def test_overrides_reach_the_tiers_and_say_who_gave_them():
    built = catalog.cluster("dgx-h100", 64, nic_Bps=25e9)
    outer = built.tiers[1]
    assert outer.bandwidth_Bps == 25e9
    used = [fact for fact in outer.facts if fact.key == "bandwidth" and fact.used]
    assert [(fact.value, fact.source.kind) for fact in used] == [(25e9, "inline")]
    assert catalog.cluster("dgx-h100", 64).tiers[1].bandwidth_Bps == 50e9


def test_fewer_cards_in_a_node_make_a_smaller_domain():
    built = catalog.cluster("dgx-h100", 64, node_size=4)
    assert (built.node_size, built.tiers[0].domain_size) == (4, 4)
    rack = catalog.cluster("gb200-nvl72", 144, node_size=4, domain_size=64)
    assert (rack.node_size, rack.tiers[0].domain_size) == (4, 64)
    assert catalog.cluster("gb200-nvl72", 144, node_size=2).tiers[0].domain_size == 72


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"accelerators": 0}, "value.not_positive"),
        ({"accelerators": 8, "node_size": -1}, "value.not_positive"),
        ({"accelerators": 8, "nic_Bps": float("nan")}, "value.not_positive"),
        ({"accelerators": 8, "domain_size": 16}, "catalog.domain_too_large"),
        ({"accelerators": 8, "node_size": 16}, "catalog.node_too_large"),
    ],
)
def test_impossible_clusters_are_refused(values, message):
    with pytest.raises(InputError) as caught:
        catalog.cluster("dgx-h100", **values)
    assert caught.value.message_id == message
    assert "remedy" in str(caught.value)


def test_the_system_that_a_measured_node_fits():
    assert catalog.fitting_system("v100-sxm2-32gb", node_size=16, domain_size=16) == "dgx-2"
    assert catalog.fitting_system("v100-sxm2-32gb", node_size=4) == "v100-node4"
    assert catalog.fitting_system("h100-sxm5-80gb", node_size=4) == "dgx-h100"
    assert catalog.fitting_system("h100-sxm5-80gb") == "dgx-h100"


def test_cloudmatrix_keeps_the_vpc_plane_apart():
    found = catalog.system("cloudmatrix384")
    assert [tier.transport for tier in found.tiers] == ["ub", "roce"]
    assert [plane.kind for plane in found.other_planes] == ["vpc"]
    assert found.tiers[0].domain_size == 384
    assert found.tiers[0].bandwidth_Bps == 392e9
    conflicting = {fact.original for fact in found.tiers[0].facts if fact.key == "bandwidth" and fact.conflict}
    assert len(conflicting) == 3


def test_every_tier_states_bandwidth_latency_and_their_sources():
    for name in catalog.system_ids():
        found = catalog.system(name)
        for tier in (*found.tiers, *found.other_planes):
            used = {fact.key: fact for fact in tier.facts if fact.used}
            assert used["bandwidth"].value == tier.bandwidth_Bps
            assert used["latency"].value == tier.latency_s
            assert tier.latency_basis == used["latency"].basis


def test_loading_is_quick():
    # CPU time of a fresh interpreter, far above what it takes (about 10 ms), so that a busy machine does not fail it.
    code = "import time; from tierspan.specs import catalog; t = time.process_time(); catalog.cluster('dgx-h100', 8); print(time.process_time() - t)"
    took = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert float(took) < 0.1

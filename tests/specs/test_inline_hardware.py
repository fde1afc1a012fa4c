"""Hardware described inline."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierspan.quantities.errors import InputError, Place, UnknownNameError
from tierspan.specs import catalog
from tierspan.specs.inline import accelerator_from_mapping, cluster_from_mapping, system_from_mapping

CLUSTER = {
    "accelerator": {
        "name": "X",
        "peak_flops": {"bf16": "500 TFLOP/s", "fp8": 1e15},
        "memory": "96 GB",
        "memory_bandwidth": "3 TB/s",
        "power": "600 W",
    },
    "accelerators": 64,
    "node_size": 8,
    "tiers": [
        {"name": "MyLink", "kind": "scale-up", "domain_size": 8, "bandwidth": "400 GB/s per direction", "latency": "2 us"},
        {"name": "RoCE", "kind": "scale-out", "bandwidth": "400 Gb/s", "latency": "8 us", "transport": "roce"},
    ],
}


def place_of(key):
    return Place("s.yaml", key=f"cluster.{key}" if key else "cluster")


def changed(path, value):
    """CLUSTER with the value at a dotted path replaced; ``None`` removes the key."""
    mapping = copy.deepcopy(CLUSTER)
    *parents, last = path.split(".")
    at = mapping
    for part in parents:
        at = at[int(part)] if isinstance(at, list) else at[part]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return mapping


def test_a_cluster_from_scratch():
    built = cluster_from_mapping(CLUSTER, place_of)
    card = built.accelerator
    assert (card.id, card.memory_bytes, card.memory_bandwidth_Bps, card.power_W) == ("X", 96e9, 3e12, 600)
    assert card.peak_flops == {"bf16": 500e12, "fp8": 1e15}
    assert [(tier.bandwidth_Bps, tier.latency_s, tier.domain_size) for tier in built.tiers] == [(400e9, 2e-6, 8), (50e9, 8e-6, None)]
    assert (built.accelerators, built.node_size, built.system) == (64, 8, None)
    memory = next(fact for fact in card.facts if fact.key == "memory")
    assert (memory.original, memory.source.kind, memory.source.reference) == ("96 GB", "inline", "s.yaml [cluster.accelerator.memory]")


def test_numbers_in_si_under_keys_with_the_unit():
    mapping = changed("accelerator.memory", None)
    mapping["accelerator"]["memory_bytes"] = 96e9
    mapping["tiers"][0].pop("bandwidth")
    mapping["tiers"][0]["bandwidth_Bps"] = 400e9
    assert cluster_from_mapping(mapping, place_of).tiers[0].bandwidth_Bps == 400e9
    assert cluster_from_mapping(mapping, place_of).accelerator.memory_bytes == 96e9


def test_both_directions_are_halved_and_links_multiplied():
    assert cluster_from_mapping(changed("tiers.0.bandwidth", "900 GB/s both directions"), place_of).tiers[0].bandwidth_Bps == 450e9
    mapping = changed("tiers.0.bandwidth", "25 GB/s per link per direction")
    mapping["tiers"][0]["links"] = 18
    assert cluster_from_mapping(mapping, place_of).tiers[0].bandwidth_Bps == 450e9


def test_a_catalogue_system_with_changes():
    built = cluster_from_mapping({"system": "DGX H100", "accelerators": 16, "node_size": 4, "nic": "200 Gb/s"}, place_of)
    assert (built.node_size, built.tiers[0].domain_size, built.tiers[1].bandwidth_Bps) == (4, 4, 25e9)


def test_an_accelerator_alone_comes_in_its_usual_system():
    assert cluster_from_mapping({"accelerator": "gb200", "accelerators": 144}, place_of).system.id == "gb200-nvl72"


def test_like_keeps_what_is_not_given():
    base = catalog.accelerator("h100-sxm5-80gb")
    card = accelerator_from_mapping({"like": "H100", "memory": "96 GB", "peak_flops": {"bf16": "800 TFLOP/s"}}, place_of)
    assert (card.id, card.name) == (f"{base.id}-changed", f"{base.name} (changed)")
    assert (card.memory_bytes, card.memory_usable_bytes) == (96e9, None)
    assert card.memory_bandwidth_Bps == base.memory_bandwidth_Bps
    assert (card.peak_flops["bf16"], card.peak_flops["fp8"]) == (800e12, base.peak_flops["fp8"])
    assert "bf16" not in card.achievable
    assert "fp8" in card.achievable
    for key in ("memory", "peak_flops.bf16"):
        assert [fact.source.kind for fact in card.facts if fact.key == key and fact.used] == ["inline"]


@pytest.mark.parametrize(
    ("changes", "own"),
    [
        ({"peak_flops": {"bf16": "2000 TFLOP/s"}}, True),
        ({"memory_bandwidth": "4 TB/s"}, True),
        ({"achievable": {"bf16": 0.5}}, True),
        ({"memory": "96 GB", "power": "500 W", "name": "Mine"}, False),
        ({"memory_bandwidth_Bps": catalog.accelerator("h100-sxm5-80gb").memory_bandwidth_Bps}, False),
    ],
)
def test_a_card_that_runs_otherwise_is_one_of_its_own(changes, own):
    base = catalog.accelerator("h100-sxm5-80gb")
    card = accelerator_from_mapping({"like": "H100", **changes}, place_of)
    assert (card.id != base.id) is own
    assert card.architecture == base.architecture
    assert accelerator_from_mapping({"like": "H100", "name": "Mine", **changes}, place_of).id == ("Mine" if own else base.id)
    assert accelerator_from_mapping({"like": "H100", "id": "mine", **changes}, place_of).id == "mine"


def test_a_described_card_in_a_catalogue_system():
    built = cluster_from_mapping({"system": "dgx-h100", "accelerator": {"like": "H100", "power": "500 W"}, "accelerators": 8}, place_of)
    assert (built.accelerator.power_W, built.system.id) == (500, "dgx-h100")


def test_a_described_system():
    mapping = {key: value for key, value in CLUSTER.items() if key != "accelerators"} | {"name": "Box", "unit_power": "8 kW", "nics_per_node": 8}
    mapping["other_planes"] = [{"name": "VPC", "kind": "vpc", "bandwidth": "50 Gb/s", "latency": "50 us"}]
    found, card = system_from_mapping(mapping, place_of)
    assert (found.id, found.unit_power_W, found.nics_per_node, found.accelerator, card.name) == ("Box", 8e3, 8, "X", "X")
    assert [plane.kind for plane in found.other_planes] == ["vpc"]
    whole = cluster_from_mapping({"system": mapping, "accelerators": 32}, place_of)
    assert (whole.accelerator.id, whole.accelerators, len(whole.other_planes)) == ("X", 32, 1)


@pytest.mark.parametrize(
    ("path", "value", "message", "key"),
    [
        ("accelerators", None, "key.missing", "cluster"),
        ("accelerators", 0, "value.not_positive", "cluster.accelerators"),
        ("accelerators", 8.5, "value.type", "cluster.accelerators"),
        ("accelerators", True, "value.type", "cluster.accelerators"),
        ("node_size", None, "key.missing", "cluster"),
        ("nodesize", 8, "key.unknown", "cluster.nodesize"),
        ("tiers", [], "value.type", "cluster.tiers"),
        ("accelerator", None, "key.missing", "cluster"),
        ("accelerator", "h1000", "catalog.unknown_accelerator", "cluster.accelerator"),
        ("accelerator.name", None, "key.missing", "cluster.accelerator"),
        ("accelerator.memory", None, "key.missing", "cluster.accelerator"),
        ("accelerator.memory", 96, "inline.unit", "cluster.accelerator.memory"),
        ("accelerator.memory", "96", "inline.unit", "cluster.accelerator.memory"),
        ("accelerator.memory", "96 gb", "inline.ambiguous", "cluster.accelerator.memory"),
        ("accelerator.memory", "96 GB/s", "units.wrong_dimension", "cluster.accelerator.memory"),
        ("accelerator.memory", "768 GB per node", "inline.scope", "cluster.accelerator.memory"),
        ("accelerator.memory_bytes", 96e9, "key.conflict", "cluster.accelerator.memory"),
        ("accelerator.power", "0 W", "value.not_positive", "cluster.accelerator.power"),
        ("accelerator.memory_usable_bytes", float("inf"), "value.not_finite", "cluster.accelerator.memory_usable"),
        ("accelerator.peak_flops", {}, "key.missing", "cluster.accelerator.peak_flops"),
        ("accelerator.peak_flops", {"bf17": 1e15}, "inline.precision", "cluster.accelerator.peak_flops.bf17"),
        ("accelerator.achievable", {"bf16": 1.2}, "value.out_of_range", "cluster.accelerator.achievable.bf16"),
        ("tiers.0.bandwidth", "900 GB/s", "units.direction_missing", "cluster.tiers.0.bandwidth"),
        ("tiers.0.bandwidth", "3.6 TB/s per node per direction", "inline.scope", "cluster.tiers.0.bandwidth"),
        ("tiers.0.kind", "scaleup", "value.not_one_of", "cluster.tiers.0.kind"),
        ("tiers.0.latency", None, "key.missing", "cluster.tiers.0"),
        ("tiers.0.domain_size", None, "key.missing", "cluster.tiers"),
        ("tiers.1.domain_size", 4, "inline.order", "cluster.tiers"),
        ("tiers.0.bandwith", "1 GB/s", "key.unknown", "cluster.tiers.0.bandwith"),
        ("system", "dgx-h100", "key.conflict", "cluster.tiers"),
    ],
)
def test_mistakes_are_named(path, value, message, key):
    with pytest.raises(InputError) as caught:
        cluster_from_mapping(changed(path, value), place_of)
    assert (caught.value.message_id, caught.value.place.key) == (message, key)
    told = str(caught.value)
    assert told.startswith("error: s.yaml [")
    assert "\n  remedy: " in told
    assert "(" + message not in told


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"accelerators": 8}, "inline.no_hardware"),
        ([1], "value.type"),
        (None, "value.type"),
        ({"accelerator": {"name": "X"}, "accelerators": 8}, "key.missing"),
    ],
)
def test_what_is_no_cluster(mapping, message):
    with pytest.raises(InputError) as caught:
        cluster_from_mapping(mapping, place_of)
    assert caught.value.message_id == message


def test_a_misspelt_key_suggests_the_right_one():
    with pytest.raises(UnknownNameError) as caught:
        cluster_from_mapping(changed("tiers.0.bandwith", "1 GB/s"), place_of)
    assert caught.value.suggestions[0] == "bandwidth"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*CLUSTER, "name", "kind", "bandwidth", "latency", "like", "system"]), inner, max_size=4)
    ),
    max_leaves=12,
)


def told(mapping):
    """The name of the accelerator of the cluster, or the error."""
    try:
        return cluster_from_mapping(mapping, place_of).accelerator.name
    except InputError as error:
        return str(error)


@given(values)
def test_anything_is_a_cluster_or_a_clear_error(mapping):
    assert told(mapping)


@given(
    st.sampled_from(
        ["accelerators", "node_size", "tiers", "accelerator", "accelerator.memory", "accelerator.peak_flops", "tiers.0.bandwidth", "tiers.1.latency"]
    ),
    values,
)
def test_any_value_of_a_key_is_used_or_refused(path, value):
    assert told(changed(path, value))


@pytest.mark.parametrize("text", ["400G", "400gbps"])
def test_a_rate_that_does_not_say_bits_or_bytes_is_refused(text):
    with pytest.raises(InputError) as caught:
        cluster_from_mapping(
            {"system": "dgx-h100", "accelerators": 16, "nic": text},
            lambda key: Place(key=key),
        )
    assert caught.value.message_id == "inline.ambiguous"

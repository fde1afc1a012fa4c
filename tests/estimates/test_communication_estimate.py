"""Estimates of collectives: the figures that engineers know, without special cases, and properties of the curve."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tierspan.estimates.communication import CollectiveCase, estimate_collectives
from tierspan.estimates.communication.cases import place_of
from tierspan.estimates.communication.estimate import estimate_sizes
from tierspan.estimates.communication.experts import ExpertCase, estimate_experts
from tierspan.specs.catalog import cluster
from tierspan.specs.hardware import Cluster

GIB = float(2**30)
H100, A100, MI300X = cluster("hgx-h100", 2048), cluster("hgx-a100", 2048), cluster("mi300x-node8", 64)
H200, B200 = cluster("hgx-h200", 64), cluster("hgx-b200", 64)


def busbw(machine: Cluster, ranks: int, operation: str, size: float, **choice: object) -> float:
    found = estimate_collectives([CollectiveCase(operation, size, machine, ranks, min(ranks, 8), **choice)])  # type: ignore[arg-type]
    return float(found.busbw_Bps[0] / 1e9)


@pytest.mark.parametrize(
    ("machine", "ranks", "operation", "size", "choice", "expected"),
    [
        (H100, 8, "all_reduce", 16 * GIB, {}, 480),
        (H100, 8, "all_reduce", 16 * GIB, {"nvls": False}, 367),
        (H100, 8, "all_gather", 16 * GIB, {}, 362),
        (A100, 8, "all_reduce", 16 * GIB, {}, 232),
        (MI300X, 8, "all_reduce", 4 * GIB, {}, 313),
        (MI300X, 2, "all_reduce", 4 * GIB, {}, 48),
        (H100, 32, "all_reduce", 16 * GIB, {}, 366),
        (H100, 16, "all_reduce", 16 * GIB, {}, 469),
    ],
    ids=["nvls", "nvls off", "all_gather", "a100", "mi300x 8", "mi300x 2", "four nodes", "two nodes"],
)
def test_bandwidth_at_the_largest_size(machine: Cluster, ranks: int, operation: str, size: float, choice: dict[str, object], expected: float):
    assert busbw(machine, ranks, operation, size, **choice) == pytest.approx(expected, rel=0.08)


@pytest.mark.parametrize(("machine", "ranks", "gain"), [(H200, 4, 1.00), (H200, 8, 1.29), (B200, 4, 1.00), (B200, 5, 1.00), (B200, 8, 1.23)])
def test_gain_of_in_switch_reduction(machine: Cluster, ranks: int, gain: float):
    with_it, without = busbw(machine, ranks, "all_reduce", 8 * GIB), busbw(machine, ranks, "all_reduce", 8 * GIB, nvls=False)
    assert with_it / without == pytest.approx(gain, rel=0.08)


def test_in_switch_reduction_is_for_all_reduce_only():
    assert busbw(H200, 8, "all_gather", 8 * GIB) == pytest.approx(busbw(H200, 8, "all_gather", 8 * GIB, nvls=False))


@pytest.mark.parametrize(("ranks", "microseconds"), [(8, 13), (16, 25), (32, 35)])
def test_latency_of_eight_bytes_on_infiniband(ranks: int, microseconds: float):
    found = estimate_collectives([CollectiveCase("all_reduce", 8, H100, ranks, 8)])
    assert found.time_s[0] * 1e6 == pytest.approx(microseconds, rel=0.2)


@pytest.mark.parametrize(
    ("ranks", "dispatch", "combine"), [(8, 77, 114), (16, 118, 195), (32, 155, 273), (64, 173, 314), (128, 192, 369), (256, 194, 360)]
)
def test_low_latency_experts(ranks: int, dispatch: float, combine: float):
    machine = cluster("hgx-h800", ranks)
    cases = [ExpertCase(name, 128, 7168, 8, machine, ranks, 8, size, low_latency=True) for name, size in (("dispatch", 1), ("combine", 2))]
    found = estimate_experts(cases)
    assert list(found.time_s * 1e6) == pytest.approx([dispatch, combine], rel=0.2)


@pytest.mark.parametrize(("ranks", "logical_GBps"), [(16, 43), (32, 58)])
def test_normal_dispatch_is_of_the_published_order(ranks: int, logical_GBps: float):
    found = estimate_experts([ExpertCase("dispatch", 4096, 7168, 8, cluster("hgx-h800", ranks), ranks, 8, 1)])
    domains = ranks / 8
    logical = found.crossing_bytes / (domains - 1) * domains / found.time_s / 1e9
    assert logical[0] == pytest.approx(logical_GBps, rel=0.35)


def test_two_nodes_of_all_to_all_stay_below_twice_the_nic():
    for size in (2.0**20, GIB, 64 * GIB):
        for machine, ranks in ((H100, 16), (A100, 16), (cluster("gb200-nvl72", 144), 144)):
            found = estimate_collectives([CollectiveCase("all_to_all", size, machine, ranks, machine.node_size)])
            assert found.busbw_Bps[0] <= 2 * machine.tiers[1].bandwidth_Bps


def test_half_of_the_peak_across_nodes_comes_at_16_to_64_mib():
    sizes = 2.0 ** np.arange(10, 35)
    time = estimate_sizes(CollectiveCase("all_reduce", 1, H100, 32, 8), sizes).time_s
    rate = sizes / time
    assert 2.0**23 < sizes[np.argmax(rate > rate.max() / 2)] <= 2.0**26


def test_transports_differ_in_latency():
    times = [
        float(estimate_collectives([CollectiveCase("all_reduce", 8, H100, 16, 8, transport=t)]).time_s[0]) for t in ("infiniband", "efa", "tcpxo")
    ]
    assert times == sorted(times)
    assert times[1] > 2 * times[0]
    a100 = estimate_collectives([CollectiveCase("all_reduce", 8, A100, 16, 8, transport="efa")])
    assert a100.time_s[0] > 1.5 * times[1]


def test_forced_choices_are_kept_and_the_library_takes_the_cheapest():
    own = CollectiveCase("all_reduce", 2.0**26, H100, 32, 8)
    forced = [replace(own, algorithm=a, protocol=p) for a in ("ring", "tree") for p in ("LL", "LL128", "Simple")]
    found = estimate_collectives([own, *forced])
    assert found.algorithm[1:] == ("ring",) * 3 + ("tree",) * 3
    assert found.protocol[1:] == ("LL", "LL128", "Simple") * 2
    assert (found.time_s[0] <= found.time_s[1:]).all()


def test_what_cannot_run_is_not_told():
    found = estimate_collectives([CollectiveCase("all_reduce", GIB, A100, 8, 8, algorithm="nvls")])
    assert np.isnan(found.time_s[0])
    assert found.algorithm == ("",)


def test_protocols_change_with_size():
    sizes = [8.0, 2.0**18, 2.0**32]
    found = estimate_collectives([CollectiveCase("all_reduce", s, A100, 16, 8) for s in sizes])
    assert found.protocol[0] == "LL"
    assert found.protocol[-1] == "Simple"


def test_a_last_domain_that_is_not_full_binds_the_nics():
    full, odd = place_of(CollectiveCase("all_reduce", 8, H100, 16, 8)), place_of(CollectiveCase("all_reduce", 8, H100, 12, 8))
    assert (full.members, odd.members) == (8, 4)
    assert busbw(H100, 12, "all_gather", 8 * GIB) < busbw(H100, 16, "all_gather", 8 * GIB)


def test_a_domain_of_several_hosts_is_one():
    rack = cluster("gb200-nvl72", 144)
    inside, across = place_of(CollectiveCase("all_reduce", 8, rack, 72, 4)), place_of(CollectiveCase("all_reduce", 8, rack, 144, 4))
    assert (inside.members, inside.groups) == (72, 1)
    assert (across.members, across.groups) == (72, 2)
    assert inside.span != across.span


def test_leaving_the_rail_costs_bandwidth():
    own = CollectiveCase("all_to_all", GIB, H100, 64, 8)
    found = estimate_collectives([own, replace(own, rail_aligned=False)])
    assert found.busbw_Bps[1] < 0.6 * found.busbw_Bps[0]


def test_channels_limit_a_ring():
    own = CollectiveCase("all_reduce", 2.0**27, cluster("hgx-b300", 8), 8, 8, algorithm="ring")
    found = estimate_collectives([replace(own, channels=n) for n in (1, 2, 4)])
    assert found.busbw_Bps[0] / 1e9 == pytest.approx(29.4, rel=0.15)
    assert found.busbw_Bps[1] == pytest.approx(2 * found.busbw_Bps[0], rel=0.15)


def test_intervals_hold_the_time():
    found = estimate_collectives([CollectiveCase("all_reduce", s, H100, 16, 8) for s in (8.0, 2.0**24, GIB)])
    assert (found.low_s < found.time_s).all()
    assert (found.time_s < found.high_s).all()


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", "send_recv"]),
    st.sampled_from([H100, A100, MI300X, cluster("gb200-nvl72", 576), cluster("dgx-v100", 64), cluster("cloudmatrix384", 768)]),
    st.integers(2, 64),
    st.floats(1, 2e10),
)
def test_times_are_positive_and_grow_with_size(operation: str, machine: Cluster, ranks: int, size: float):
    one = CollectiveCase(operation, size, machine, ranks, min(ranks, machine.node_size))
    found = estimate_collectives([one, replace(one, size_bytes=2 * size)])
    assert np.isfinite(found.time_s).all()
    assert 0 < found.time_s[0] <= found.time_s[1] * (1 + 1e-9)
    assert found.latency_floor_s[0] <= found.time_s[0]


def test_many_sizes_in_one_call_equal_single_estimates():
    own = CollectiveCase("all_reduce", 1, H100, 32, 8)
    sizes = np.array([8.0, 2.0**20, 2.0**30])
    single = estimate_collectives([replace(own, size_bytes=s) for s in sizes])
    assert estimate_sizes(own, sizes).time_s == pytest.approx(single.time_s)

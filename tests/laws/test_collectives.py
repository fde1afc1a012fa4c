"""Collectives on tiers: hand-solved times, and laws that no algorithm may break."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierspan.laws.collectives import (
    Network,
    all_reduce_s,
    all_to_all_s,
    gather_s,
    ring_bandwidth_Bps,
    ring_latency_s,
    send_s,
    tree_latency_s,
)
from tierspan.laws.groups import GroupSpan, group_span
from tierspan.specs.arrays import MAX_TIERS

GB = 1e9


def column(*values: float) -> np.ndarray:
    """One value a tier, the last one repeated."""
    return np.array([*values, *[values[-1]] * (MAX_TIERS - len(values))])[:, None]


def network(*bandwidth_Bps: float, latency_s: tuple[float, ...] = (0.0,), decay: float = 0.0, in_switch: bool = False) -> Network:
    rate = column(*bandwidth_Bps)
    return Network(rate, rate, column(*latency_s), column(float(in_switch), 0.0), np.array([0.85]), np.array([decay]), np.array([0.75]))


def group(size: float, stride: float = 1, *domain: float) -> GroupSpan:
    sizes = np.array([*domain, *[np.inf] * (MAX_TIERS - len(domain))])[:, None]
    return group_span(np.array([float(size)]), np.array([float(stride)]), sizes)


def volume(gigabytes: float) -> np.ndarray:
    return np.array([gigabytes * GB])


# hand-solved


def test_ring_all_gather_of_one_gigabyte_over_eight_ranks() -> None:
    # 7/8 GB at 400 GB/s
    assert gather_s(volume(1), group(8, 1, 8), network(400 * GB))[0] == pytest.approx(2.1875e-3)
    # and seven hops of 2 us
    slow = network(400 * GB, 50 * GB, latency_s=(2e-6, 6e-6))
    assert gather_s(volume(1), group(8, 1, 8), slow)[0] == pytest.approx(2.1875e-3 + 14e-6)


def test_ring_over_two_nodes_uses_all_eight_rails() -> None:
    g = group(16, 1, 8)
    # 8 x 50 GB/s across is as much as 400 GB/s inside; half of that across halves the ring
    assert ring_bandwidth_Bps(g, network(400 * GB, 50 * GB))[0] == 400 * GB
    assert ring_bandwidth_Bps(g, network(400 * GB, 25 * GB))[0] == 200 * GB
    assert gather_s(volume(1), g, network(400 * GB, 25 * GB))[0] == pytest.approx(15 / 16 / 200)


def test_ring_over_two_nodes_crosses_the_network_once() -> None:
    latency = ring_latency_s(group(16, 1, 8), network(400 * GB, 50 * GB, latency_s=(2e-6, 6e-6)))
    assert latency[0] == pytest.approx(14 * 2e-6 + 1 * 6e-6)


def test_ring_with_one_member_in_each_domain_runs_on_one_rail() -> None:
    g = group(16, 8, 8)
    net = network(400 * GB, 50 * GB, latency_s=(2e-6, 6e-6))
    assert ring_bandwidth_Bps(g, net)[0] == 50 * GB
    assert ring_latency_s(g, net)[0] == pytest.approx(15 * 6e-6)


def test_three_tiers_are_held_by_the_slowest_with_its_own_rails() -> None:
    g = group(64, 1, 8, 32)
    # inside 400, across nodes 8 x 25 = 200, across pods 32 x 5 = 160
    assert ring_bandwidth_Bps(g, network(400 * GB, 25 * GB, 5 * GB))[0] == 160 * GB
    latency = ring_latency_s(g, network(GB, latency_s=(1e-6, 10e-6, 100e-6)))[0]
    assert latency == pytest.approx(56 * 1e-6 + 6 * 10e-6 + 1 * 100e-6)


def test_a_ring_decays_with_each_doubling_of_the_domains() -> None:
    one, two, eight = (gather_s(volume(1), group(n, 1, 8), network(400 * GB, 50 * GB, decay=0.1))[0] for n in (8, 16, 64))
    assert one == pytest.approx(7 / 8 / 400)
    assert two == pytest.approx(15 / 16 / 400 * 1.1)
    assert eight == pytest.approx(63 / 64 / 400 * 1.3)


def test_ring_all_reduce_is_reduce_scatter_and_all_gather() -> None:
    g, net = group(4, 1, 8), network(400 * GB, latency_s=(2e-6,))
    ring = 2 * gather_s(volume(1), g, net)[0]
    assert all_reduce_s(volume(1), g, net)[0] == pytest.approx(ring)


def test_a_small_all_reduce_over_many_nodes_runs_as_a_tree() -> None:
    g, net = group(1024, 8, 8), network(400 * GB, 50 * GB, latency_s=(2e-6, 6e-6))
    tree = 2 * tree_latency_s(g, net)[0] + 2 * 1024 / (50 * GB)
    assert tree_latency_s(g, net)[0] == pytest.approx(10 * 6e-6)
    assert all_reduce_s(np.array([1024.0]), g, net)[0] == pytest.approx(tree)


def test_the_switch_reduces_from_about_eight_ranks_on() -> None:
    plain, switch = network(400 * GB), network(400 * GB, in_switch=True)
    eight = all_reduce_s(volume(1), group(8, 1, 8), switch)[0]
    assert eight == pytest.approx(9 / 8 / (400 * 0.85))
    assert eight < all_reduce_s(volume(1), group(8, 1, 8), plain)[0]
    for outside in (group(4, 1, 8), group(16, 1, 8)):
        assert all_reduce_s(volume(1), outside, switch)[0] == all_reduce_s(volume(1), outside, plain)[0]


def test_a_pair_on_a_mesh_has_one_link() -> None:
    net = replace(network(350 * GB), pair_bandwidth_Bps=column(50 * GB))
    # one link to each peer: a ring of n has n - 1 of the seven
    assert [ring_bandwidth_Bps(group(n, 1, 8), net)[0] / GB for n in (2, 4, 8)] == [50, 150, 350]
    assert send_s(volume(1), group(4, 1, 8), net)[0] == pytest.approx(1 / 50)
    # 3 peers, 3 links of 50 GB/s
    assert all_to_all_s(volume(1), group(4, 1, 8), net)[0][0] == pytest.approx(3 / 4 / 150)


def test_all_to_all_of_sixteen_over_two_nodes_by_tier() -> None:
    inside, across, *rest = all_to_all_s(volume(1), group(16, 1, 8), network(400 * GB, 50 * GB))
    assert inside[0] == pytest.approx(7 / 16 / 400)
    assert across[0] == pytest.approx(8 / 16 / 50)
    assert [r[0] for r in rest] == [0, 0]


def test_a_send_runs_on_the_tier_that_the_group_spans() -> None:
    net = network(400 * GB, 50 * GB, latency_s=(2e-6, 6e-6))
    assert send_s(volume(1), group(2, 4, 8), net)[0] == pytest.approx(1 / 400 + 2e-6)
    assert send_s(volume(1), group(2, 8, 8), net)[0] == pytest.approx(1 / 50 + 6e-6)
    assert send_s(volume(1), group(4, 4, 8), net)[0] == pytest.approx(1 / 50 + 6e-6)


@pytest.mark.parametrize("cost", [gather_s, all_reduce_s, send_s])
def test_one_rank_sends_nothing(cost: Callable[..., np.ndarray]) -> None:
    assert cost(volume(1), group(1, 1, 8), network(GB, latency_s=(1e-6,)))[0] == 0
    assert sum(t[0] for t in all_to_all_s(volume(1), group(1, 1, 8), network(GB, latency_s=(1e-6,)))) == 0


# what always holds

SIZES = st.integers(0, 10).map(lambda e: float(2**e))
STRIDES = st.integers(0, 4).map(lambda e: float(2**e))
DOMAINS = st.integers(0, 8).map(lambda e: float(2**e))
BYTES = st.floats(1e3, 1e11)
INNER = st.floats(5e10, 1e12)
OUTER = st.floats(1e9, 2e10)
"""At most two fifths of the slowest inner tier: a scale-up tier is faster."""


def slowest(seconds: tuple[np.ndarray, ...]) -> float:
    return float(max(s[0] for s in seconds))


def all_costs(size: float, g: GroupSpan, net: Network) -> dict[str, float]:
    v = np.array([size])
    return {
        "gather": float(gather_s(v, g, net)[0]),
        "all_reduce": float(all_reduce_s(v, g, net)[0]),
        "all_to_all": slowest(all_to_all_s(v, g, net)),
        "send": float(send_s(v, g, net)[0]),
    }


@st.composite
def places(draw: st.DrawFn) -> tuple[float, float, float, Network]:
    net = network(
        draw(INNER), draw(OUTER), latency_s=(draw(st.floats(1e-7, 2e-6)), draw(st.floats(3e-6, 2e-5))), decay=draw(st.floats(0, 0.3)),
        in_switch=draw(st.booleans()),
    )  # fmt: skip
    return draw(SIZES), draw(STRIDES), draw(DOMAINS), net


def no_slower(fast: dict[str, float], slow: dict[str, float]) -> None:
    for name, seconds in fast.items():
        assert seconds <= slow[name] * (1 + 1e-9), name


@given(place=places(), size=BYTES, more=st.floats(1, 100))
def test_more_bytes_never_take_less_time(place: tuple[float, float, float, Network], size: float, more: float) -> None:
    n, stride, domain, net = place
    g = group(n, stride, domain)
    no_slower(all_costs(size, g, net), all_costs(size * more, g, net))


@given(place=places(), size=BYTES, tier=st.sampled_from([0, 1]), share=st.floats(0.1, 1))
def test_less_bandwidth_never_takes_less_time(place: tuple[float, float, float, Network], size: float, tier: int, share: float) -> None:
    n, stride, domain, net = place
    g = group(n, stride, domain)
    factor = column(share if tier == 0 else 1.0, share if tier == 1 else 1.0)
    slow = replace(net, bandwidth_Bps=net.bandwidth_Bps * factor, pair_bandwidth_Bps=net.pair_bandwidth_Bps * factor)
    no_slower(all_costs(size, g, net), all_costs(size, g, slow))


@given(place=places(), size=BYTES)
def test_more_ranks_never_take_less_time(place: tuple[float, float, float, Network], size: float) -> None:
    n, stride, domain, net = place
    # the switch is left out: it makes eight ranks faster than four
    net = replace(net, in_network_reduction=column(0.0))
    few, many = group(n, stride, domain), group(2 * n, stride, domain)
    fast, slow = all_costs(size, few, net), all_costs(size, many, net)
    # what each member is sent stays
    slow["all_to_all"] = slowest(all_to_all_s(np.array([2 * size]), many, net))
    no_slower(fast, slow)


@given(place=places(), size=BYTES)
def test_a_larger_domain_is_never_slower(place: tuple[float, float, float, Network], size: float) -> None:
    n, stride, domain, net = place
    # a domain smaller than the stride holds one rank as one of its size would
    small, large = group(n, stride, domain), group(n, stride, domain * 2)
    no_slower(all_costs(size, large, net), all_costs(size, small, net))


@given(place=places(), size=BYTES, scale=st.floats(1e-3, 1e3))
def test_bytes_and_bandwidth_scale_together(place: tuple[float, float, float, Network], size: float, scale: float) -> None:
    n, stride, domain, net = place
    g = group(n, stride, domain)
    scaled = replace(net, bandwidth_Bps=net.bandwidth_Bps * scale, pair_bandwidth_Bps=net.pair_bandwidth_Bps * scale)
    assert all_costs(size * scale, g, scaled) == pytest.approx(all_costs(size, g, net), rel=1e-9)


@given(size=SIZES, stride=STRIDES, domain=DOMAINS, pod=DOMAINS)
def test_all_to_all_sends_every_part_but_its_own(size: float, stride: float, domain: float, pod: float) -> None:
    # at 1 byte/s and without latency the time of a tier is its share
    shares = all_to_all_s(np.array([1.0]), group(size, stride, domain, domain * pod), network(1.0))
    assert sum(s[0] for s in shares) == pytest.approx((size - 1) / size)


@given(place=places(), size=BYTES)
def test_no_rank_sends_above_its_line_rate(place: tuple[float, float, float, Network], size: float) -> None:
    n, stride, domain, net = place
    if n == 1:
        return
    g = group(n, stride, domain)
    line = float(net.bandwidth_Bps[0, 0])
    costs = all_costs(size, g, net)
    assert size * (n - 1) / n / costs["gather"] <= line
    assert size / costs["all_reduce"] <= line
    assert size / costs["send"] <= line
    for t, seconds in enumerate(all_to_all_s(np.array([size]), g, net)):
        share = (g.members[t, 0] - g.inner_members(t)[0]) / n if t <= g.span[0] else 0.0
        assert size * share <= seconds[0] * net.bandwidth_Bps[t, 0] * (1 + 1e-12)


@given(place=places(), size=BYTES)
def test_what_leaves_a_domain_passes_its_rails(place: tuple[float, float, float, Network], size: float) -> None:
    """The floor of every gather: all that the others hold must enter the domain over the rails of its members."""
    n, stride, domain, net = place
    g = group(n, stride, domain)
    if g.span[0] == 0:
        return
    inside = float(g.members[0, 0])
    entering = size * (n - inside) / n
    assert entering / (inside * net.bandwidth_Bps[1, 0]) <= gather_s(np.array([size]), g, net)[0] * (1 + 1e-12)


@given(place=places())
def test_a_ring_takes_all_its_steps(place: tuple[float, float, float, Network]) -> None:
    n, stride, domain, net = place
    steps = ring_latency_s(group(n, stride, domain), replace(net, latency_s=column(1.0)))[0]
    assert steps == pytest.approx(n - 1)


@given(place=places())
def test_a_tree_is_never_deeper_than_the_ring_is_long(place: tuple[float, float, float, Network]) -> None:
    n, stride, domain, net = place
    g = group(n, stride, domain)
    assert tree_latency_s(g, net)[0] <= ring_latency_s(g, net)[0] * (1 + 1e-12) + 1e-18

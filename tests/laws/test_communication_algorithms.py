"""Algorithms of collectives: counts, identities between them, and what no collective can beat."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierspan.laws.communication.all_to_all import all_to_all, cross_rail_share, uneven_bytes
from tierspan.laws.communication.base import Setting
from tierspan.laws.communication.collnet import collnet
from tierspan.laws.communication.direct import one_shot, two_shot
from tierspan.laws.communication.experts import domains_hit, low_latency_s
from tierspan.laws.communication.hierarchical import hierarchical
from tierspan.laws.communication.load_store import crossover_bytes, load_store_s, message_s
from tierspan.laws.communication.mesh import reachable_Bps, rings_of
from tierspan.laws.communication.nvls import nvls, nvls_tree
from tierspan.laws.communication.pat import pat
from tierspan.laws.communication.point_to_point import send_recv, stream_s
from tierspan.laws.communication.recursive_doubling import recursive_doubling
from tierspan.laws.communication.ring import ring
from tierspan.laws.communication.selection import LAWS, candidates
from tierspan.laws.communication.tree import crossing_bytes, tree

SIZE = 1e9


def setting(members: float, groups: float, *, in_switch: float = 1.0, in_network: float = 0.0, size: float = SIZE) -> Setting:
    def one(value: float) -> np.ndarray:
        return np.array([value], dtype=float)

    return Setting(one(size), one(members * groups), one(members), one(groups), one(450e9), one(50e9), one(in_switch), one(in_network), one(np.inf))


def test_ring_goes_round_twice_for_all_reduce():
    walk = ring("all_reduce", setting(8, 4))
    assert walk.up_hops + walk.net_hops == 2 * 31
    assert walk.net_hops == 2 * 3
    assert walk.up_bytes == pytest.approx(2 * 31 / 32 * SIZE)
    assert walk.net_bytes == pytest.approx(2 * 31 / 32 * SIZE / 8)


@pytest.mark.parametrize("operation", ["all_gather", "reduce_scatter"])
def test_halves_of_all_reduce(operation: str):
    whole, half = ring("all_reduce", setting(8, 2)), ring(operation, setting(8, 2))
    assert whole.up_bytes == pytest.approx(2 * half.up_bytes)
    assert whole.net_hops == 2 * half.net_hops


def test_one_domain_sends_nothing_over_the_network():
    for name, law in LAWS.items():
        operation = {"all_to_all": "all_to_all", "send_recv": "send_recv"}.get(name, "all_reduce")
        walk = law(operation, setting(8, 1))
        if walk.valid.all():
            assert walk.net_bytes == 0, name
            assert walk.net_hops == 0, name


@pytest.mark.parametrize(("groups", "share"), [(1, 0.0), (2, 1.0), (3, 1.5), (4, 2.0), (64, 2.0)])
def test_busiest_domain_of_a_double_tree(groups: int, share: float):
    assert crossing_bytes(setting(8, groups)) == pytest.approx(share * SIZE / 8)


def test_two_domains_exchange_half_of_what_a_ring_sends():
    both = setting(8, 2)
    assert tree("all_reduce", both).net_bytes == pytest.approx(ring("all_reduce", both).net_bytes * 8 / 15)


def test_tree_is_for_all_reduce_alone():
    assert tree("all_reduce", setting(8, 2)).valid.all()
    assert not tree("all_gather", setting(8, 2)).valid.any()


def test_gain_of_the_switch_grows_with_the_ranks():
    gains = []
    for ranks in range(3, 9):
        one = setting(ranks, 1)
        gains.append(float((ring("all_reduce", one).up_bytes / nvls("all_reduce", one).up_bytes)[0]))
        assert gains[-1] == pytest.approx(2 * (ranks - 1) / (ranks + 1))
    assert gains == sorted(gains)


def test_the_switch_reduces_one_domain_and_its_tree_several():
    assert nvls("all_reduce", setting(8, 1)).valid.all()
    assert not nvls("all_reduce", setting(8, 2)).valid.any()
    assert not nvls("all_gather", setting(8, 1)).valid.any()
    assert not nvls("all_reduce", setting(8, 1, in_switch=0)).valid.any()
    assert nvls_tree("all_reduce", setting(8, 4)).valid.all()
    assert not nvls_tree("all_reduce", setting(8, 1)).valid.any()


def test_reduction_in_the_network_sends_the_sum_once():
    walk = collnet("all_reduce", setting(8, 16, in_network=1))
    assert walk.net_bytes == pytest.approx(SIZE / 8)
    assert not collnet("all_reduce", setting(8, 16)).valid.any()


def test_logarithmic_algorithms():
    assert pat("all_gather", setting(1, 16)).net_hops == 4
    assert not pat("all_gather", setting(8, 2)).valid.any()
    walk = recursive_doubling("all_gather", setting(1, 32))
    assert walk.net_hops == 5
    assert walk.net_bytes == pytest.approx(31 / 32 * SIZE)


def test_direct_exchange():
    assert one_shot("all_reduce", setting(8, 1)).up_bytes == pytest.approx(7 * SIZE)
    assert two_shot("all_reduce", setting(8, 1)).up_bytes == pytest.approx(2 * 7 / 8 * SIZE)


def test_hierarchy_needs_two_levels():
    assert hierarchical("all_reduce", setting(8, 4)).net_bytes == pytest.approx(2 * 3 / 4 * SIZE / 8)
    assert not hierarchical("all_reduce", setting(8, 1)).valid.any()
    assert not hierarchical("all_reduce", setting(1, 8)).valid.any()


@given(st.integers(1, 72), st.integers(2, 512))
def test_two_domains_or_more_never_beat_the_nic(members: int, groups: int):
    s = setting(members, groups)
    walk = all_to_all("all_to_all", s)
    busbw_over_nic = (s.ranks - 1) / s.ranks * SIZE / walk.net_bytes
    assert busbw_over_nic <= groups / (groups - 1) * (1 + 1e-12)


@given(st.integers(1, 72), st.integers(1, 64), st.sampled_from(sorted(LAWS)), st.sampled_from(["all_reduce", "all_gather", "broadcast", "reduce"]))
def test_counts_are_finite_and_positive(members: int, groups: int, name: str, operation: str):
    walk = LAWS[name](operation, setting(members, groups))
    for value in (walk.up_hops, walk.net_hops, walk.up_bytes, walk.net_bytes):
        assert np.isfinite(value).all()
        assert (value >= 0).all()


def test_uneven_all_to_all_is_bound_by_the_largest_row_or_column():
    matrix = np.array([[0, 1, 1, 1], [1, 0, 1, 9], [1, 1, 0, 1], [1, 1, 1, 0]], dtype=float)
    inside, across = uneven_bytes(matrix, 2)
    assert inside == 1
    assert across == 10  # rank 1 sends 1 + 9 across; rank 3 receives 1 + 9
    even_inside, even_across = uneven_bytes(np.ones((4, 4)), 2)
    assert (even_inside, even_across) == (1, 2)


def test_random_peers_change_the_rail():
    assert cross_rail_share(8) == 7 / 8


def test_a_pair_of_a_mesh_has_one_link():
    rate = reachable_Bps(np.array([448e9, 448e9]), np.array([64e9, 64e9]), np.array([2.0, 8.0]))
    assert list(rate) == [64e9, 448e9]


def test_rings_of_a_partial_mesh():
    links = [[0, 1, 1, 2], [1, 0, 2, 1], [1, 2, 0, 2], [2, 1, 2, 0]]
    assert [rings_of(links, n) for n in (2, 3, 4)] == [1, 2, 4]


def test_a_stream_is_bound_by_messages_or_by_the_wire():
    small, large = stream_s(np.array([8.0, 1e9]), np.array([25e9]), np.array([0.35e-6]))
    assert small == pytest.approx(0.35e-6, rel=1e-3)
    assert large == pytest.approx(1e9 / 25e9, rel=1e-3)


def test_point_to_point_takes_the_innermost_tier():
    assert send_recv("send_recv", setting(8, 1)).up_bytes == SIZE
    assert send_recv("send_recv", setting(1, 2)).net_bytes == SIZE


def test_loads_and_stores_win_small_transfers():
    one = np.array([1e-6])
    line, outstanding = np.array([400e9]), np.array([64e3])
    size = crossover_bytes(3 * one, one, line, outstanding)
    for factor, loads_win in ((0.5, True), (2.0, False)):
        loads = load_store_s(size * factor, one, line, outstanding)
        assert (loads < message_s(size * factor, 3 * one, one, line))[0] == loads_win
    assert np.isinf(crossover_bytes(one, one, line, np.array([1e9])))[0]


def test_experts_hit_fewer_domains_than_they_are():
    hit = domains_hit(np.array([8.0]), np.array([4.0]), np.array([4.0]))
    assert 3.5 < hit[0] < 4
    assert domains_hit(np.array([8.0]), np.array([16.0]), np.array([4.0]))[0] == 4


def test_dispatch_in_one_domain_ignores_the_network():
    one = np.array([1.0])
    args = (7168 * one, 128 * one, 8 * one, 8 * one, 8 * one, 160e9 * one)
    assert low_latency_s(*args, 1e3 * one, 0 * one) == low_latency_s(*args, 50e9 * one, 0 * one)


def test_candidates_begin_with_the_library_s_choice():
    assert candidates("all_reduce")[0] == ("ring", "LL")
    assert ("nvls", "Simple") in candidates("all_reduce")
    assert all(a == "all_to_all" for a, _ in candidates("all_to_all")[:1])

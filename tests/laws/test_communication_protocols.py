"""What a hop and a byte cost by protocol, and which candidate is taken."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from tierspan.laws.communication.base import Setting
from tierspan.laws.communication.protocols import Constants, price, start_and_hops
from tierspan.laws.communication.ring import ring
from tierspan.laws.communication.selection import candidates, choose, gain_over_ring

VALUES = {
    "launch_s": 1e-6, "latency_scale": 1.0, "base_ll_s": 6e-6, "base_ll128_s": 14e-6, "base_simple_s": 8e-6, "base_nvls_s": 25e-6,
    "base_nvls_tree_s": 25e-6, "up_hop_ll_s": 0.6e-6, "up_hop_ll128_s": 1.5e-6, "up_hop_simple_s": 3.6e-6, "spread": 0.0, "spread_bytes": 2e3,
    "net_hop_s": 5e-6, "net_extra_ll128_s": 3.5e-6, "net_extra_simple_s": 9e-6, "up_share": 0.8, "nvls_share": 0.7, "net_share": 0.9,
    "tree_share": 0.9, "nvls_tree_share": 0.9, "pair_loss": 0.0, "ll_Bps": 1e15, "ll128_Bps": 1e15, "ll_gain": 3.0, "fill": 0.0, "fill_net": 0.0,
    "opening": 0.0, "nvls_least_gain": 1.0, "channel_Bps": 25e9, "message_s": 1e-6,
}  # fmt: skip


def constants(**changed: float) -> Constants:
    return Constants(**{f.name: np.array([(VALUES | changed)[f.name]]) for f in fields(Constants)})


def setting(size: float, members: float = 8, groups: float = 1, channels: float = np.inf) -> Setting:
    ranks = members * groups
    return Setting(*(np.array([v], dtype=float) for v in (size, ranks, members, groups, 450e9, 50e9, 1, 0, channels)))


def timed(protocol: str, s: Setting, c: Constants, algorithm: str = "ring"):
    return price(algorithm, protocol, ring("all_reduce", s), s, c)


def test_latency_is_start_and_hops():
    found = timed("LL", setting(0, groups=2), constants())
    assert found.latency_s == pytest.approx(1e-6 + 6e-6 + 28 * 0.6e-6 + 2 * 5e-6)
    assert found.time_s == pytest.approx(found.latency_s)


def test_hops_between_domains_cost_more_with_later_protocols():
    hops = [float(start_and_hops("ring", p, constants())[2][0]) for p in ("LL", "LL128", "Simple")]
    assert hops == pytest.approx([5e-6, 8.5e-6, 14e-6])


@pytest.mark.parametrize(("protocol", "share"), [("LL", 0.5), ("LL128", 120 / 128), ("Simple", 1.0)])
def test_share_of_data_on_the_wire(protocol: str, share: float):
    found = timed(protocol, setting(1e9), constants())
    assert found.wire_s == pytest.approx(1e9 * 2 * 7 / 8 / (450e9 * 0.8 * share))


def test_the_slower_tier_binds():
    inside, across = timed("Simple", setting(1e9), constants()), timed("Simple", setting(1e9, groups=2), constants(net_share=0.5))
    assert inside.up_bound.all()
    assert not across.up_bound.any()
    assert across.wire_s == pytest.approx(1e9 * 2 * 15 / 16 / 8 / (50e9 * 0.5))


def test_filling_ends_at_its_multiple_of_the_latency():
    plain, filled = timed("Simple", setting(1e12), constants()), timed("Simple", setting(1e12), constants(fill=2.0))
    travel = plain.latency_s - 1e-6
    assert filled.time_s - plain.time_s == pytest.approx(2.0 * travel, rel=0.01)
    small = timed("Simple", setting(8), constants(fill=2.0)).time_s - timed("Simple", setting(8), constants()).time_s
    assert small < 1e-3 * travel


def test_until_channels_are_open_time_hardly_grows():
    times = [float(timed("Simple", setting(s), constants(opening=1.0)).time_s[0]) for s in (8.0, 1e6, 2e6)]
    plain = [float(timed("Simple", setting(s), constants()).time_s[0]) for s in (8.0, 1e6, 2e6)]
    assert times[1] - times[0] < 0.2 * (plain[1] - plain[0])


def test_threads_cap_the_short_protocols():
    capped = timed("LL", setting(1e9), constants(ll_Bps=10e9))
    assert capped.wire_s == pytest.approx(1e9 * 2 * 7 / 8 / 30e9)  # three times that of several domains
    assert timed("LL", setting(1e9, groups=2), constants(ll_Bps=10e9)).wire_s == pytest.approx(1e9 * 2 * 15 / 16 / 10e9)


def test_channels_and_pairs_limit_the_link():
    assert timed("Simple", setting(1e9, channels=2), constants()).wire_s == pytest.approx(1e9 * 2 * 7 / 8 / 50e9)
    pair = timed("Simple", setting(1e9, members=2), constants(pair_loss=0.25))
    assert pair.wire_s == pytest.approx(1e9 / (450e9 * 0.8 * 0.75))


def test_messages_spread_over_channels_wait_for_the_slowest():
    found = timed("LL", setting(1e6), constants(spread=0.5))
    assert found.latency_s - timed("LL", setting(1e6), constants()).latency_s == pytest.approx(14 * 0.6e-6 * 0.5, rel=0.01)


def all_allowed(operation: str) -> dict[tuple[str, str], np.ndarray]:
    return {c: np.array([True]) for c in candidates(operation)[:9]}


def test_the_cheapest_that_can_run_is_taken():
    small, large = (choose("all_reduce", setting(s), constants(), all_allowed("all_reduce")) for s in (8.0, 1e10))
    assert candidates("all_reduce")[small.index[0]][1] == "LL"
    assert candidates("all_reduce")[large.index[0]] == ("nvls", "Simple")


def test_the_switch_reduces_only_from_the_least_gain_on():
    s, c = setting(1e10), constants()
    gain = float(gain_over_ring(s, c)[0])
    assert gain == pytest.approx(2 * 7 / 9 * 0.7 / 0.8)
    reluctant = replace(c, nvls_least_gain=np.array([gain * 1.01]))
    assert candidates("all_reduce")[choose("all_reduce", s, reluctant, all_allowed("all_reduce")).index[0]] == ("ring", "Simple")


def test_where_nothing_can_run_nothing_is_told():
    found = choose("all_reduce", setting(1e6, groups=2), constants(), {("nvls", "Simple"): np.array([True])})
    assert found.index[0] == -1

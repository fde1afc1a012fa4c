"""Where groups of ranks stand on the tiers: hand-solved cases and what holds for all."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tierspan.laws.groups import GroupSpan, group_span
from tierspan.specs.arrays import MAX_TIERS


def domains(*sizes: float) -> np.ndarray:
    """Domain sizes of one cluster, padded with infinite ones."""
    return np.array([*sizes, *[np.inf] * (MAX_TIERS - len(sizes))])[:, None]


def span(size: float, stride: float, *sizes: float) -> GroupSpan:
    return group_span(np.array([size]), np.array([stride]), domains(*sizes))


def test_a_group_of_eight_neighbours_stands_inside_a_domain_of_eight() -> None:
    g = span(8, 1, 8)
    assert (g.members[0, 0], g.span[0]) == (8, 0)


def test_a_group_of_sixteen_at_stride_eight_has_one_member_in_each_domain_of_eight() -> None:
    g = span(16, 8, 8)
    assert g.members[:, 0].tolist() == [1, 16, 16, 16]
    assert g.span[0] == 1
    assert g.inner_members(1)[0] == 1


def test_sixteen_neighbours_fill_two_domains_of_eight() -> None:
    g = span(16, 1, 8)
    assert g.members[:, 0].tolist() == [8, 16, 16, 16]
    assert [g.on_tier(t)[0] for t in range(MAX_TIERS)] == [0, 1, 0, 0]


def test_three_tiers_are_climbed_one_by_one() -> None:
    g = span(32, 4, 8, 64)
    assert g.members[:, 0].tolist() == [2, 16, 32, 32]
    assert g.span[0] == 2
    assert g.inner_members(0)[0] == 1


def test_a_stride_that_does_not_divide_the_domain_leaves_room_unused() -> None:
    assert span(4, 3, 8).members[0, 0] == 2


def test_one_rank_is_a_group_on_the_innermost_tier() -> None:
    g = span(1, 64, 8)
    assert (g.size[0], g.members[0, 0], g.span[0]) == (1, 1, 0)


def test_sizes_below_one_count_as_one() -> None:
    g = span(0.25, 0.5, 8)
    assert (g.size[0], g.span[0]) == (1, 0)


def test_a_cluster_of_one_tier_holds_every_group_on_it() -> None:
    assert span(4096, 64).span[0] == 0


def test_one_cluster_serves_many_groups() -> None:
    g = group_span(np.array([8.0, 16.0, 2.0]), np.array([1.0]), domains(8))
    assert g.span.tolist() == [0, 1, 0]
    assert g.members[0].tolist() == [8, 8, 2]


POWER = st.integers(0, 10).map(lambda e: float(2**e))


@given(size=POWER, stride=POWER, inner=POWER, factor=POWER)
def test_members_grow_outward_up_to_the_size(size: float, stride: float, inner: float, factor: float) -> None:
    g = span(size, stride, inner, inner * factor)
    members = g.members[:, 0]
    assert (np.diff(members) >= 0).all()
    assert members[0] >= 1
    assert members[-1] == size
    assert members[int(g.span[0])] == size
    assert sum(g.on_tier(t)[0] for t in range(MAX_TIERS)) == 1


@given(size=POWER, stride=POWER, inner=POWER)
def test_only_the_ratio_of_stride_and_domain_counts(size: float, stride: float, inner: float) -> None:
    one, twice = span(size, stride, inner * 2), span(size, stride * 2, inner * 4)
    assert one.members.tolist() == twice.members.tolist()
    assert one.span.tolist() == twice.span.tolist()


@given(size=POWER, stride=POWER, inner=POWER)
def test_a_larger_domain_never_spreads_a_group_wider(size: float, stride: float, inner: float) -> None:
    small, large = span(size, stride, inner), span(size, stride, inner * 2)
    assert large.span[0] <= small.span[0]
    assert large.members[0, 0] >= small.members[0, 0]

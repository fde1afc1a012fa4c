"""Intervals: wider with doubt and where nobody measured, and what one measured run is worth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierspan.estimates.calibration.ablation import TERMS
from tierspan.estimates.calibration.intervals import Bounds, Spread, after_one_run, bounds_of, spread_of, widened
from tierspan.specs.profile.profile import priors, shipped_profile, transports

FACTORS = st.floats(1.01, 3.0)


@given(FACTORS, FACTORS, st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_doubt_widens_on_both_sides(low: float, high: float, less: float, more: float) -> None:
    less, more = sorted((less, more))
    a, b = (widened(Bounds(1 / low, high, 10), d) for d in (less, more))
    assert b.low <= a.low + 1e-12
    assert b.high >= a.high - 1e-12
    assert widened(Bounds(1 / low, high, 10), 0.0).high == pytest.approx(high)


def test_doubt_of_a_tenth_beside_nothing_is_its_own_80_percent() -> None:
    assert widened(Bounds(1.0, 1.0, 5), 0.1).high == pytest.approx(np.exp(0.12816))


@given(st.floats(0.001, 1.0), st.floats(0.001, 1.0), st.integers(1, 50))
def test_the_share_of_a_group_grows_with_its_runs(between: float, within: float, runs: int) -> None:
    spread = Spread(between, within)
    assert 0.0 < spread.share(runs) <= spread.share(runs + 1) < 1.0 + 1e-12


def test_equal_runs_of_different_groups_leave_nothing() -> None:
    residuals = np.repeat([0.3, -0.2, 0.1, -0.4, 0.2, 0.0], 3)
    groups = [str(g) for g in np.repeat(np.arange(6), 3)]
    spread = spread_of(residuals, groups)
    assert spread.within == 0.0
    assert spread.between > 0.0
    after = after_one_run(residuals, groups, spread)
    assert after is not None
    assert after.low == pytest.approx(1.0)
    assert after.high == pytest.approx(1.0)


def test_groups_of_one_row_tell_nothing_of_what_a_run_is_worth() -> None:
    residuals = np.linspace(-1, 1, 20)
    assert after_one_run(residuals, [str(i) for i in range(20)], Spread(0.1, 0.1)) is None


def test_a_halved_tail_on_the_slow_side_moves_that_side_alone() -> None:
    residuals = np.random.default_rng(1).normal(size=400)
    usual, slow = bounds_of(residuals), bounds_of(residuals, 0.05)
    assert slow.low == usual.low
    assert slow.high > usual.high


def test_the_terms_of_the_ablation_name_constants_that_exist() -> None:
    for term in TERMS.values():
        assert set(term.constants) <= set(priors())


def test_the_shipped_record_tells_what_it_stands_on() -> None:
    record = shipped_profile().record
    errors, table = record["errors"], record["intervals"]
    assert errors["groups left out"]["median_ape"] <= 0.07
    assert errors["groups left out"]["median_ape_curated"] <= 0.055
    assert abs(errors["groups left out"]["bias"]) <= 0.02
    assert errors["sources left out"]["median_ape_curated"] <= 0.12
    assert sum(len(v) for v in shipped_profile().values.values()) <= 110
    assert set(record["ablation"]) == {"nothing", *TERMS}
    assert record["ablation"]["nothing"]["median_ape"] < min(
        record["ablation"][t]["median_ape"] for t in ("host", "attention", "tp", "logits", "stack")
    )
    assert all(groups < 3 and error > 0 for keys in record["few"].values() for groups, error in keys.values())
    one, new = table["one measured run"], table["new stack or accelerator"]
    usual = table["many nodes, device-bound, dense"]
    assert one[1] / one[0] < usual[1] / usual[0] < new[1] / new[0]


def test_no_rate_is_faster_than_the_hardware() -> None:
    """The rate of products with the stack's factor stays below the peak, shares of links below the line rate."""
    values = shipped_profile().values
    fastest = min(values["stack_factor"].values())
    assert max(values["gemm_efficiency"].values()) <= 1.0
    assert values["gemm_efficiency"]["hopper|bf16"] / fastest <= 1.0
    assert all(share <= 1.0 for pair in transports().values() for share in pair)
    assert not {"scale_up_efficiency", "scale_out_efficiency"} & set(values), "links are told by collectives, never by training rows"

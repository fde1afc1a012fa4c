"""Intervals from left-out residuals: order statistics by hand, coverage on new cases, and the table that is kept."""

from __future__ import annotations

import numpy as np
import pytest

from tierspan.estimates.calibration.intervals import ALL, FEW, NEW, Bounds, bounds_of, interval_table, lookup, table_from_json, table_to_json


def test_nineteen_residuals_by_hand() -> None:
    # floor(0.1 x 20) = 2: the second from either end
    b = bounds_of(np.log(np.arange(1.0, 20.0)))
    assert (b.low, b.high, b.rows) == (pytest.approx(2), pytest.approx(18), 19)


def test_few_residuals_give_their_extremes() -> None:
    b = bounds_of(np.log(np.array([1.2, 0.7, 1.0])))
    assert (b.low, b.high, b.rows) == (pytest.approx(0.7), pytest.approx(1.2), 3)


def test_one_residual_is_its_own_bound() -> None:
    b = bounds_of(np.array([0.5]))
    assert b.low == b.high == pytest.approx(np.exp(0.5))


@pytest.mark.parametrize("shape", ["normal", "skewed", "heavy"])
@pytest.mark.parametrize("n", [20, 59, 400])
def test_a_new_case_falls_between_four_times_in_five(shape: str, n: int) -> None:
    """Exchangeable residuals: the mean coverage over many draws is at least 80 %, and not much more where there are many."""
    rng = np.random.default_rng(7)
    draw = {"normal": rng.normal, "skewed": lambda size: rng.exponential(size=size), "heavy": lambda size: rng.standard_t(2, size=size)}[shape]
    inside = []
    for _ in range(600):
        b = bounds_of(0.1 * draw(size=n))
        new = np.exp(0.1 * draw(size=50))
        inside.append(((b.low <= new) & (new <= b.high)).mean())
    # three standard errors of the mean of these draws
    error = 3 * np.std(inside) / np.sqrt(len(inside))
    assert np.mean(inside) >= 0.8 - error
    assert np.mean(inside) <= 0.8 + 2.2 / (n + 1) + error


def test_regimes_with_many_rows_have_their_own_bounds() -> None:
    residuals = np.concatenate([np.linspace(-0.1, 0.1, 100), np.linspace(-1, 1, FEW), np.linspace(-5, 5, FEW - 1)])
    regimes = ["calm"] * 100 + ["wild"] * FEW + ["rare"] * (FEW - 1)
    table = interval_table(residuals, regimes)
    assert set(table) == {ALL, "calm", "wild"}
    assert table["calm"].high < table[ALL].high < table["wild"].high
    assert lookup(table, "calm", True) == (table["calm"], "calm")
    assert lookup(table, "rare", True) == (table[ALL], ALL)
    # no residuals of left-out sources: what is new takes its regime
    assert lookup(table, "calm", False) == (table["calm"], "calm")


def test_runs_that_stall_by_chance_are_kept_out_of_the_whole() -> None:
    residuals = np.concatenate([np.linspace(-0.1, 0.1, 50), np.linspace(-2, 2, 50)])
    table = interval_table(residuals, ["calm"] * 50 + ["nanotron"] * 50)
    assert table[ALL] == table["calm"]
    assert table["nanotron"].high > 4
    assert interval_table(residuals[50:], ["nanotron"] * 50)[ALL].rows == 50


def test_what_is_new_is_never_surer_than_the_whole() -> None:
    residuals, regimes = np.linspace(-0.5, 0.5, 50), ["calm"] * 50
    wide = interval_table(residuals, regimes, np.linspace(-1, 2, 50))
    narrow = interval_table(residuals, regimes, np.linspace(-0.01, 0.01, 50))
    assert wide[NEW].low < wide[ALL].low
    assert wide[NEW].high > wide[ALL].high
    assert (narrow[NEW].low, narrow[NEW].high) == (narrow[ALL].low, narrow[ALL].high)
    assert lookup(wide, "calm", False) == (wide[NEW], NEW)
    assert lookup(wide, "calm", True) == (wide["calm"], "calm")


def test_what_is_new_is_never_surer_than_its_regime() -> None:
    table = {ALL: Bounds(0.9, 1.1, 100), "wild": Bounds(0.5, 1.3, 30), NEW: Bounds(0.8, 1.9, 50)}
    assert lookup(table, "wild", False) == (Bounds(0.5, 1.9, 50), NEW)
    assert lookup(table, "calm", False) == (Bounds(0.8, 1.9, 50), NEW)


def test_a_table_goes_to_json_and_back() -> None:
    table = interval_table(np.linspace(-0.31, 0.47, 60), ["calm"] * 40 + ["wild"] * 20, np.linspace(-1, 1, 30))
    back = table_from_json(table_to_json(table))
    assert back.keys() == table.keys() == {ALL, "calm", "wild", NEW}
    for name, b in table.items():
        assert back[name] == Bounds(pytest.approx(b.low, abs=5e-5), pytest.approx(b.high, abs=5e-5), b.rows)
    assert table_to_json(back) == table_to_json(table)

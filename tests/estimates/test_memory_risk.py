"""The probability of running out: empirical, conformal, asymmetric, falling with the margin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierspan.estimates.memory_risk import Residuals, memory_residuals, oom_probability

SAMPLES = st.lists(st.floats(-0.5, 0.5), min_size=1, max_size=60).map(np.array)


@given(SAMPLES)
def test_it_falls_with_the_margin_and_stays_a_probability(sample: np.ndarray) -> None:
    found = Residuals.of(sample).exceeding(np.linspace(-1.5, 1.5, 301))
    assert np.all(np.diff(found) <= 1e-12)
    assert np.all((found >= 0.0) & (found <= 1.0))


def test_few_rows_never_promise_safety_at_their_edge() -> None:
    few = Residuals.of(np.array([-0.1, 0.0, 0.1]))
    assert float(few.exceeding(np.array([0.1]))[0]) == pytest.approx(1 / 4)
    assert float(few.exceeding(np.array([0.0]))[0]) == pytest.approx(1 / 2)


def test_it_is_what_the_sample_showed() -> None:
    sample = np.random.default_rng(1).normal(0.05, 0.1, 4000)
    fresh = np.random.default_rng(2).normal(0.05, 0.1, 4000)
    found = Residuals.of(sample)
    for margin in (-0.1, 0.0, 0.1, 0.2):
        assert float(found.exceeding(np.array([margin]))[0]) == pytest.approx(float(np.mean(fresh > margin)), abs=0.03)


def test_a_long_tail_on_one_side_does_not_widen_the_other() -> None:
    skewed = Residuals.of(np.concatenate([np.linspace(-0.05, 0.0, 20), np.linspace(0.0, 0.6, 20)]))
    above, below = (float(x) for x in (skewed.exceeding(np.array([0.2]))[0], 1.0 - skewed.exceeding(np.array([-0.2]))[0]))
    assert above > 10 * below


def test_stacks_have_their_own_distributions() -> None:
    table = memory_residuals()
    assert {"megatron-core", "nanotron-fixed", "torchtitan", "torchtitan-staged"} <= set(table)
    at = np.array([0.12])
    risk = {name: float(table[name].exceeding(at)[0]) for name in table}
    assert risk["torchtitan"] > risk["nanotron-fixed"]


def test_an_unchecked_stack_is_wider_on_both_sides() -> None:
    sure, unsure = (oom_probability([("megatron-core", ok)] * 2, np.array([0.3, -0.3])) for ok in (True, False))
    assert unsure[0] > sure[0]
    assert unsure[1] < sure[1]


def test_rows_of_several_stacks_stand_in_order() -> None:
    names = [("megatron-core", True), ("torchtitan", True), ("megatron-core", False)]
    margins = np.array([0.02, 0.2, 0.1])
    together = oom_probability(names, margins)
    alone = [float(oom_probability([n], margins[i : i + 1])[0]) for i, n in enumerate(names)]
    np.testing.assert_allclose(together, alone)

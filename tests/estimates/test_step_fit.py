"""The fit of the step-time constants on data that the law itself made."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from tierspan.estimates.calibration.step_fit import Fit, constants_at, fit_step, layout_of, take
from tierspan.estimates.cases import Case, arrays_of
from tierspan.estimates.step import estimate_step
from tierspan.specs.arrays import Array
from tierspan.specs.catalog import cluster
from tierspan.specs.models import model
from tierspan.specs.profile.profile import Profile, prior_value, priors
from tierspan.specs.stacks.stack import stack
from tierspan.specs.strategy import Job, Strategy

PRIORS = Profile("priors", {})
TRUTH = {
    "gemm_efficiency": {"hopper|bf16": 0.58},
    "attention_efficiency": {"ampere|cudnn": 0.55},
    "step_constant_s": {"": 0.2},
}
"""Three constants a good way from their priors."""


def cases() -> list[Case]:
    """Forty small jobs: two accelerators, two models, five batches, two sequences; some repeat the forward pass, which tells it from the backward."""
    out = []
    for system, spec, batch, sequence in itertools.product(
        ("dgx-h100", "dgx-a100"), ("llama-3.1-8b", "llama-3.2-1b"), (8, 16, 32, 64, 128), (2048, 16384)
    ):
        out.append(
            Case(
                model(spec),
                cluster(system, 8),
                Job(sequence, batch),
                Strategy(recompute="full" if batch in (16, 64) else "none"),
                stack("megatron-core"),
            )
        )
    return out


def measured(jobs: list[Case], values: dict[str, dict[str, float]]) -> Array:
    return estimate_step(arrays_of(jobs, Profile("truth", values))).step_time_s


@pytest.fixture(scope="module")
def recovered() -> Fit:
    jobs = cases()
    assert len(jobs) == 40
    return fit_step(jobs, measured(jobs, TRUTH), np.full(40, 1000.0), iterations=30)


def rate(fit: Fit, name: str, key: str) -> float:
    """What the data can tell: only the ratio to the factor of the stack enters a step (the priors share the rest)."""
    return fit.values[name][key] / fit.values["stack_factor"]["megatron-core"]


def test_the_fit_finds_what_made_the_data(recovered: Fit) -> None:
    assert rate(recovered, "gemm_efficiency", "hopper|bf16") == pytest.approx(0.58, rel=0.03)
    assert rate(recovered, "attention_efficiency", "ampere|cudnn") == pytest.approx(0.55, rel=0.03)
    assert recovered.values["step_constant_s"][""] == pytest.approx(0.2, rel=0.03)
    assert np.abs(recovered.residual).max() < 0.01


def test_the_fit_leaves_alone_what_was_right(recovered: Fit) -> None:
    keys = cases()[-1].keys
    assert rate(recovered, "gemm_efficiency", "ampere|bf16") == pytest.approx(prior_value("gemm_efficiency", keys), rel=0.03)


def test_a_constant_that_no_row_feels_is_not_reported(recovered: Fit) -> None:
    # no experts, no context parallelism, fused attention, one node
    for name in (
        "grouped_efficiency",
        "permute_passes",
        "host_moe_s",
        "cp_exposed",
        "ep_exposed",
        "pp_exposed",
        "softmax_bytes",
        "cast_bytes",
        "jitter",
    ):
        assert name not in recovered.values, name
    assert set(recovered.values["gemm_efficiency"]) == {"hopper|bf16", "ampere|bf16"}


def test_a_constant_that_is_not_to_be_fitted_is_not_reported(recovered: Fit) -> None:
    fixed = {name for name, p in priors().items() if p.fit == "no"}
    assert fixed >= {"scale_up_efficiency", "grouped_efficiency"}
    assert not fixed & set(recovered.values)
    # nor one that is fitted for another stack alone
    assert not {name for name, p in priors().items() if p.fit == "nanotron"} & set(recovered.values)


def test_constants_stay_inside_their_bounds() -> None:
    jobs = cases()
    # steps a hundred times faster than any accelerator, and slower than any
    for factor in (0.01, 100.0):
        fit = fit_step(jobs, measured(jobs, {}) * factor, np.full(40, 1000.0))
        at_bound = 0
        for name, table in fit.values.items():
            low, high = priors()[name].low, priors()[name].high
            for value in table.values():
                assert low * (1 - 1e-5) <= value <= high * (1 + 1e-5), name
                at_bound += value < low * 1.01 or value > high * 0.99
        assert at_bound


def test_without_weight_the_priors_stand() -> None:
    jobs = cases()
    fit = fit_step(jobs, measured(jobs, TRUTH), np.zeros(40))
    for name, table in fit.values.items():
        for key, value in table.items():
            ours = next(c.keys for c in jobs if key in ("", "megatron-core") or key.split("|")[0] == c.cluster.accelerator.architecture)
            assert value == pytest.approx(prior_value(name, ours), rel=1e-4), name


def test_one_stalled_run_does_not_bend_the_law() -> None:
    jobs = cases()
    times = measured(jobs, {})
    times[3] *= 20
    fit = fit_step(jobs, times, np.full(40, 50.0))
    assert fit.residual[3] == pytest.approx(-np.log(20), rel=0.05)
    assert np.abs(np.delete(fit.residual, 3)).max() < 0.02


def test_no_small_step_is_better_than_the_fit() -> None:
    """The fit against its own objective, written out here: noisy data with two stalled runs at the weights of a real fit."""
    jobs = cases()
    keys = [c.keys for c in jobs]
    layout, arrays = layout_of(keys), arrays_of(jobs, PRIORS)
    times = measured(jobs, TRUTH) * np.exp(np.random.default_rng(3).normal(0, 0.06, 40))
    times[[5, 17]] *= 4
    weights = np.full(40, 0.6)
    fit = fit_step(jobs, times, weights, iterations=30)

    def objective(theta: Array) -> float:
        r = np.log(estimate_step(replace(arrays, constants=constants_at(theta, arrays.constants, layout))).step_time_s / times)
        return float((weights * np.log(1 + (r / 0.08) ** 2)).sum() + (((theta - layout.start) / layout.sigma) ** 2).sum())

    best = np.array(
        [np.log(fit.values[name][key]) if key in fit.values.get(name, {}) else at for (name, key), at in zip(layout.names, layout.start, strict=True)]
    )
    found = objective(best)
    assert found < 0.9 * objective(layout.start)
    for p in range(best.size):
        for nudge in (-0.1, -0.03, 0.03, 0.1):
            theta = best.copy()
            theta[p] = np.clip(theta[p] + nudge, layout.low[p], layout.high[p])
            assert objective(theta) > found * (1 - 3e-4), layout.names[p]


def test_constants_of_rows_follow_the_vector() -> None:
    jobs = cases()
    keys = [c.keys for c in jobs]
    layout, base = layout_of(keys), PRIORS.gather(keys)
    at_start = constants_at(layout.start, base, layout)
    for name in type(base).__dataclass_fields__:
        np.testing.assert_allclose(getattr(at_start, name), getattr(base, name), rtol=1e-12, err_msg=name)
    position = layout.names.index(("gemm_efficiency", "hopper|bf16"))
    nudged = layout.start.copy()
    nudged[position] += np.log(2)
    moved = constants_at(nudged, base, layout)
    on_h100 = np.array([c.cluster.accelerator.id == "h100-sxm5-80gb" for c in jobs])
    np.testing.assert_allclose(moved.gemm_efficiency / base.gemm_efficiency, np.where(on_h100, 2, 1))
    # bf16 rows: the wide rate is the same constant
    np.testing.assert_allclose(moved.gemm_efficiency_wide / base.gemm_efficiency_wide, np.where(on_h100, 2, 1))


def test_the_wide_rate_of_an_fp8_row_is_that_of_bf16() -> None:
    jobs = cases()[:2]
    jobs = [jobs[0], replace(jobs[1], job=replace(jobs[1].job, precision="fp8"))]
    layout = layout_of([c.keys for c in jobs])
    assert layout.names[layout.index["gemm_efficiency"][1]] == ("gemm_efficiency", "hopper|fp8")
    assert layout.names[layout.index["gemm_efficiency_wide"][1]] == ("gemm_efficiency", "hopper|bf16")


def test_rows_taken_are_predicted_as_before() -> None:
    jobs = cases()
    arrays = arrays_of(jobs, PRIORS)
    rows = np.array([0, 7, 39])
    np.testing.assert_allclose(estimate_step(take(arrays, rows)).step_time_s, measured(jobs, {})[rows], rtol=1e-12)

"""Parts of the calibration: the Jacobian against plain differences, folds side by side, the weights of the data set."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tierspan.estimates.calibration import cross
from tierspan.estimates.calibration.dataset import DATA_WEIGHT, TrainingData, training_data
from tierspan.estimates.calibration.folds import group_fold
from tierspan.estimates.calibration.step_fit import STEP, _Problem, layout_of
from tierspan.formats.measurements import read_measurements

ROOT = Path(__file__).parents[2]
MEASURED = ROOT / "validation" / "training.csv"
EVERY = 60
"""One row of so many makes the small data set."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> TrainingData:
    """About seventy rows of all sources."""
    with MEASURED.open(newline="", encoding="utf-8") as file:
        head, *lines = list(csv.reader(file))
    path = tmp_path_factory.mktemp("small") / "training.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *lines[::EVERY]])
    return training_data(read_measurements(path).training)


@pytest.fixture(scope="module")
def problem(small: TrainingData) -> _Problem:
    rows = np.flatnonzero(small.weights > 0)
    return _Problem(cross.take(small.arrays, rows), layout_of([small.cases[i].keys for i in rows]), small.measured_s[rows])


NAMES = (
    ("gemm_efficiency", "hopper|bf16"),
    ("attention_efficiency", "hopper|flash-2"),
    ("half_m", ""),
    ("tp_exposed", ""),
    ("tp_call_s", ""),
    ("host_pipeline_s", "nanotron"),
    ("rank_skew_s", "nanotron"),
    ("dp_exposed", ""),
    ("moe_factor", "megatron-bridge"),
)


@pytest.mark.parametrize("name", NAMES, ids=["-".join(n) for n in NAMES])
def test_the_jacobian_is_the_difference_of_the_whole_residual(problem: _Problem, name: tuple[str, str]) -> None:
    theta = problem.layout.start
    r = problem.residual(theta)
    jacobian = problem.jacobian(theta, r, np.ones(theta.size, dtype=bool))
    position = problem.layout.names.index(name)
    nudged = theta.copy()
    nudged[position] += STEP
    plain = (problem.residual(nudged) - r) / STEP
    # a rate that FP8 rows feel through their wide part too is nudged there apart: second order in the step
    np.testing.assert_allclose(jacobian[:, position], plain, rtol=2e-3, atol=1e-4)


def test_a_parameter_that_is_not_wanted_has_no_column(problem: _Problem) -> None:
    theta = problem.layout.start
    r = problem.residual(theta)
    wanted = np.zeros(theta.size, dtype=bool)
    position = problem.layout.names.index(("half_m", ""))
    wanted[position] = True
    jacobian = problem.jacobian(theta, r, wanted)
    assert np.abs(jacobian[:, position]).max() > 0
    assert np.all(np.delete(jacobian, position, axis=1) == 0)


def test_folds_side_by_side_predict_as_one_process(small: TrainingData) -> None:
    folds = [group_fold(row, 3) for row in small.rows]
    told: list[tuple[int, int]] = []
    alone = cross.cross_validate(small, folds, lambda done, whole: told.append((done, whole)))
    assert told == [(1, 3), (2, 3), (3, 3)]
    together = cross.cross_validate(small, folds, processes=2)
    np.testing.assert_array_equal(together.predicted_s, alone.predicted_s)
    np.testing.assert_array_equal(together.host_bound, alone.host_bound)
    np.testing.assert_array_equal(together.fold, alone.fold)
    assert np.isfinite(alone.predicted_s).all()


@pytest.fixture(scope="module")
def whole() -> TrainingData:
    return training_data(read_measurements(MEASURED).training)


def test_a_source_weighs_the_root_of_its_rows(whole: TrainingData) -> None:
    sums: Counter[str] = Counter()
    for row, weight, scored in zip(whole.rows, whole.weights, whole.scored, strict=True):
        if scored:
            sums[row.source] += weight
    rows = Counter(row.source for row, scored in zip(whole.rows, whole.scored, strict=True) if scored)
    assert len(rows) > 10
    for source, count in rows.items():
        assert sums[source] == pytest.approx(DATA_WEIGHT * np.sqrt(count)), source


def test_a_group_weighs_the_root_of_its_rows_inside_its_source(whole: TrainingData) -> None:
    sums: Counter[tuple[str, str, str]] = Counter()
    count: Counter[tuple[str, str, str]] = Counter()
    for row, weight, scored in zip(whole.rows, whole.weights, whole.scored, strict=True):
        if scored:
            group = (row.source, row.model, row.accelerator)
            sums[group] += weight
            count[group] += 1
    by_source: dict[str, list[float]] = {}
    for group, weight in sums.items():
        by_source.setdefault(group[0], []).append(weight / np.sqrt(count[group]))
    for source, ratios in by_source.items():
        np.testing.assert_allclose(ratios, ratios[0], rtol=1e-9, err_msg=source)


def test_rows_that_are_not_scored_weigh_nothing_but_for_derived_series(whole: TrainingData) -> None:
    other = [row for row, weight, scored in zip(whole.rows, whole.weights, whole.scored, strict=True) if weight > 0 and not scored]
    assert all("DERIVED_SERIES" in row.flags for row in other)

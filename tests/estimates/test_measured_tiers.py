"""Measured runs that see the tiers: tensor parallelism that leaves the node, without a pipeline, where its traffic decides."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tierspan.estimates.calibration.dataset import TrainingData, training_data
from tierspan.estimates.calibration.step_fit import take
from tierspan.estimates.cases import arrays_of
from tierspan.estimates.step import Cases, estimate_step
from tierspan.formats.measurements import read_measurements
from tierspan.specs.profile.profile import DATA, shipped_profile

MEASURED = Path(__file__).parents[2].parent / "shared" / "validation" / "training.csv"
MOST_ACCELERATORS = 256
FREE = {"tp_exposed": 0.0, "tp_call_s": 0.0, "rank_skew_s": 0.0}
"""Constants at which tensor-parallel traffic costs nothing."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not MEASURED.is_file(), reason="the measurements lie beside the repository, not in it"),
    pytest.mark.skipif(not (DATA / "profile.json").exists(), reason="no fitted profile ships yet"),
]


@pytest.fixture(scope="module")
def data() -> TrainingData:
    return training_data(read_measurements(MEASURED).training)


@pytest.fixture(scope="module")
def crossing(data: TrainingData) -> np.ndarray:
    """Rows of nanotron without a pipeline whose tensor-parallel ranks do not fit a node."""
    s, c = data.arrays.strategies, data.arrays.clusters
    nanotron = np.array([case.stack.id == "nanotron" for case in data.cases])
    return np.flatnonzero(nanotron & data.scored & (s.pp == 1) & (s.tp > c.node_size) & (c.accelerators <= MOST_ACCELERATORS))


def cases_of(data: TrainingData, rows: np.ndarray) -> Cases:
    constants = arrays_of([data.cases[i] for i in rows], shipped_profile()).constants
    return replace(take(data.arrays, rows), constants=constants)


def median_error(cases: Cases, measured_s: np.ndarray) -> float:
    return float(np.median(np.abs(estimate_step(cases).step_time_s / measured_s - 1)))


def without_tp(cases: Cases) -> Cases:
    k = cases.constants
    return replace(cases, constants=replace(k, **{name: np.full_like(getattr(k, name), value) for name, value in FREE.items()}))


def test_there_are_runs_that_cross(crossing: np.ndarray) -> None:
    assert crossing.size >= 30


def test_traffic_left_out_is_left_out(data: TrainingData, crossing: np.ndarray) -> None:
    cases = cases_of(data, crossing)
    assert np.all(estimate_step(cases).terms["tp"] > 0)
    assert np.all(estimate_step(without_tp(cases)).terms["tp"] == 0)


def test_runs_that_cross_the_node_are_told_within_12_percent(data: TrainingData, crossing: np.ndarray) -> None:
    assert median_error(cases_of(data, crossing), data.measured_s[crossing]) <= 0.12


def test_without_the_traffic_of_the_tiers_they_are_told_much_worse(data: TrainingData, crossing: np.ndarray) -> None:
    cases, measured = cases_of(data, crossing), data.measured_s[crossing]
    assert median_error(without_tp(cases), measured) >= 1.5 * median_error(cases, measured)

"""The statistics of validation: equal to the independent script on the shared files, and their properties."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tierspan.answers.validation.predictions import HEADER, lines, write_predictions
from tierspan.answers.validation.report import collectives_report, memory_report, training_report
from tierspan.answers.validation.statistics import kendall_tau, rank_group, summary
from tierspan.formats.measurements import measured_collective_time_us, measured_step_time_s, read_measurements
from tierspan.quantities.errors import InputError

SHARED = Path(__file__).parents[2].parent / "shared"
positive = st.floats(1e-3, 1e3)


def shared(name):
    path = SHARED / name
    if not path.exists():
        pytest.skip("the shared measurement files are not here")
    return path


def examined(measured, predictions):
    done = subprocess.run(
        [sys.executable, str(shared("examine.py")), str(measured), str(predictions), "--json"], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def assert_holds(ours, theirs, where=""):
    """Everything that the script reports stands in our report, equal to rounding."""
    if isinstance(theirs, dict):
        for key, value in theirs.items():
            assert key in ours, f"{where}/{key}"
            assert_holds(ours[key], value, f"{where}/{key}")
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs), where
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            assert_holds(a, b, f"{where}[{i}]")
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-12), where
    else:
        assert ours == theirs, where


def made_up(measured, seed, ties):
    """Predictions with a spread, gaps, bounds for some, and, where wanted, many equal values."""
    rng = np.random.default_rng(seed)
    m = np.array([np.nan if v is None else v for v in measured])
    p = np.where(np.isfinite(m), m, 1.0) * rng.lognormal(0.1, 0.4, len(m))
    if ties:
        p = 2.0 ** np.round(np.log2(p))
    p[rng.random(len(m)) < 0.15] = np.nan
    low, high = p * rng.uniform(0.5, 1.0, len(m)), p * rng.uniform(1.0, 1.6, len(m))
    bare = rng.random(len(m)) < 0.2
    low[bare] = np.nan
    high[bare] = np.nan
    return p, low, high


def save(path, rows, measured, predicted, low, high, unit, status=None):
    words = status or ["predicted" if np.isfinite(p) else "not predicted" for p in predicted]
    count = write_predictions(path, lines([r.id for r in rows], measured, list(predicted), list(low), list(high), unit, words, [""] * len(rows)))
    assert count == len(rows)


@pytest.mark.parametrize(("seed", "ties"), [(1, False), (2, True)])
def test_training_equals_the_script(tmp_path, seed, ties):
    source = shared("validation/training.csv")
    rows = read_measurements(source).training
    measured = [measured_step_time_s(r) for r in rows]
    p, low, high = made_up(measured, seed, ties)
    save(tmp_path / "out.csv", rows, measured, p, low, high, "s")
    ours = training_report(rows, p, low, high)
    theirs = examined(source, tmp_path / "out.csv")
    assert ours["slopes"]["series"] > 50
    assert len(ours["ranking"]) > 10
    assert_holds(ours, theirs)
    assert set(ours["by"]["source"]) == set(theirs["by"]["source"])


def test_collectives_equal_the_script(tmp_path):
    source = shared("validation/collectives.csv")
    rows = read_measurements(source).collectives
    measured = [measured_collective_time_us(r) for r in rows]
    p, low, high = made_up(measured, 3, False)
    save(tmp_path / "out.csv", rows, measured, p, low, high, "us")
    assert_holds(collectives_report(rows, p, low, high), examined(source, tmp_path / "out.csv"))


def test_memory_equals_the_script(tmp_path):
    source = shared("validation/memory.csv")
    rows = read_measurements(source).memory
    peaks = [r.peak_reserved_gb or r.peak_allocated_gb for r in rows]
    p, low, high = made_up(peaks, 4, False)
    rng = np.random.default_rng(5)
    status = [str(s) for s in rng.choice(["fits", "oom", "not predicted"], len(rows))]
    save(tmp_path / "out.csv", rows, peaks, p, low, high, "GB", status)
    assert_holds(memory_report(rows, p, status), examined(source, tmp_path / "out.csv"))


def test_summary_by_hand():
    got = summary([1, 2, 4, 5], [1.1, 1.0, 4.0, np.nan], [1, 1, 5, 0], [2, 3, 6, 9])
    assert got == pytest.approx({"rows": 3, "median_ape": 0.1, "mean_ape": 0.2, "p90_ape": 0.5, "bias": 0.0, "coverage80": 2 / 3})
    assert summary([1.0], [np.nan]) is None
    assert summary([1.0, 2.0], [1.0, 2.0])["coverage80"] is None
    assert summary([0.0, 2.0], [1.0, 0.0]) is None


def test_a_fast_prediction_has_a_negative_bias():
    assert summary([10, 10], [8, 9])["bias"] == pytest.approx(-0.15)


@settings(deadline=None)
@given(st.lists(st.tuples(positive, positive), min_size=1, max_size=30), st.floats(0.1, 10))
def test_errors_do_not_depend_on_the_unit(pairs, factor):
    m, p = np.array(pairs).T
    one, other = summary(m, p, p * 0.9, p * 1.1), summary(m * 4.0, p * 4.0, p * 3.6, p * 4.4)
    for key in ("median_ape", "mean_ape", "p90_ape", "bias"):
        assert other[key] == pytest.approx(one[key], rel=1e-9, abs=1e-12)
    assert summary(m, m * factor)["bias"] == pytest.approx(factor - 1, abs=1e-9)
    assert one["median_ape"] <= one["p90_ape"] + 1e-15


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=25))
def test_kendall_properties(pairs):
    x, y = np.array(pairs, dtype=float).T
    tau = kendall_tau(x, y)
    assert -1 <= tau <= 1 + 1e-12
    assert kendall_tau(y, x) == pytest.approx(tau)
    assert kendall_tau(x, -y) == pytest.approx(-tau)
    assert kendall_tau(3 * x + 1, y**3) == pytest.approx(tau)
    if len(set(x)) > 1:
        assert kendall_tau(x, x) == pytest.approx(1)


def test_kendall_with_ties_by_hand():
    # Pairs of (1,1)(1,2)(2,2): tied in x, tied in y, concordant: (1-0)/sqrt(2*2).
    assert kendall_tau([1, 1, 2], [1, 2, 2]) == pytest.approx(0.5)
    assert kendall_tau([1, 1], [1, 2]) == 0.0


def test_regret_by_hand():
    got = rank_group("g", [1, 2, 4, 8], [4, 2, 1, 8])
    assert (got["plans"], got["regret"], got["regret_top3"]) == (4, 0.75, 0.0)
    tied = rank_group("g", [1, 2], [3, 3])
    assert (tied["kendall_tau"], tied["regret"]) == (0.0, pytest.approx(0.25))


@settings(deadline=None)
@given(st.lists(positive, min_size=1, max_size=20, unique=True))
def test_a_perfect_order_has_no_regret(times):
    got = rank_group("g", times, np.array(times) * 3)
    assert got["regret"] == pytest.approx(0, abs=1e-12)
    assert got["regret_top3"] == pytest.approx(0, abs=1e-12)


def test_the_prediction_file_has_its_header_and_empty_gaps(tmp_path):
    path = tmp_path / "out.csv"
    write_predictions(
        path,
        lines(
            ["a", "b"], [1.5, None], [0.1 + 0.2, float("nan")], [None, None], [None, None], "s", ["predicted", "not predicted"], ["", "no TP, no PP"]
        ),
    )
    with path.open(newline="", encoding="utf-8") as content:
        read = list(csv.reader(content))
    assert tuple(read[0]) == HEADER
    assert float(read[1][2]) == 0.1 + 0.2
    assert read[2] == ["b", "", "", "", "", "s", "not predicted", "no TP, no PP"]
    with pytest.raises(InputError) as caught:
        write_predictions(tmp_path / "absent" / "out.csv", [])
    assert caught.value.message_id == "validation.cannot_write"

"""How far off the shipped constants are on the public measurements, and that both ways to count it agree."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tierspan.answers.validate import Validation, validate
from tierspan.specs.profile.profile import DATA

SHARED = Path(__file__).parents[2].parent / "shared"
MEASURED = SHARED / "validation"
EXAMINER = SHARED / "examine.py"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not MEASURED.is_dir(), reason="the measurements lie beside the repository, not in it"),
]
needs_fit = pytest.mark.skipif(not (DATA / "profile.json").exists(), reason="no fitted profile ships yet")


@dataclass(frozen=True)
class Told:
    """The product's own report and the examiner's, of the same predictions."""

    own: Validation
    examined: dict[str, Any]


def told(name: str, out: Path) -> Told:
    predictions = out / f"{name}.predictions.csv"
    own = validate(MEASURED / f"{name}.csv", predictions=predictions)
    run = subprocess.run(
        [sys.executable, str(EXAMINER), str(MEASURED / f"{name}.csv"), str(predictions), "--json"], capture_output=True, text=True, check=True
    )
    return Told(own, json.loads(run.stdout))


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return told("training", tmp_path_factory.mktemp("training"))


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return told("memory", tmp_path_factory.mktemp("memory"))


@needs_fit
def test_step_times_meet_the_bar(training: Told) -> None:
    assert training.examined["overall"]["median_ape"] <= 0.13
    assert training.examined["curated"]["median_ape"] <= 0.12


@needs_fit
def test_intervals_hold_what_they_promise(training: Told) -> None:
    assert training.examined["overall"]["coverage80"] >= 0.8


def test_nearly_every_complete_row_is_predicted(training: Told) -> None:
    assert training.examined["complete"] > 1500
    assert training.examined["predicted"] >= 0.95 * training.examined["complete"]


def test_every_row_has_a_line_in_its_order(training: Told) -> None:
    assert len(training.own.lines) == training.own.report["rows"] == training.examined["rows"]
    for line in training.own.lines:
        assert (line.predicted is None) <= (line.reason != ""), line.id
        if line.low is not None and line.predicted is not None and line.high is not None:
            assert 0 < line.low < line.high, line.id


@pytest.mark.parametrize("part", ["overall", "curated"])
def test_the_examiner_counts_the_same(training: Told, part: str) -> None:
    ours, theirs = training.own.report[part], training.examined[part]
    assert ours["rows"] == theirs["rows"]
    for name in ("median_ape", "mean_ape", "p90_ape", "bias", "coverage80"):
        assert ours[name] == pytest.approx(theirs[name], abs=1e-9), name


def test_the_examiner_excludes_the_same(training: Told) -> None:
    for name in ("excluded", "complete", "predicted"):
        assert training.own.report[name] == training.examined[name], name


def test_memory_meets_the_bar(memory: Told) -> None:
    assert memory.examined["memory"]["accuracy"] >= 0.9


def test_the_examiner_counts_memory_the_same(memory: Told) -> None:
    ours, theirs = memory.own.report["memory"], memory.examined["memory"]
    assert set(ours) == set(theirs)
    for name, value in theirs.items():
        assert ours[name] == pytest.approx(value, abs=1e-9), name

"""``tierspan calibrate --adapt``: one's own runs move the shipped constants and narrow the interval; ``--ablation`` tells what terms are worth."""

from __future__ import annotations

import csv
import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from tierspan.faces.cli.main import main

ROOT = Path(__file__).parents[2]
STEPS = ROOT / "docs" / "examples" / "steps.csv"
JOB = [
    "predict", "--system", "dgx-h100", "-n", "64", "--model", "llama-3.1-70b", "--seq-len", "8192", "--global-batch", "128",
    "--tp", "4", "--pp", "4", "--vpp", "5", "--cp", "2", "--stack", "nemo", "--json",
]  # fmt: skip


def told(*arguments: str, code: int = 0) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        got = main(list(arguments))
    assert got == code, err.getvalue()
    return out.getvalue(), err.getvalue()


def steps(tmp_path: Path, scale: float, rows: int = 1) -> Path:
    """The first rows of the example with their measured time scaled."""
    with STEPS.open(encoding="utf-8", newline="") as file:
        kept = list(csv.DictReader(file))[:rows]
    path = tmp_path / "mine.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(kept[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(r | {"value": str(float(r["value"]) * scale)} for r in kept)
    return path


def adapted(tmp_path: Path, scale: float, rows: int = 1) -> tuple[dict, dict]:
    """(answer of calibrate --adapt, prediction with its profile)."""
    out = tmp_path / "own.json"
    answer = json.loads(told("calibrate", str(steps(tmp_path, scale, rows)), "--adapt", "--out", str(out), "--json")[0])
    return answer, json.loads(told(*JOB, "--profile", str(out))[0])


def test_one_measured_run_narrows_the_interval(tmp_path):
    shipped = json.loads(told(*JOB)[0])
    _, own = adapted(tmp_path, 1.0)
    assert own["interval_basis"] == "one measured run"
    assert own["high_s"] / own["low_s"] < shipped["high_s"] / shipped["low_s"]
    assert own["low_s"] < own["step_time_s"] < own["high_s"]


@pytest.mark.parametrize("scale", [0.8, 1.3])
def test_the_prediction_moves_towards_the_run_and_never_past_it(tmp_path, scale):
    shipped = json.loads(told(*JOB)[0])["step_time_s"]
    answer, own = adapted(tmp_path, scale)
    (stack,) = answer["stacks"]
    ratio, taken = stack["measured_over_predicted"], stack["taken_over"]
    assert min(ratio, 1.0) < taken < max(ratio, 1.0)
    assert own["step_time_s"] / shipped == pytest.approx(taken, rel=0.02), "the job is that of the run"
    assert stack["factor_after"] > stack["factor_before"] if scale > 1 else stack["factor_after"] < stack["factor_before"]


def test_more_runs_count_for_more(tmp_path):
    def share(rows: int) -> float:
        (stack,) = adapted(tmp_path, 1.3, rows)[0]["stacks"]
        return (stack["taken_over"] - 1.0) / (stack["measured_over_predicted"] - 1.0)

    assert share(6) > share(1)


def test_other_stacks_keep_their_constants(tmp_path):
    other = [w if w != "nemo" else "torchtitan" for w in JOB]
    before = json.loads(told(*other)[0])
    adapted(tmp_path, 1.3)
    after = json.loads(told(*other, "--profile", str(tmp_path / "own.json"))[0])
    assert after["step_time_s"] == before["step_time_s"]
    assert after["interval_basis"] == before["interval_basis"]


def test_what_the_runs_say_is_told_in_both_languages(tmp_path):
    path = steps(tmp_path, 1.0)
    out = str(tmp_path / "own.json")
    assert "Shipped constants moved to 1 measured run(s) of mine.csv" in told("calibrate", str(path), "--adapt", "--out", out, "--lang", "en")[0]
    assert "1 次实测运行" in told("calibrate", str(path), "--adapt", "--out", out, "--lang", "zh")[0]


def test_adapt_and_ablation_exclude_each_other(tmp_path):
    out, err = told("calibrate", str(STEPS), "--adapt", "--ablation", "--out", str(tmp_path / "x.json"), "--lang", "en", code=2)
    assert out == ""
    assert "--adapt moves constants that were fitted elsewhere" in err
    assert not (tmp_path / "x.json").exists()


def test_a_file_of_another_kind_is_refused(tmp_path):
    memory = tmp_path / "memory.csv"
    memory.write_text((ROOT / "validation" / "memory.csv").read_text(encoding="utf-8").split("\n", 3)[0] + "\n", encoding="utf-8")
    out, err = told("calibrate", str(memory), "--adapt", "--out", str(tmp_path / "x.json"), "--lang", "en", code=2)
    assert out == ""
    assert "remedy" in err

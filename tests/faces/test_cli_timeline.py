"""``predict --timeline`` and ``--schedule`` as a user types them."""

from __future__ import annotations

import json
import re

import pytest

import tierspan
from tierspan.faces.cli import main as entry
from tierspan.specs.strategy import SCHEDULE_CODE

JOB = ["predict", "--system", "dgx-h100", "-n", "256", "--model", "llama-3.1-70b", "--seq-len", "8192", "--global-batch", "512", "--tp", "4"]
JOB += ["--precision", "bf16", "--stack", "megatron-core"]
PIPELINE = [*JOB, "--pp", "8"]


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    code = entry.main(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def told(capsys, *arguments: str) -> dict:
    _, out, err = run(capsys, *arguments, "--json")
    assert err == ""
    return json.loads(out)


def test_both_methods_stand_side_by_side(capsys):
    code, out, err = run(capsys, *PIPELINE, "--vpp", "5", "--timeline")
    assert (code, err) == (0, "")
    text = " ".join(out.split())
    assert "Timeline (dgx-h100) Played task by task (interleaved 1F1B) a step takes" in text
    assert re.search(r"a step takes [\d.]+ s; the closed form says [\d.]+ s: [+-][\d.]+ %\.", text)
    assert re.search(r"Bubble: the mean stage waits [\d.]+ % of the step for others\.", text)
    assert "Micro-batches in flight at most, by stage: 9.4, 9, 8.6, 8.2, 7.8, 7.4, 7, 6.6." in text
    assert re.search(r"tensor-parallel traffic NVLink 4 \(NVSwitch\) [\d.]+ [\d.]+", text[text.index("Timeline (") :])


def test_json_has_the_timeline_where_it_is_asked_for(capsys):
    assert told(capsys, *PIPELINE)["timeline"] is None
    found = told(capsys, *PIPELINE, "--timeline")
    timeline = found["timeline"]
    assert timeline["closed_form_s"] == found["step_time_s"]
    assert timeline["difference"] == pytest.approx(timeline["step_time_s"] / timeline["closed_form_s"] - 1)
    assert abs(timeline["difference"]) < 0.03
    assert timeline["in_flight"] == [8, 7, 6, 5, 4, 3, 2, 1]
    assert {part["kind"] for part in timeline["traffic"]} == {"tp", "pp", "dp"}
    closed = {(part["kind"], part["tier"]): part["exposed_s"] for part in found["traffic"] if part["exposed_s"] > 0}
    assert {(part["kind"], part["tier"]): part["closed_form_s"] for part in timeline["traffic"]} == closed


@pytest.mark.parametrize("schedule", SCHEDULE_CODE)
def test_every_schedule_can_be_asked_for(schedule, capsys):
    found = told(capsys, *PIPELINE, "--schedule", schedule, "--timeline")
    assert found["case"]["strategy"]["schedule"] == schedule
    assert abs(found["timeline"]["difference"]) < 0.03
    assert found["status"] in ("predicted", "does not fit")
    unmeasured = schedule in ("zb-h1", "zb-h2", "dualpipe")
    assert any(a["field"] == "schedule" for a in found["assumptions"]) == unmeasured


def test_less_bubble_is_a_shorter_step(capsys):
    steps = [told(capsys, *PIPELINE, "--schedule", name)["step_time_s"] for name in ("1f1b", "zb-h1", "zb-h2")]
    assert steps == sorted(steps, reverse=True)
    assert steps[0] > steps[2]


def test_a_plan_that_cannot_run_has_no_timeline(capsys):
    code, out, _ = run(capsys, *PIPELINE, "--vpp", "2", "--schedule", "zb-h1", "--timeline")
    assert code == 1
    assert "2 virtual stages with a schedule that has none" in out
    assert "Timeline" not in out
    few = told(capsys, *PIPELINE, "--schedule", "dualpipe", "--global-batch", "64", "--timeline")
    assert (few["status"], few["timeline"]) == ("invalid", None)
    assert [f["id"] for f in few["findings"] if f["severity"] == "error"] == ["strategy.dualpipe"]


def test_an_unknown_schedule_is_exit_2(capsys):
    code, out, err = run(capsys, *PIPELINE, "--schedule", "zb-h3")
    assert (code, out) == (2, "")
    assert err.startswith("error: --schedule: 'zb-h3' is none of 1f1b, interleaved, gpipe, zb-h1, zb-h2, dualpipe")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_text_is_there(lang, capsys):
    code, out, err = run(capsys, *PIPELINE, "--schedule", "zb-h1", "--timeline", "--lang", lang)
    assert (code, err) == (0, "")
    assert "predict.timeline" not in out
    assert {"en": "zero-bubble H1", "zh": "零气泡 H1"}[lang] in out


def test_two_systems_each_have_their_timeline(capsys):
    code, out, err = run(capsys, *PIPELINE, "--beside", "dgx-b200", "--timeline")
    assert (code, err) == (0, "")
    assert "Timeline (dgx-h100)" in out
    assert "Timeline (dgx-b200)" in out
    assert told(capsys, *PIPELINE, "--beside", "dgx-b200", "--timeline")["b"]["timeline"] is not None


def test_python_and_a_job_without_a_pipeline():
    found = tierspan.predict(
        system="dgx-h100", accelerators=8, model="llama-3.1-8b", sequence_length=4096, global_batch=16, tp=8, precision="bf16", timeline=True
    )
    assert found.timeline is not None
    assert found.timeline.bubble_share == 0
    assert abs(found.timeline.difference) < 0.01


def test_a_scenario_names_the_schedule(tmp_path, capsys):
    path = tmp_path / "job.yaml"
    path.write_text(
        "cluster: {system: dgx-h100, accelerators: 256}\nmodel: llama-3.1-70b\njob: {sequence_length: 8192, global_batch: 512}\n"
        "strategy: {tp: 4, pp: 8, schedule: zb-h2}\n",
        encoding="utf-8",
    )
    assert told(capsys, "predict", str(path), "--timeline")["timeline"]["schedule"] == "zb-h2"

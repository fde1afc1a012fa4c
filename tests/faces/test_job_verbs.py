"""predict, fit and scale from the command line: options, scenario files, exit codes, JSON, language."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tierspan.answers.schemas import result_class
from tierspan.faces.cli import main as entry
from tierspan.faces.cli.verbs.scale import sizes_of
from tierspan.quantities.errors import InputError

SCENARIO = """\
cluster: {system: dgx-h100, accelerators: 64}
model: llama-3.1-8b
job: {sequence_length: 8192, global_batch: 128, precision: bf16}
strategy: {tp: 2, zero: 1}
stack: megatron-core
"""
FLAGS = ["--system", "dgx-h100", "-n", "64", "--model", "llama-3.1-8b", "--seq-len", "8192", "--global-batch", "128", "--tp", "2"]
FLAGS += ["--precision", "bf16", "--zero", "1", "--stack", "megatron-core"]
MEGATRON = {
    "--tp": "--tensor-model-parallel-size", "--seq-len": "--seq-length", "--global-batch": "--global-batch-size", "-n": "--accelerators",
}  # fmt: skip
HUGE = ["--model", "llama-3.1-405b", "--tp", "1", "-n", "8", "--global-batch", "8"]


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch):
    for name in ("TIERSPAN_LANG", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def job(tmp_path: Path) -> str:
    path = tmp_path / "job.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    return str(path)


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    code = entry.main(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def told(capsys, *arguments: str) -> dict:
    code, out, err = run(capsys, *arguments, "--json")
    assert err == ""
    return {"exit": code, **json.loads(out)}


def test_a_scenario_and_options_ask_the_same(job, capsys):
    from_file, from_options = told(capsys, "predict", job), told(capsys, "predict", *FLAGS)
    assert from_file == from_options
    assert from_file["exit"] == 0
    assert from_file["status"] == "predicted"


def test_megatron_spellings_ask_the_same(capsys):
    assert told(capsys, "predict", *FLAGS) == told(capsys, "predict", *(MEGATRON.get(word, word) for word in FLAGS))


def test_options_replace_the_scenario(job, capsys):
    found = told(capsys, "predict", job, "--tp", "4", "--no-sequence-parallel", "--recompute", "full", "-n", "128")["case"]
    assert (found["strategy"]["tp"], found["strategy"]["sp"], found["strategy"]["recompute"], found["accelerators"]) == (4, False, "full", 128)


def test_options_that_are_not_given_leave_the_habits(job, capsys):
    found = told(capsys, "predict", job)
    assert found["case"]["strategy"]["sp"] is True
    assert {"sp", "recompute", "micro_batch"} <= {a["field"] for a in found["assumptions"]}


def test_terms_add_up_to_the_step(job, capsys):
    found = told(capsys, "predict", job)
    assert sum(t["seconds"] for t in found["terms"]) == pytest.approx(found["step_time_s"])
    assert sum(t["share"] for t in found["terms"]) == pytest.approx(1.0)


def test_topology_changes_the_answer(job, capsys):
    first = told(capsys, "predict", job)["step_time_s"]
    assert told(capsys, "predict", job, "--nic", "100Gb/s")["step_time_s"] > first
    assert told(capsys, "predict", job, "--tp", "8", "--node-size", "4")["step_time_s"] > told(capsys, "predict", job, "--tp", "8")["step_time_s"]


@pytest.mark.parametrize("verb", ["predict", "fit", "scale"])
def test_json_has_the_fields_of_the_schema(verb, job, capsys):
    pydantic = pytest.importorskip("pydantic")
    _, out, _ = run(capsys, verb, job, "--json")
    fields = set(json.loads(out))
    assert fields == set(pydantic.TypeAdapter(result_class(verb)).json_schema(mode="serialization")["properties"])


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("verb", ["predict", "fit", "scale"])
def test_every_text_is_there(verb, lang, job, capsys):
    code, out, err = run(capsys, verb, job, "--lang", lang)
    assert (code, err) == (0, "")
    assert "llama-3.1-8b" in out or verb == "scale"
    assert "predict." not in out
    assert "(value=" not in out, "an assumption whose reason has no text"


def test_brief_is_the_first_sentence(job, capsys):
    _, whole, _ = run(capsys, "predict", job)
    code, out, _ = run(capsys, "predict", job, "--brief")
    assert code == 0
    assert whole.startswith(out)
    assert len(out.splitlines()) <= 2


def test_no_is_exit_1(job, capsys):
    for verb in ("predict", "fit"):
        code, out, err = run(capsys, verb, job, *HUGE)
        assert (code, err) == (1, "")
        assert "does not fit" in out


def test_a_plan_that_breaks_a_rule_is_exit_1(job, capsys):
    code, out, err = run(capsys, "predict", job, "--tp", "7")
    assert (code, err) == (1, "")
    assert "this plan cannot run" in out
    assert "64 accelerators cannot be cut into groups" in out
    assert told(capsys, "fit", job, "--tp", "7")["status"] == "invalid"
    code, out, err = run(capsys, "scale", job, "--tp", "7")
    assert code == 1
    assert "64 accelerators cannot be cut into groups" in out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--tp", "two"), "error: --tensor-model-parallel-size: 'two' is not a whole number"),
        (("--tp", "0"), "error: --tp: strategy.tp must be greater than 0, not 0"),
        (("--recompute", "ful"), "error: --recompute: 'ful' is none of none, selective, full\n  remedy: Did you mean full?"),
        (("--nic", "400"), "error: --nic: cluster.nic is 400 without a unit"),
        (("--nic", "fast"), "error: --nic: "),
        (("--system", "dgx-h1000"), "error: --system: the catalogue has no system dgx-h1000"),
        (("--stack", "megatron"), "error: --stack: the software stack megatron is not known"),
        (("--model", "no-such-model"), "error: --model: "),
        (("--beside", "nowhere"), "error: --beside: the catalogue has no system nowhere"),
        (("--dp", "5"), "error: --dp: dp 5 does not agree with 64 accelerators"),
    ],
)
def test_wrong_input_is_exit_2(arguments, told, job, capsys):
    code, out, err = run(capsys, "predict", job, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(told)


def test_missing_values_are_asked_for(capsys):
    code, _, err = run(capsys, "predict", "--system", "dgx-h100", "-n", "8", "--model", "llama-3.1-8b")
    assert code == 2
    assert err == (
        "error: not given, and not to be guessed: sequence_length, global_batch\n"
        "  remedy: Add --seq-len ... --global-batch ... on the command line, or job.sequence_length, job.global_batch in the scenario.\n"
    )


def test_two_systems_side_by_side(job, capsys):
    found = told(capsys, "predict", job, "--beside", "dgx-b200")
    assert found["a"]["case"]["system"] == "dgx-h100"
    assert found["b"]["case"]["system"] == "dgx-b200"
    assert found["speedup_per_step"] == pytest.approx(found["b"]["step_time_s"] / found["a"]["step_time_s"])
    code, out, _ = run(capsys, "predict", job, "--beside", "dgx-b200")
    assert code == 0
    assert "dgx-b200" in out.splitlines()[0]
    code, tight, _ = run(capsys, "predict", job, *HUGE, "--beside", "dgx-b200", "--brief")
    assert code == 0, "which is faster is answered"
    assert "The plan does not fit on dgx-h100 and dgx-b200." in " ".join(tight.split())
    assert run(capsys, "predict", job, "--tp", "7", "--beside", "dgx-b200")[0] == 1
    assert f"{found['speedup_per_step'] ** -1:.3g} times the speed of dgx-h100" in " ".join(out.split())


def test_sizes_of_a_curve(job, capsys):
    found = told(capsys, "scale", job, "-n", "64,16,128")
    assert [p["accelerators"] for p in found["points"]] == [64, 16, 128]
    assert found["reference"] == 64
    assert found["points"][0]["efficiency"] == 1.0
    weak = told(capsys, "scale", job, "-n", "64,128", "--weak")
    assert [p["global_batch"] for p in weak["points"]] == [128, 256]
    nodes = told(capsys, "scale", job, "--node-sizes", "8,4")
    assert [p["node_size"] for p in nodes["points"]] == [8, 4]


def test_sizes_where_the_plan_is_invalid_have_no_figures(job, capsys):
    code, out, _ = run(capsys, "scale", job, "-n", "64,3")
    assert code == 0
    line = next(line for line in out.splitlines() if line.split()[:1] == ["3"])
    assert line.split()[-5:] == ["-"] * 5
    assert "plan invalid here" in out


def test_losses_add_up_to_what_is_lost(job, capsys):
    for p in told(capsys, "scale", job, "-n", "32..256")["points"][1:]:
        assert sum(p["losses"].values()) == pytest.approx(1 - p["efficiency"], abs=0.02)


@pytest.mark.parametrize(
    ("text", "sizes"),
    [("512", (512,)), ("512,1024, 2048", (512, 1024, 2048)), ("8..64", (8, 16, 32, 64)), ("8..100", (8, 16, 32, 64)),
     ("64..8,256", (64, 32, 16, 8, 256)),
     ("6..5", (6,)), ("7..7", (7,))],
)  # fmt: skip
def test_texts_of_sizes(text, sizes):
    assert sizes_of(text, "-n") == sizes


@pytest.mark.parametrize(
    "text", ["", "a", "8,,16", "0", "-8", "8..", "0..8", "8...16", "8,8", "8..64,16", "1.5", "８", "9" * 40 + "..8", ",".join(map(str, range(1, 70)))]
)
def test_texts_that_are_no_sizes(text):
    with pytest.raises(InputError) as caught:
        sizes_of(text, "--accelerators")
    assert caught.value.place.key == "--accelerators"
    assert caught.value.message_id.startswith("scale.sizes")

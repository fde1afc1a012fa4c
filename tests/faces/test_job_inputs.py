"""Inputs of a job as a user types them: experts, precisions, LoRA, latent attention, long sequences."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tierspan.faces.cli import main as entry

DENSE = ["--model", "llama-3.1-8b", "--seq-len", "4096", "--global-batch", "256", "--tp", "2", "-n", "64"]
MIXTRAL = ["--model", "mixtral-8x7b", "--seq-len", "4096", "--global-batch", "256", "--ep", "8", "-n", "64"]
DEEPSEEK = ["--model", "deepseek-v3", "--seq-len", "4096", "--global-batch", "2048", "--pp", "8", "--ep", "32", "-n", "256", "--recompute", "full"]
H100, B200, GB300 = ("--system", "dgx-h100"), ("--system", "dgx-b200"), ("--system", "gb300-nvl72")


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch):
    for name in ("TIERSPAN_LANG", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    code = entry.main(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def told(capsys, *arguments: str) -> dict:
    code, out, err = run(capsys, "predict", *arguments, "--json")
    assert err == ""
    return {"exit": code, **json.loads(out)}


def reasons(answer: dict) -> dict[str, str]:
    return {a["field"]: a["reason_id"] for a in answer["assumptions"]}


def test_experts_are_evenly_loaded_unless_said_otherwise(capsys):
    even = told(capsys, *H100, *MIXTRAL)
    assert reasons(even)["expert_imbalance"] == "question.experts_even"
    assert told(capsys, *H100, *MIXTRAL, "--expert-imbalance", "1")["step_time_s"] == even["step_time_s"]
    busy = told(capsys, *H100, *MIXTRAL, "--expert-imbalance", "1.5")
    assert busy["step_time_s"] > even["step_time_s"]
    assert busy["case"]["strategy"]["expert_imbalance"] == 1.5
    assert "expert_imbalance" not in reasons(busy)
    assert "expert_imbalance" not in reasons(told(capsys, *H100, *DENSE))


def test_the_dispatcher_is_that_of_the_stack_unless_said_otherwise(capsys):
    usual = told(capsys, *H100, *DEEPSEEK)
    assert (usual["case"]["strategy"]["dispatcher"], reasons(usual)["dispatcher"]) == ("alltoall", "question.dispatcher")
    steps = {kind: told(capsys, *H100, *DEEPSEEK, "--dispatcher", kind)["step_time_s"] for kind in ("alltoall", "deepep", "hybridep")}
    assert usual["step_time_s"] == steps["alltoall"] > steps["deepep"] == steps["hybridep"]
    assert told(capsys, *H100, *DEEPSEEK, "--stack", "megatron-bridge")["case"]["strategy"]["dispatcher"] == "deepep"


@pytest.mark.parametrize(
    ("lang", "plan", "assumed"),
    [
        ("en", "dispatcher deepep, busiest experts 1.5 x the mean", "experts evenly loaded"),
        ("zh", "分发方式：deepep，最忙的专家为平均的 1.5 倍", "专家负载均衡"),
    ],
)
def test_the_answer_shows_both_inputs(capsys, lang, plan, assumed):
    _, out, _ = run(capsys, "predict", *H100, *DEEPSEEK, "--dispatcher", "deepep", "--expert-imbalance", "1.5", "--lang", lang)
    joined = out.replace("\n", "") if lang == "zh" else " ".join(out.split())
    assert plan.replace(" ", "") in joined.replace(" ", "")
    _, out, _ = run(capsys, "predict", *H100, *DEEPSEEK, "--lang", lang)
    assert assumed.replace(" ", "") in "".join(out.split())


def test_a_scenario_takes_both_inputs(tmp_path: Path, capsys):
    path = tmp_path / "job.yaml"
    text = (
        "cluster: {{system: dgx-h100, accelerators: 64}}\nmodel: mixtral-8x7b\njob: {{sequence_length: 4096, global_batch: 256}}\n"
        "strategy:\n  ep: 8\n  dispatcher: deepep\n  expert_imbalance: {}\n"
    )
    path.write_text(text.format("1.25"), encoding="utf-8")
    options = told(capsys, *H100, *MIXTRAL, "--dispatcher", "deepep", "--expert-imbalance", "1.25")
    assert told(capsys, str(path)) == options
    for wrong, message in (("0.5", "must be a number of 1 or more, not 0.5"), ("yes", "must be a number of 1 or more"), ("9", "is more than 4")):
        path.write_text(text.format(wrong), encoding="utf-8")
        code, out, err = run(capsys, "predict", str(path))
        assert (code, out) == (2, "")
        assert f"{path}:7" in err
        assert message in err


@pytest.mark.parametrize(
    ("arguments", "error", "remedy"),
    [
        (
            [*MIXTRAL, "--expert-imbalance", "0.9"],
            "--expert-imbalance: strategy.expert_imbalance must be a number of 1 or more, not 0.9",
            "Write the most over the mean, such as 1.2; 1 means even.",
        ),
        (
            [*MIXTRAL, "--expert-imbalance", "nan"],
            "--expert-imbalance: strategy.expert_imbalance must be a number of 1 or more, not nan",
            "Write the most over the mean, such as 1.2; 1 means even.",
        ),
        (
            [*MIXTRAL, "--expert-imbalance", "5"],
            "--expert-imbalance: an expert imbalance of 5.0 is more than 4.0: 8 expert-parallel ranks, 2 of 8 experts a token",
            "Give the tokens of the busiest expert-parallel rank over the mean of all ranks, 1 to 4.0; with more ranks (--ep) more is possible.",
        ),
        (
            [*DENSE, "--expert-imbalance", "1.5"],
            "--expert-imbalance: strategy.expert_imbalance is given, and Llama 3.1 8B has no experts",
            "Leave it out, or name a model with experts.",
        ),
        (
            [*DENSE, "--dispatcher", "deepep"],
            "--dispatcher: strategy.dispatcher is given, and Llama 3.1 8B has no experts",
            "Leave it out, or name a model with experts.",
        ),
        ([*MIXTRAL, "--dispatcher", "deepeep"], "--dispatcher: 'deepeep' is none of alltoall, deepep, hybridep", "Did you mean deepep?"),
    ],
)
def test_what_no_routing_can_make_is_exit_2(capsys, arguments, error, remedy):
    code, out, err = run(capsys, "predict", *H100, *arguments)
    assert (code, out) == (2, "")
    assert err == f"error: {error}\n  remedy: {remedy}\n"


@pytest.mark.parametrize("verb", ["predict", "fit", "scale"])
def test_every_verb_about_a_job_takes_both(capsys, verb):
    code, out, err = run(capsys, verb, *H100, *MIXTRAL, "--dispatcher", "hybridep", "--expert-imbalance", "1.5")
    assert (code, err) == (0, "")
    assert out


@pytest.mark.parametrize("job", [DENSE, MIXTRAL, DEEPSEEK], ids=["dense", "moe", "mla"])
@pytest.mark.parametrize("system", [H100, B200, GB300], ids=["h100", "b200", "gb300"])
def test_lower_precisions_are_faster(capsys, system, job):
    steps = [told(capsys, *system, *job, "--precision", "bf16")["step_time_s"]]
    for precision in ("fp8", "mxfp8"):
        found = told(capsys, *system, *job, "--precision", precision)
        assert found["status"] in ("predicted", "does not fit")
        assert found["low_s"] < found["step_time_s"] < found["high_s"]
        assert 0.3 * steps[0] < found["step_time_s"] < steps[0]
        steps.append(found["step_time_s"])
    if system is not H100:
        assert 0.25 * steps[0] < told(capsys, *system, *job, "--precision", "nvfp4")["step_time_s"] < min(steps)


@pytest.mark.parametrize("job", [DENSE, MIXTRAL], ids=["dense", "moe"])
def test_a_precision_without_units_says_which_there_are(capsys, job):
    code, out, err = run(capsys, "predict", *H100, *job, "--precision", "nvfp4")
    assert (code, err) == (1, "")
    text = " ".join(out.split())
    assert "NVIDIA H100 SXM5 80GB has no matrix units for nvfp4" in text
    assert "remedy: choose one of fp32, tf32, fp16, bf16, fp8, mxfp8, int8" in text
    assert told(capsys, *H100, *job, "--precision", "nvfp4")["status"] == "invalid"


@pytest.mark.parametrize("job", [DENSE, MIXTRAL, DEEPSEEK], ids=["dense", "moe", "mla"])
def test_adapters_take_less_time_and_memory(capsys, job):
    whole, adapters = told(capsys, *H100, *job), told(capsys, *H100, *job, "--lora")
    assert 0.5 * whole["step_time_s"] < adapters["step_time_s"] < whole["step_time_s"]
    assert adapters["memory"]["total_bytes"] < whole["memory"]["total_bytes"]


def test_latent_attention_fits_and_runs(capsys):
    found = told(capsys, *H100, *DEEPSEEK)
    assert (found["exit"], found["status"]) == (0, "predicted")
    assert 0.1 < found["mfu"] < 0.5


@pytest.mark.parametrize(
    "job",
    [
        ["--model", "llama-3.1-8b", "--tp", "8"],
        ["--model", "llama-3.1-70b", "--tp", "8", "--recompute", "full"],
        ["--model", "deepseek-v3", "--tp", "8", "--pp", "2", "--ep", "16", "--recompute", "full"],
    ],
    ids=["dense", "large", "mla"],
)
def test_long_sequences_over_context_parallel_ranks(capsys, job):
    base = [*H100, *job, "-n", "256", "--cp", "16"]
    long = told(capsys, *base, "--seq-len", "131072", "--global-batch", "32")
    short = told(capsys, *base, "--seq-len", "8192", "--global-batch", "512", "--micro-batch", "16")
    assert long["status"] != "invalid"
    assert 0.1 < long["mfu"] < 0.6
    terms = {t["name"]: t["seconds"] for t in long["terms"]}
    assert long["binds"] == "attention"
    assert terms["cp"] > 0
    assert long["step_time_s"] > short["step_time_s"], "as many tokens a micro-batch, sixteen times the context"

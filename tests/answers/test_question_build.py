"""Questions: what is given holds, what is left out is taken from habits and noted, what nobody may guess is asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tierspan.answers.habits import habits, usual_stack
from tierspan.answers.question import Given, build_question, question_on
from tierspan.formats.scenario import SETTINGS
from tierspan.quantities.errors import InputError, UnknownNameError
from tierspan.quantities.messages import fill, has, render_error
from tierspan.specs.catalog import accelerator, accelerator_ids
from tierspan.specs.stacks.stack import stacks
from tierspan.specs.strategy import Strategy

JOB = {"model": "llama-3.1-8b", "sequence_length": 4096, "global_batch": 64}
BASE = {"system": "dgx-h100", "accelerators": 16, **JOB}
INLINE = """\
cluster:
  accelerator: H100
  accelerators: 64
  node_size: 8
  tiers:
    - {name: link, kind: scale-up, domain_size: 8, bandwidth: "450 GB/s per direction", latency: "2 us"}
    - {name: net, kind: scale-out, bandwidth: "400 Gb/s", latency: "6 us"}
model: llama-3.1-8b
job: {sequence_length: 4096, global_batch: 64}
"""


def taken(question) -> dict[str, object]:
    return {a.field: a.value for a in question.assumptions}


def refused(*args, **given) -> str:
    with pytest.raises(InputError) as caught:
        build_question(*args, **given)
    return render_error(caught.value, "en")


def scenario(folder: Path, text: str) -> Path:
    path = folder / "job.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_setting_can_be_given():
    assert {s.name for s in SETTINGS} <= set(Given.__annotations__)


def test_what_is_left_out_is_noted_and_used():
    found = build_question(**BASE, tp=8)
    noted = taken(found)
    assert noted["stack"] == found.stack == "megatron-core"
    assert noted["precision"] == found.job.precision == "bf16"
    assert noted["pp, cp"] == 1
    for name in ("zero", "sp", "micro_batch", "recompute", "overlap_grad_reduce", "overlap_param_gather", "overlap_tp", "rank_order"):
        assert noted[name] == getattr(found.strategy, name), name
    assert (found.strategy.sp, found.strategy.zero, found.strategy.recompute, found.strategy.micro_batch) == (True, 1, "none", 1)


def test_what_is_given_is_not_noted():
    plan = {"tp": 2, "pp": 2, "cp": 1, "vpp": 2, "zero": 0, "micro_batch": 2, "recompute": "full", "sp": False, "overlap_grad_reduce": False,
            "overlap_param_gather": False, "overlap_tp": False, "overlap_p2p": False, "rank_order": "tp-pp-cp-ep-dp"}  # fmt: skip
    found = build_question(**BASE, **plan, precision="fp8", stack="nemo")
    assert found.assumptions == ()
    assert found.strategy == Strategy(**plan, schedule="interleaved")


def test_switches_without_traffic_are_not_noted():
    noted = taken(build_question(**{**BASE, "accelerators": 1}))
    assert not {"sp", "overlap_tp", "overlap_p2p", "overlap_grad_reduce", "overlap_param_gather"} & noted.keys()
    assert noted["tp, pp, cp"] == 1


def test_experts_are_a_matter_of_models_that_have_them():
    dense, moe = (taken(build_question(**{**BASE, "model": name}, tp=2, stack="megatron-bridge")) for name in ("llama-3.1-8b", "mixtral-8x7b"))
    assert "pp, cp" in dense
    assert "etp" not in dense
    assert "pp, cp, ep" in moe
    assert moe["etp"] == 1


def test_load_and_dispatcher_of_experts_are_noted_where_nobody_says_them():
    def plan(stack: str = "megatron-core", **given: object):
        found = build_question(**{**BASE, "model": "mixtral-8x7b", "stack": stack, **given})
        return found.strategy, taken(found)

    even, noted = plan(ep=8)
    assert (even.expert_imbalance, even.dispatcher) == (noted["expert_imbalance"], noted["dispatcher"]) == (1.0, "alltoall")
    assert plan("megatron-bridge", ep=8)[1]["dispatcher"] == "deepep"
    alone, noted = plan(ep=1)
    assert alone.dispatcher is None, "no token travels"
    assert noted["expert_imbalance"] == 1.0
    assert "dispatcher" not in noted
    told, noted = plan(ep=8, expert_imbalance=2, dispatcher="hybridep")
    assert (told.expert_imbalance, told.dispatcher, noted["memory"]) == (2.0, "hybridep", "experts evenly loaded")
    assert not {"expert_imbalance", "dispatcher"} & noted.keys()
    dense = build_question(**BASE)
    assert (dense.strategy.expert_imbalance, dense.strategy.dispatcher) == (1.0, None)
    assert not {"expert_imbalance", "dispatcher"} & taken(dense).keys()


def test_a_stack_that_shards_everything_takes_its_share_at_once():
    found = build_question(system="tpu-v5p-pod", accelerators=16, **JOB)
    assert (found.stack, found.strategy.zero, found.strategy.micro_batch) == ("maxtext-tpu", 3, 4)


def test_every_reason_has_a_text_in_both_languages():
    for system, stack in (("dgx-h100", None), ("H100", None), ("tpu-v5p-pod", None), ("cloudmatrix384", "unknown")):
        for a in build_question(system=system, accelerators=16, **JOB, tp=2, stack=stack).assumptions:
            assert has(a.reason_id)
            for lang in ("en", "zh"):
                assert a.reason_id not in fill(a.reason_id, lang, a.values)


@pytest.mark.parametrize("name", accelerator_ids())
def test_every_accelerator_has_a_usual_stack(name):
    found = usual_stack(accelerator(name))
    assert found in stacks()
    assert found != "unknown"


@pytest.mark.parametrize("name", stacks())
def test_every_stack_has_habits(name):
    assert habits(name).zero in (0, 1, 2, 3)


def test_habits_of_a_release_are_those_of_its_family():
    assert habits("megatron-bridge-26.02") == habits("megatron-bridge")
    assert habits("unknown") == habits(stacks()["unknown"].family)


def test_what_may_not_be_guessed_is_asked_for():
    assert refused(system="dgx-h100", accelerators=8) == (
        "error: not given, and not to be guessed: model, sequence_length, global_batch\n"
        "  remedy: Add --model ... --seq-len ... --global-batch ... on the command line, "
        "or model, job.sequence_length, job.global_batch in the scenario."
    )
    assert "system, accelerators, model" in refused()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"tp": True}, "strategy.tp must be a whole number, not True"),
        ({"zero": 7}, "strategy.zero must lie between 0 and 3, and is 7"),
        ({"precision": "bf61"}, "Did you mean bf16?"),
        ({"stack": "megatron"}, "the software stack megatron is not known; nearest: megatron-lm"),
        ({"system": "dgx-h1000"}, "the catalogue has no system dgx-h1000; nearest: dgx-h100"),
        ({"model": "lama-3.1-8b"}, "llama-3.1-8b"),
        ({"model": "missing/config.json"}, "missing/config.json"),
        ({"nic": "400"}, "cluster.nic is 400 without a unit"),
        ({"node_size": 9}, "9 accelerators in one node are more than dgx-h100 has (8)"),
        ({"rank_order": "tp-pp"}, "the rank order 'tp-pp' must name tp, cp, dp and pp once each"),
        ({"dp": 3, "tp": 2}, "dp 3 does not agree with 16 accelerators: tp 2 x pp 1 x cp 1 x dp 3 = 6"),
    ],
)
def test_wrong_values(given, told):
    assert told in refused(**{**BASE, **given})


def test_an_unknown_setting_is_an_error():
    with pytest.raises(UnknownNameError, match="global_batch"):
        build_question(**BASE, global_batches=3)  # type: ignore[call-arg]


def test_dp_that_agrees_is_accepted():
    assert build_question(**BASE, tp=2, dp=8).strategy.tp == 2


def test_hardware_can_be_changed():
    found = build_question(**BASE, node_size=4, nic="200Gb/s")
    assert found.cluster.node_size == found.cluster.scale_up_domain_size == 4
    assert found.cluster.tiers[1].bandwidth_Bps == 25e9
    assert build_question(**BASE, nic=25e9).cluster.tiers[1].bandwidth_Bps == 25e9


def test_an_accelerator_stands_for_its_usual_system():
    for given in ({"system": "H100"}, {"accelerator": "H100"}):
        found = build_question(**given, accelerators=16, **JOB)
        assert found.cluster.system is not None
        assert found.cluster.system.id == taken(found)["system"] == "dgx-h100"
        assert taken(found)["accelerator"] == "h100-sxm5-80gb", "what the alias leaves open is noted"


def test_given_values_replace_those_of_the_scenario(tmp_path):
    path = scenario(tmp_path, "cluster: {system: dgx-h100, accelerators: 16, nic: 100Gb/s}\nmodel: llama-3.1-8b\n"
                    "job: {sequence_length: 4096, global_batch: 64}\nstrategy: {tp: 8, pp: 2}\n")  # fmt: skip
    assert build_question(path).strategy.tp == 8
    found = build_question(path, tp=2, accelerators=32, sequence_length=8192)
    assert (found.strategy.tp, found.strategy.pp, found.cluster.accelerators, found.job.sequence_length) == (2, 2, 32, 8192)
    other = build_question(path, system="dgx-a100")
    assert other.cluster.accelerators == 16
    assert other.cluster.tiers[1].bandwidth_Bps == build_question(system="dgx-a100", accelerators=16, **JOB).cluster.tiers[1].bandwidth_Bps


def test_a_cluster_described_inline(tmp_path):
    path = scenario(tmp_path, INLINE)
    found = build_question(path)
    assert found.cluster.system is None
    assert [t.name for t in found.cluster.tiers] == ["link", "net"]
    told = refused(path, nic="200Gb/s")
    assert "nic is given for a catalogue system, and this cluster is described tier by tier" in told
    wrong = scenario(tmp_path, INLINE.replace('"400 Gb/s"', '"400"'))
    assert refused(wrong).startswith(f"error: {wrong}:7 [cluster.tiers.1.bandwidth]: cluster.tiers.1.bandwidth is 400 without a unit")


def test_a_system_in_a_file_of_its_own(tmp_path):
    body = INLINE.split("model:")[0].replace("cluster:\n", "").replace("  accelerators: 64\n", "")
    (tmp_path / "mine.yaml").write_text("\n".join(line[2:] for line in body.splitlines()) + "\n", encoding="utf-8")
    path = scenario(tmp_path, "cluster: {system: mine.yaml, accelerators: 32}\nmodel: llama-3.1-8b\njob: {sequence_length: 4096, global_batch: 64}\n")
    found = build_question(path)
    assert (found.cluster.accelerators, found.cluster.tiers[0].name) == (32, "link")
    assert build_question(system=tmp_path / "mine.yaml", accelerators=8, **JOB).cluster.accelerators == 8
    (tmp_path / "mine.yaml").write_text("node_size: 8\n", encoding="utf-8")
    assert f"{tmp_path / 'mine.yaml'}" in refused(path), "the error names the file of the system"


def test_a_model_from_a_config(tmp_path):
    shape = {
        "model_type": "llama",
        "hidden_size": 512,
        "intermediate_size": 1024,
        "num_hidden_layers": 4,
        "num_attention_heads": 8,
        "vocab_size": 1000,
    }
    (tmp_path / "config.json").write_text(json.dumps(shape), encoding="utf-8")
    path = scenario(tmp_path, "cluster: {system: dgx-h100, accelerators: 8}\nmodel: config.json\njob: {sequence_length: 128, global_batch: 8}\n")
    assert build_question(path).model.layers == 4, "relative to the folder of the scenario"
    for given in (tmp_path / "config.json", str(tmp_path), shape):
        assert build_question(**{**BASE, "model": given}).model.hidden == 512


@pytest.mark.parametrize(("system", "precision"), [("dgx-h100", "bf16"), ("v100-pcie-node8", "fp16"), ("dgx-spark", "bf16")])
def test_the_usual_precision(system, precision):
    assert build_question(system=system, accelerators=1, **JOB).job.precision == precision


def test_the_same_question_on_another_system():
    given = {**BASE, "nic": "200Gb/s", "stack": "megatron-core", "tp": 8}
    first = build_question(**given)
    same = question_on(first, "dgx-b200", **given)
    assert same.stack == "megatron-core"
    assert same.cluster.tiers[1].bandwidth_Bps > 25e9, "the NIC of the first system does not hold for the other"
    other = question_on(first, "cloudmatrix384", **given)
    assert other.stack == "modellink"
    assert other.assumptions[0].reason_id == "question.stack_other"
    assert (other.strategy.tp, other.job.sequence_length, other.cluster.accelerators) == (8, 4096, 16)

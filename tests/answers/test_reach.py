"""A cluster reaches no further than its outermost tier, and says which of the two usual tiers it lacks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tierspan.answers.collective import collective
from tierspan.answers.compare import compare
from tierspan.answers.comparison.setting import Asked
from tierspan.answers.fit import fit
from tierspan.answers.predict import predict
from tierspan.answers.question import build_question
from tierspan.answers.scale import scale
from tierspan.quantities.errors import InputError
from tierspan.quantities.messages import fill, languages, render_error, render_finding
from tierspan.specs.catalog import cluster, system_ids
from tierspan.specs.hardware import Cluster
from tierspan.specs.tier_rules import tier_findings

LINK = {"name": "link", "kind": "scale-up", "domain_size": 8, "bandwidth": "450 GB/s per direction", "latency": "2 us"}
NET = {"name": "net", "kind": "scale-out", "bandwidth": "400 Gb/s", "latency": "6 us"}
POD = {"name": "pod", "accelerator": "H100", "node_size": 8}
JOB = {"model": "llama-3.1-8b", "sequence_length": 4096, "global_batch": 2048, "tp": 8}
FILE = """\
name: pod
accelerator: H100
node_size: 8
tiers:
  - {name: link, kind: scale-up, domain_size: 8, bandwidth: "450 GB/s per direction", latency: "2 us"}
"""


def pod(*tiers: object) -> dict[str, object]:
    return {**POD, "tiers": [*tiers]}


def refused(**given: object) -> InputError:
    with pytest.raises(InputError) as caught:
        build_question(**{**JOB, **given})
    return caught.value


def found(**given: object) -> dict[str, str]:
    return {f.id: f.severity for f in predict(build_question(**{**JOB, **given})).findings if f.id.startswith("cluster.")}


def test_more_accelerators_than_the_outermost_tier_joins_are_refused(tmp_path: Path):
    file = tmp_path / "pod.yaml"
    file.write_text(FILE, encoding="utf-8")
    text = render_error(refused(system=str(file), accelerators=2048), "en")
    assert text.startswith(f"error: {file}:4 [tiers]: there are 2048 accelerators, and the outermost tier, link, joins 8")
    assert "scale-out" in text
    assert "--nic" in text
    assert refused(system=pod(LINK), accelerators=9).message_id == "cluster.no_path"
    assert refused(system=pod(LINK, {**NET, "domain_size": 64}), accelerators=65).values["domain"] == 64


def test_tiers_that_stand_in_the_scenario_are_refused_at_their_line(tmp_path: Path):
    file = tmp_path / "job.yaml"
    told = "model: llama-3.1-8b\njob: {sequence_length: 4096, global_batch: 64}\n"
    file.write_text("cluster:\n  accelerators: 16\n" + "".join(f"  {line}\n" for line in FILE.splitlines()) + told, encoding="utf-8")
    with pytest.raises(InputError, match=r"job.yaml:6 \[cluster.tiers\]"):
        build_question(file)
    assert build_question(file, nic="400Gb/s").cluster.tiers[1].kind == "scale-out"


def test_one_tier_is_enough_for_one_domain_and_is_told():
    assert found(system=pod(LINK), accelerators=8) == {"cluster.no_scale_out": "info"}
    assert found(system=pod(LINK, NET), accelerators=8) == {}
    assert found(system=pod(LINK, NET), accelerators=64) == {}
    assert found(system=pod(NET), accelerators=64) == {"cluster.no_scale_up": "info"}
    assert found(system=pod(LINK), accelerators=1, tp=1) == {}
    boundless = pod({**LINK, "domain_size": None})
    assert found(system=boundless, accelerators=8) == {"cluster.no_scale_out": "info"}
    assert found(system=boundless, accelerators=64) == {"cluster.unbounded": "warning"}


def test_the_rate_of_the_network_makes_the_missing_tier_and_is_noted():
    question = build_question(**JOB, system=pod(LINK), accelerators=2048, nic="200Gb/s")
    network = question.cluster.tiers[1]
    assert (network.kind, network.domain_size, network.bandwidth_Bps) == ("scale-out", None, 25e9)
    noted = next(a for a in question.assumptions if a.field == "network")
    for lang in languages():
        assert f"{network.latency_s * 1e6:g}" in fill(noted.reason_id, lang, {**noted.values, "value": noted.value})
    prediction = predict(question)
    assert {g.tier for g in prediction.placement if g.kind == "dp"} == {network.name}
    assert not [f for f in prediction.findings if f.id.startswith("cluster.")]
    assert refused(system=pod({**LINK, "domain_size": None}), accelerators=8, nic="200Gb/s").message_id == "cluster.nothing_beyond"


def test_a_described_network_takes_the_rate_that_is_given():
    question = build_question(**JOB, system=pod(LINK, NET), accelerators=64, nic="200Gb/s")
    assert [t.bandwidth_Bps for t in question.cluster.tiers] == [450e9, 25e9]
    assert "network" not in {a.field for a in question.assumptions}


def test_no_answer_goes_beyond_the_outermost_tier():
    question = build_question(**JOB, system=pod(LINK), accelerators=8)
    with pytest.raises(InputError) as caught:
        scale(question, [8, 16])
    assert caught.value.message_id == "cluster.no_path"
    assert scale(question, [8]).points[0].status == "predicted"
    small = replace(question, strategy=replace(question.strategy, tp=1), job=replace(question.job, sequence_length=512))
    assert (fit(small).smallest_accelerators or 0) <= 8
    with pytest.raises(InputError, match="nothing leads from one of its domains"):
        replace(question.cluster, accelerators=16)
    with pytest.raises(InputError, match="do not fit"):
        collective(operation="all_reduce", cluster=question.cluster, size_bytes=2.0**20, ranks=16)


NO_NETWORK_KNOWN = ("trainium3-alone", "ascend-950pr-alone", "atlas950")


@pytest.mark.parametrize("name", NO_NETWORK_KNOWN)
def test_a_system_whose_network_nobody_states_needs_one_to_grow(name: str):
    with pytest.raises(InputError) as caught:
        cluster(name, 100_000)
    assert caught.value.message_id == "cluster.no_path"
    assert cluster(name, 100_000, nic_Bps=50e9).accelerators == 100_000


@pytest.mark.parametrize("name", [name for name in system_ids() if name not in NO_NETWORK_KNOWN])
def test_every_system_of_the_catalogue_grows(name: str):
    large = cluster(name, 100_000)
    assert isinstance(large, Cluster)
    assert [f.id for f in tier_findings(large)] in ([], ["cluster.no_scale_up"])


def test_the_findings_read_in_every_language():
    for tiers, count in ((pod(LINK), 8), (pod(NET), 8), (pod({**LINK, "domain_size": None}), 64)):
        told = tier_findings(build_question(**JOB, system=tiers, accelerators=count).cluster)
        for lang in languages():
            assert len([render_finding(f, lang) for f in told]) == 1


def test_inside_the_one_domain_collectives_are_priced_as_with_a_network():
    alone, joined = (build_question(**JOB, system=pod(*tiers), accelerators=8).cluster for tiers in ((LINK,), (LINK, NET)))
    for operation in ("all_reduce", "all_to_all"):
        times = [collective(operation=operation, cluster=one, size_bytes=2.0**26).time_s for one in (alone, joined)]
        assert times[0] == pytest.approx(times[1])
    with pytest.raises(InputError, match="ranks_per_node: there are 16"):
        collective(operation="all_reduce", cluster=alone, size_bytes=2.0**26, ranks=4, ranks_per_node=2)


def test_a_log_of_hosts_that_nothing_joins_is_not_compared(tmp_path: Path):
    file, log = tmp_path / "pod.yaml", Path(__file__).parents[2] / "docs" / "examples" / "nccl-four-nodes.txt"
    file.write_text(FILE, encoding="utf-8")
    apart = compare(log, asked=Asked(cluster=file, ranks=8, nodes=2))
    assert apart.verdict == "not comparable"
    assert all("hosts that nothing joins" in run.reason for run in apart.runs)
    assert compare(log, asked=Asked(cluster=file, ranks=8, nodes=1)).verdict != "not comparable"

"""A topology dump where a system is asked for: predict, fit and scale take it, the caller's words go before it, and what is open is noted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tierspan.answers.question import build_question
from tierspan.answers.question_cluster import question_system
from tierspan.answers.topology_cluster import cluster_of_topology, describe_file
from tierspan.formats.topology import read_topology
from tierspan.quantities import messages
from tierspan.quantities.errors import InputError

JOB = {"model": "llama-3.1-8b", "sequence_length": 4096, "global_batch": 64}
PORT = """<system version="1"><cpu numaid="0"><pci busid="b" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
<pci busid="g" class="0x030200" vendor="0x10de" device="0x2335" link_speed="32.0 GT/s PCIe" link_width="16"><gpu dev="0" sm="90" gdr="1"/></pci>
<pci busid="n" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16"><nic><net name="m0" dev="0" speed="200000" gdr="1"/></nic></pci>
</pci></cpu></system>
"""


@pytest.fixture(autouse=True)
def strict_messages():
    earlier = messages.set_strict(True)
    yield
    messages.set_strict(earlier)


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    path = tmp_path / "topo.txt"
    names = [f"GPU{i}" for i in range(8)]
    rows = [f"{a}\t" + "\t".join("X" if a == b else "NV18" for b in names) for a in names]
    path.write_text("\t" + "\t".join([*names, "CPU Affinity"]) + "\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def port(tmp_path: Path) -> Path:
    path = tmp_path / "dump.xml"
    path.write_text(PORT, encoding="utf-8")
    return path


def test_a_dump_stands_for_its_system(matrix):
    found = build_question(system=str(matrix), accelerators=64, **JOB)
    assert found.cluster.system is not None
    assert (found.cluster.system.id, found.cluster.accelerators, found.cluster.node_size) == ("dgx-h100", 64, 8)
    reasons = {taken.reason_id for taken in found.assumptions}
    assert {"topology.assume.accelerator", "topology.assume.nic_unseen", "topology.ask.accelerator"} <= reasons
    assert "topology.assume.one_host" not in reasons
    for taken in found.assumptions:
        for lang in ("en", "zh"):
            assert messages.text(taken.reason_id, lang, **taken.values)


def test_an_accelerator_beside_the_dump_settles_it(matrix):
    found = build_question(system=matrix, accelerator="H200", accelerators=16, **JOB)
    assert found.cluster.accelerator.id == "h200-sxm"
    assert "topology.ask.accelerator" not in {taken.reason_id for taken in found.assumptions}


def test_rates_and_sizes_of_the_dump_hold_until_the_caller_says_otherwise(port):
    found = build_question(system=port, accelerators=4, **JOB).cluster
    assert (found.accelerator.id, found.node_size, found.tiers[-1].bandwidth_Bps) == ("h200-sxm", 1, 25e9)
    told = build_question(system=port, accelerators=16, nic="400Gb/s", node_size=8, **JOB).cluster
    assert (told.node_size, told.tiers[-1].bandwidth_Bps) == (8, 50e9)


def test_a_scenario_names_a_dump_beside_it(matrix, tmp_path):
    scenario = tmp_path / "job.yaml"
    scenario.write_text(
        "cluster: {system: topo.txt, accelerators: 16}\nmodel: llama-3.1-8b\njob: {sequence_length: 4096, global_batch: 64}\n", encoding="utf-8"
    )
    found = build_question(scenario)
    assert found.cluster.system is not None
    assert found.cluster.system.id == "dgx-h100"


def test_a_name_of_the_catalogue_is_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("dgx-h200").write_text("no dump", encoding="utf-8")
    found = build_question(system="dgx-h200", accelerators=8, **JOB)
    assert found.cluster.accelerator.id == "h200-sxm"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [("a.txt", None, "file.not_found"), ("a.log", "hello\n", "topology.unknown_format"), ("plain", "x\n", "topology.unknown_format")],
)
def test_what_is_no_dump_is_refused(tmp_path, name, text, message):
    path = tmp_path / name
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        build_question(system=str(path), accelerators=8, **JOB)
    assert caught.value.message_id == message
    assert str(path) in messages.render_error(caught.value, "en")


def test_the_parts_of_the_answer(matrix):
    settings, assumed, findings = question_system(matrix)
    assert settings == {"system": "dgx-h100"}
    assert [finding.id for finding in findings] == ["topology.ask.accelerator"]
    assert {taken.field for taken in assumed} == {"accelerator", "system", "nic"}
    described = describe_file(matrix, accelerators=32)
    assert cluster_of_topology(read_topology(matrix), accelerators=32)[0] == described.cluster
    assert described.cluster.accelerators == 32

"""``tierspan calibrate LOG``: the rates of one's own network, used by predict."""

import json
from pathlib import Path

import pytest

from tierspan.faces.cli.main import main
from tierspan.specs.profile.load import load_profile
from tierspan.specs.profile.profile import shipped_profile, transports

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
SLOW, HEALTHY = EXAMPLES / "nccl-four-nodes.txt", EXAMPLES / "nccl-one-node.txt"
JOB = ["--system", "dgx-h100", "-n", "32", "--model", "llama-3.1-8b", "--seq-len", "4096", "--global-batch", "64", "--zero", "3", "--json"]


def step_time_s(capsys, *more: str) -> float:
    assert main(["predict", *JOB, *more]) == 0
    return json.loads(capsys.readouterr().out)["step_time_s"]


def test_a_slow_network_makes_steps_longer(tmp_path, capsys):
    out = tmp_path / "own.json"
    assert main(["calibrate", str(SLOW), "--out", str(out), "--lang", "en"]) == 0
    assert "1 share(s) of line rate measured in nccl-four-nodes.txt" in capsys.readouterr().out
    profile = load_profile(out)
    share = profile.values["scale_out_efficiency"]["infiniband"]
    assert 0.4 < share / transports()["infiniband"][0] < 0.6
    assert profile.values["gemm_efficiency"] == shipped_profile().values["gemm_efficiency"]
    assert step_time_s(capsys, "--profile", str(out)) > step_time_s(capsys)


def test_a_healthy_node_leaves_its_tier_near_the_shipped_share(tmp_path, capsys):
    out = tmp_path / "own.json"
    assert main(["calibrate", str(HEALTHY), "--out", str(out)]) == 0
    capsys.readouterr()
    values = load_profile(out).values
    assert values["scale_up_efficiency"]["nvlink"] == pytest.approx(transports()["nvlink"][0], rel=0.1)
    assert values.get("scale_out_efficiency") == shipped_profile().values.get("scale_out_efficiency")  # that of the other tier stays


def test_json_and_chinese(tmp_path, capsys):
    out = tmp_path / "own.json"
    assert main(["calibrate", str(SLOW), "--out", str(out), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["shares"][0]["constant"] == "scale_out_efficiency"
    assert main(["calibrate", str(SLOW), "--out", str(out), "--lang", "zh"]) == 0
    assert "标称带宽" in capsys.readouterr().out


def test_small_sizes_alone_tell_no_rate(tmp_path, capsys):
    log = tmp_path / "small.txt"
    rows = [
        line
        for line in SLOW.read_text(encoding="utf-8").splitlines()
        if not line.split()[:1] or not line.split()[0].isdigit() or int(line.split()[0]) < 2**25
    ]
    log.write_text("\n".join(rows), encoding="utf-8")
    assert main(["calibrate", str(log), "--out", str(tmp_path / "own.json"), "--lang", "en"]) == 2
    assert "tells the rate of a tier" in capsys.readouterr().err


def test_flags_of_logs_do_not_go_with_tables(tmp_path, capsys):
    assert main(["calibrate", str(EXAMPLES / "steps.csv"), "--nic", "400Gb/s", "--out", str(tmp_path / "own.json"), "--lang", "en"]) == 2
    assert "--nic goes with the log of a communication benchmark" in capsys.readouterr().err

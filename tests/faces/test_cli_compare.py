"""``tierspan compare``: text, picture, JSON, exit codes, both languages, messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from tierspan.answers.comparison.results import CompareAnswer
from tierspan.faces.cli.main import main
from tierspan.faces.cli.plain import plain
from tierspan.faces.cli.render.compare import picture

ROOT = Path(__file__).parents[2]
ONE = ROOT / "docs" / "examples" / "nccl-one-node.txt"
MANY = ROOT / "docs" / "examples" / "nccl-four-nodes.txt"


def told(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    got = main(["compare", *arguments])
    captured = capsys.readouterr()
    assert got == code, captured.out + captured.err
    return captured.out, captured.err


def test_a_healthy_log(capsys):
    out, err = told(capsys, str(ONE))
    assert out.startswith("normal: busbw 47")
    assert "all_reduce, 8 ranks on 1 node(s), 8 each, h100-sxm5-80gb (dgx-h100), over NVLink 4 (NVSwitch)" in out
    assert "busbw above the link's rate is right" in out
    assert "Likeliest causes" not in out
    assert err == ""
    assert all(len(line) <= 100 for line in out.splitlines())


def test_a_slow_log_names_the_fabric(capsys):
    out, _ = told(capsys, str(MANY), "--nic", "400Gb/s")
    assert out.startswith("slow: busbw 18")
    assert "[scale-out] a rail or NIC is missing: only 4 of 8 carry traffic" in out
    assert "evidence: " in out
    assert "next: " in out


def test_a_broken_log_ends_with_1(tmp_path, capsys):
    path = tmp_path / "wrong.txt"
    text = ONE.read_text(encoding="utf-8").splitlines()
    text = [line[:-1] + "7" if line.startswith("  8589934592") else line for line in text]
    path.write_text("\n".join(text) + "\n", encoding="utf-8")
    out, _ = told(capsys, str(path), code=1)
    assert out.startswith("broken: ")
    assert "results are wrong" in out


def test_in_chinese(capsys):
    out, _ = told(capsys, str(MANY), "--nic", "400Gb/s", "--lang", "zh")
    assert out.startswith("偏慢：")
    assert "最可能的原因" in out
    assert "依据：" in out


def test_brief_is_one_line(capsys):
    assert len(told(capsys, str(ONE), "--brief")[0].splitlines()) == 1


def test_json_follows_the_schema(capsys):
    answer = json.loads(told(capsys, str(MANY), "--nic", "400Gb/s", "--json")[0])
    assert plain(TypeAdapter(CompareAnswer).validate_python(answer)) == answer
    assert answer["verdict"] == "slow"
    assert answer["cluster"] == "dgx-h100"
    row = answer["rows"][-1]
    assert row["size_bytes"] == 8 * 2**30
    assert row["low_busbw_Bps"] < row["expected_busbw_Bps"] < row["high_busbw_Bps"]
    assert row["busbw_Bps"] == pytest.approx(row["ratio"] * row["expected_busbw_Bps"], rel=0.01)
    assert row["line"] == 51
    assert {"id", "tier", "text", "evidence", "next"} <= answer["causes"][0].keys()
    assert answer["unread"] == []


def test_two_logs(capsys):
    out, _ = told(capsys, str(ONE), str(MANY), "--nic", "400Gb/s")
    assert out.startswith(
        "Second log against the first\n  The runs differ in setting (ranks 8 / 32, nodes 1 / 4). From 16 MiB up the second is slower"
    )
    assert "run at line" in out


def test_flags_complete_what_the_log_does_not_say(tmp_path, capsys):
    path = tmp_path / "bare.txt"
    path.write_text("\n".join(line for line in ONE.read_text(encoding="utf-8").splitlines() if "Rank" not in line), encoding="utf-8")
    out, _ = told(capsys, str(path))
    assert out.startswith("not comparable: the log does not say: the accelerator. Add --system ID.")
    out, _ = told(capsys, str(path), "--system", "dgx-h100")
    assert out.startswith("normal: ")
    assert "ranks = 8: the log does not list them; busbw over algbw" in " ".join(out.split())


def test_an_unknown_system(capsys):
    out, err = told(capsys, str(ONE), "--system", "dgx-h1000", code=2)
    assert out == ""
    assert "error: --system: " in err
    assert "DGX H100" in err or "dgx-h100" in err


def test_a_missing_file(capsys):
    assert "there-is-none.txt does not exist" in told(capsys, "there-is-none.txt", code=2)[1]


def test_no_log_at_all(tmp_path, capsys):
    path = tmp_path / "x.txt"
    path.write_text("nothing of the kind\nat all\n", encoding="utf-8")
    assert "remedy: " in told(capsys, str(path), code=2)[1]


def test_a_training_log(tmp_path, capsys):
    path = tmp_path / "train.log"
    step = " iteration {}/100 | consumed samples: 1 | elapsed time per iteration (ms): {} | learning rate: 1e-4 |"
    path.write_text("\n".join(step.format(i, 9000 if i == 7 else 3000 + i) for i in range(1, 21)), encoding="utf-8")
    out = " ".join(told(capsys, str(path))[0].split())
    assert "20 steps, median 3.01 s" in out
    assert "Steps above 1.5 times the median: 7." in out
    assert "not comparable" in out
    assert json.loads(told(capsys, str(path), "--json")[0])["verdict"] == "not comparable"
    assert "one is a training log" in told(capsys, str(path), str(ONE), code=2)[1]


@pytest.mark.parametrize(
    ("measured", "low", "high", "drawn"),
    [
        (50.0, 70.0, 90.0, "█████  ░░"),
        (80.0, 70.0, 90.0, "███████▓░"),
        (100.0, 70.0, 90.0, "███████▓▓█"),
        (50.0, None, None, "█████"),
        (None, 70.0, 90.0, ""),
        (0.1, 0.1, 0.2, "░"),
    ],
)
def test_the_picture(measured, low, high, drawn):
    assert picture(measured, low, high, 100.0, 10) == drawn

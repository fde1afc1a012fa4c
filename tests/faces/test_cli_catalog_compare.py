"""``tierspan catalog compare``: both languages, JSON against its schema, and messages."""

from __future__ import annotations

import json

import pytest

from tierspan.answers import schemas
from tierspan.faces.cli.main import main

ACCEPTED = ("catalog", "compare", "gb200-nvl72", "cloudmatrix384")


def told(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    assert main(list(arguments)) == code
    captured = capsys.readouterr()
    return captured.out, captured.err


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("TIERSPAN_LANG", raising=False)
    monkeypatch.setenv("COLUMNS", "160")


def test_the_two_racks_in_english(capsys):
    out = " ".join(told(capsys, *ACCEPTED)[0].split())
    for words in (
        "scale-up 900 GB/s 392 GB/s (0.436x)",
        "scale-up : scale-out 18 7.84",
        "scale-up latency 1.5 µs 1 µs not compared: other basis",
        "memory of a domain 13.4 TB 49.2 TB",
        "720 PFLOP/s FP8 with sparsity: no training job gets it",
        "1440 PFLOP/s FP4 with sparsity",
        "180 PFLOP/s BF16 dense",
        "VPC plane vpc all 6.25 no",
        "they are never added up",
        "weight of a unit 1,360 kg unknown",
        "Not compared: power of a unit, unit's power an accelerator, power a rack. The figures of power count different things "
        "(gb200-nvl72 nominal; cloudmatrix384 an estimate)",
    ):
        assert words in out, words


def test_the_two_racks_in_chinese(capsys):
    out = "".join(told(capsys, *ACCEPTED, "--lang", "zh")[0].split())
    for words in (
        "带宽差异",
        "延迟差异",
        "容量上限",
        "功耗与散热",
        "720PFLOP/sFP8含稀疏",
        "1440PFLOP/sFP4含稀疏",
        "180PFLOP/sBF16稠密",
        "绝不相加",
        "未知",
    ):
        assert words in out, words
    assert "cli." not in out
    assert "catalog_compare" not in out


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("names", [("h100", "mi355x"), ("helios", "vr-nvl72", "atlas950"), ("trainium3", "ascend-950pr"), ("tpu-v5p", "a800")])
def test_no_message_id_slips_through(names, lang, capsys):
    out, err = told(capsys, "catalog", "compare", *names, "--lang", lang)
    assert err == ""
    assert "cli." not in out
    assert "catalog_compare" not in out
    assert "word." not in out


def test_json_has_the_shape_of_its_schema(capsys):
    answer = json.loads(told(capsys, *ACCEPTED, "--json")[0])
    made = schemas.schema("catalog-compare")
    assert set(answer) == set(made["properties"])
    rows = {row["id"]: row for row in answer["rows"]}
    assert [cell["value"] for cell in rows["bandwidth.scale_up"]["cells"]] == [900e9, 392e9]
    assert rows["latency.scale_up"]["refused"] == "catalog_compare.latency_basis"
    assert [part["id"] for part in answer["parts"]] == ["gb200-nvl72", "cloudmatrix384"]


def test_one_part_is_too_few(capsys):
    out, err = told(capsys, "catalog", "compare", "h100", code=2)
    assert (out, err) == (
        "",
        "error: 1 parts are given; between 2 and 8 can be compared\n"
        "  remedy: Name two or more accelerators or systems of the catalogue: tierspan catalog compare A B.\n",
    )

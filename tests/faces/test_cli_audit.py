"""``tierspan audit`` as a user types it."""

import io
import json
import sys

import pytest

from tierspan.faces.cli.main import main

LINE = "H100, 1,979 TFLOPS, 900 GB/s"
SHEET = "H100 SXM\nBF16 Tensor Core   1,979 TFLOPS*\nNVLink: 900GB/s  PCIe Gen5: 128GB/s\nTDP up to 700W\n* with sparsity\n"


def told(capsys, monkeypatch, *arguments, typed=""):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(typed.encode())))
    code = main(["audit", *arguments])
    return code, capsys.readouterr()


def test_the_sentence_everybody_is_misled_by(capsys, monkeypatch):
    code, shown = told(capsys, monkeypatch, "-", "--json", typed=LINE)
    peak, link = json.loads(shown.out)["readings"]
    assert peak["value_si"] == pytest.approx(989e12)
    assert (peak["status"], peak["density"], peak["precision"], peak["factor"]) == ("assumed", "sparse", "bf16", 0.5)
    assert any(
        a["changes"].get("precision") == "fp8" and a["changes"]["density"] == "dense" and a["value_si"] == 1979e12 for a in peak["alternatives"]
    )
    assert link["value_si"] == 450e9
    assert (link["direction"], link["tier"], link["factor"], link["unit_si"]) == ("both-directions", "scale-up", 0.5, "B/s")
    assert code == 0


@pytest.mark.parametrize(
    ("lang", "words"), [("en", ("989 TFLOP/s", "450 GB/s", "sparsity", "both directions")), ("zh", ("989", "450", "稀疏", "双向"))]
)
def test_both_factors_are_explained_in_both_languages(capsys, monkeypatch, lang, words):
    _, shown = told(capsys, monkeypatch, "-", "--lang", lang, typed=LINE)
    assert [w for w in words if w not in shown.out] == []


def test_a_sheet_with_a_footnote_is_certain(tmp_path, capsys, monkeypatch):
    path = tmp_path / "sheet.txt"
    path.write_text(SHEET)
    _, shown = told(capsys, monkeypatch, str(path), "--json")
    by_text = {r["text"]: r for r in json.loads(shown.out)["readings"]}
    peak = by_text["1,979 TFLOPS"]
    assert (peak["status"], peak["density"], peak["value_si"], peak["line"]) == ("certain", "sparse", pytest.approx(989e12), 2)
    assert by_text["128GB/s"]["tier"] == "host"
    assert by_text["128GB/s"]["value_si"] == 64e9
    assert by_text["700W"]["quantity"] == "power"


def test_questions_are_asked_one_key_each_and_kept(tmp_path, capsys, monkeypatch):
    path = tmp_path / "sheet.txt"
    path.write_text("XPU: interconnect between cards 700 GB/s\n")
    kept = tmp_path / "kept.json"
    code, shown = told(capsys, monkeypatch, str(path), "--interactive", "--corrections", str(kept), "--json", typed="1\n")
    assert code == 0
    assert "700 GB/s" in shown.err
    (reading,) = json.loads(shown.out)["readings"]
    assert (reading["status"], reading["value_si"], reading["direction"]) == ("certain", 350e9, "both-directions")
    again, shown = told(capsys, monkeypatch, str(path), "--corrections", str(kept), "--json")
    assert again == 0
    assert json.loads(shown.out)["readings"][0]["value_si"] == 350e9


@pytest.mark.parametrize("bad", ["[]", "{", '{"a": 1}'])
def test_a_bad_file_of_corrections_is_told(tmp_path, capsys, monkeypatch, bad):
    (tmp_path / "kept.json").write_text(bad)
    code, shown = told(capsys, monkeypatch, "-", "--corrections", str(tmp_path / "kept.json"), "--lang", "en", typed=LINE)
    assert code == 2
    assert "remedy" in shown.err


def test_no_file_is_a_usage_error(capsys, monkeypatch):
    assert told(capsys, monkeypatch)[0] == 2


def test_the_page_is_written_in_both_languages(tmp_path, capsys, monkeypatch):
    path = tmp_path / "sheet.txt"
    path.write_text(SHEET)
    for lang, word in (("en", "Figures, as written and as read"), ("zh", "数字：原文与解读")):
        out = tmp_path / f"{lang}.html"
        told(capsys, monkeypatch, str(path), "--report", str(out), "--lang", lang)
        assert word in out.read_text(encoding="utf-8")


def test_the_schema_describes_what_is_printed(capsys, monkeypatch):
    assert main(["schema", "audit"]) == 0
    schema = json.loads(capsys.readouterr().out)
    _, shown = told(capsys, monkeypatch, "-", "--json", typed=LINE)
    answer = json.loads(shown.out)
    assert set(answer) == set(schema["properties"])
    assert set(answer["readings"][0]) == set(schema["$defs"]["PrintedReading"]["properties"])


@pytest.mark.parametrize("text", ["", "   \n", "no figures here at all"])
def test_nothing_to_read_is_no_fault(capsys, monkeypatch, text):
    code, shown = told(capsys, monkeypatch, "-", "--lang", "en", typed=text)
    assert code in (0, 2)
    assert "fault" not in shown.err


def test_questions_are_not_asked_where_the_sheet_is_standard_input(capsys, monkeypatch):
    code, shown = told(capsys, monkeypatch, "-", "--interactive", typed=LINE)
    assert (code, shown.out) == (2, "")
    assert "--interactive asks on standard input" in shown.err
    assert "Save the sheet in a file" in shown.err

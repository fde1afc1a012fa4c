"""``tierspan validate ... --report``: end to end, several files and folders, and what cannot be done."""

import shutil
from pathlib import Path

import pytest

from tierspan.faces.cli.main import main

ROOT = Path(__file__).parents[2]
STEPS = ROOT / "docs" / "examples" / "steps.csv"


def told(capsys, *arguments, code=0):
    assert main(list(arguments)) == code
    captured = capsys.readouterr()
    return captured.out, captured.err


@pytest.fixture
def folder(tmp_path):
    """A folder as ``validation/`` is one, with few rows."""
    room = tmp_path / "room"
    room.mkdir()
    shutil.copy(STEPS, room / "training.csv")
    collectives = (ROOT / "validation" / "collectives.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (room / "collectives.csv").write_text("".join(collectives[:40]), encoding="utf-8")
    (room / "operations.csv").write_text("id,domain,source,metric,value,unit\na,power,s,rack,10,kW\n", encoding="utf-8")
    identity = STEPS.read_text(encoding="utf-8").splitlines()[1].split(",")[0]
    (room / "peers.csv").write_text(f"id,peer,version,predicted_step_s,status,reason\n{identity},Tool,c0ffee,14.0,predicted,\n", encoding="utf-8")
    return room


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_page_of_one_file(lang, tmp_path, capsys):
    out = tmp_path / "page.html"
    text, err = told(capsys, "validate", str(STEPS), "--report", str(out), "--lang", lang)
    assert text.startswith("Training steps: 6 rows" if lang == "en" else "训练步时间：预测并计分 6 行")
    size = f"{out.stat().st_size / 1e6:.1f}"
    assert err == (f"page written to {out} ({size} MB)\n" if lang == "en" else f"页面已写入 {out}（{size} MB）\n")
    page = out.read_text(encoding="utf-8")
    assert f"$ tierspan validate {STEPS} --report page.html\n" in page


def test_a_page_of_a_folder(folder, tmp_path, capsys):
    out = tmp_path / "page.html"
    text, _ = told(capsys, "validate", str(folder), "--report", str(out))
    assert [kind for kind in ("Training steps: ", "Collectives: ", "Operations: ") if kind not in text] == []
    page = out.read_text(encoding="utf-8")
    assert "Tool c0ffee" in page
    assert "operations.csv: 1 rows are read and counted" in page
    assert f"$ tierspan validate {folder / 'training.csv'} --predictions predictions.csv" in page


def test_a_folder_cross_validated_skips_what_has_no_constants(folder, tmp_path, capsys):
    out = tmp_path / "page.html"
    text, err = told(capsys, "validate", str(folder), "--cross-validate", "group", "--report", str(out))
    assert "never saw its group" in " ".join(text.split())
    assert "groups left out" in err
    assert "--cross-validate group --report page.html" in out.read_text(encoding="utf-8")


def test_several_files_are_told_one_after_another(folder, capsys):
    text, err = told(capsys, "validate", str(STEPS), str(folder / "operations.csv"))
    assert text.index("Training steps: ") < text.index("Operations: ")
    assert err == ""


@pytest.mark.parametrize("option", [("--json",), ("--predictions", "out.csv")])
def test_what_takes_one_file_is_not_given_several(folder, option, capsys):
    out, err = told(capsys, "validate", str(folder), *option, code=2)
    assert out == ""
    assert err == f"error: {option[0]}: {option[0]} takes one file, and 3 are given\n  remedy: Name one measurement file, or leave {option[0]} out.\n"


def test_a_folder_without_measurements(tmp_path, capsys):
    assert told(capsys, "validate", str(tmp_path), code=2)[1] == (
        f"error: {tmp_path}: the folder {tmp_path} holds no measurement file (CSV)\n  remedy: Name a folder or files that hold measurements.\n"
    )


def test_a_page_where_there_is_no_folder(tmp_path, capsys):
    out = tmp_path / "none" / "page.html"
    assert told(capsys, "validate", str(STEPS), "--report", str(out), code=2)[1] == (
        f"error: {out}: there is no folder {out.parent} to write {out} in\n  remedy: Make the folder, or name another one.\n"
    )


def test_a_page_never_overwrites_the_measurements(folder, capsys):
    path = folder / "training.csv"
    before = path.read_bytes()
    assert told(capsys, "validate", str(folder), "--report", str(path), code=2)[1].endswith(
        "would be overwritten\n  remedy: Name another file to write.\n"
    )
    assert path.read_bytes() == before


def test_a_file_that_is_not_there(tmp_path, capsys):
    path = tmp_path / "none.csv"
    out = tmp_path / "page.html"
    assert told(capsys, "validate", str(path), "--report", str(out), code=2)[1].startswith(f"error: {path}: there is no file {path}\n")
    assert not out.exists()


def test_peers_that_do_not_read_cleanly(folder, tmp_path, capsys):
    (folder / "peers.csv").write_text("id,peer,version,predicted_step_s,status,reason\nx,P,c,fast,predicted,\n", encoding="utf-8")
    _, err = told(capsys, "validate", str(folder), "--report", str(tmp_path / "page.html"), code=2)
    assert err.startswith(
        f"error: {folder / 'peers.csv'}:2 [predicted_step_s]: the column predicted_step_s needs a number and holds 'fast'\n  remedy: "
    )

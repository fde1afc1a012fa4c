"""Tables, bars, pairs, notes: what stands on the screen."""

from __future__ import annotations

import io
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierspan.faces.cli.render.bars import bar, stacked
from tierspan.faces.cli.render.console import PIPE_COLUMNS, make_console
from tierspan.faces.cli.render.keyvalue import pairs
from tierspan.faces.cli.render.notes import assumptions, findings, sources
from tierspan.faces.cli.render.table import Column, number, table
from tierspan.quantities.errors import Place
from tierspan.quantities.facts import Source
from tierspan.quantities.findings import Assumption, Finding


def shown(part: object) -> list[str]:
    stream = io.StringIO()
    make_console(stream).print(part)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


@pytest.fixture(autouse=True)
def _no_columns(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("COLUMNS", raising=False)


def test_the_unit_stands_in_the_head():
    lines = shown(table([Column("tier"), number("time", "ms")], [("scale-up", "1.5"), ("scale-out", "12.0")]))
    assert (lines[0].split(), lines[1].split()) == (["time"], ["tier", "ms"])
    assert lines[3].split() == ["scale-up", "1.5"]
    assert lines[3].index("1.5") + 3 == lines[4].index("12.0") + 4


def test_square_brackets_are_text():
    assert any("[s] [bold]x" in line for line in shown(table([Column("a")], [("[s] [bold]x",)])))


def test_a_row_of_the_wrong_length_is_refused():
    with pytest.raises(ValueError, match="1 cells for 2 columns"):
        table([Column("a"), Column("b")], [("x",)])


def test_pipes_get_a_fixed_width_and_no_colours():
    console = make_console(io.StringIO())
    assert console.width == PIPE_COLUMNS
    assert console.color_system is None


@pytest.mark.parametrize(("columns", "width"), [("60", 60), ("nonsense", PIPE_COLUMNS), ("0", PIPE_COLUMNS)])
def test_columns_is_obeyed(columns, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    assert make_console(io.StringIO()).width == width


@pytest.mark.parametrize(("share", "text"), [(0.0, ""), (1.0, "████"), (0.5, "██"), (0.53, "██▏"), (7.0, "████"), (-1.0, ""), (math.nan, "")])
def test_bar(share, text):
    assert bar(share, 4) == text


@given(st.lists(st.floats(0, 1), max_size=6))
def test_stacked_bars_add_up(shares):
    assert len(stacked(shares, 48)) == round(min(sum(shares), 1.0) * 48)


def test_stacked_bars_need_marks():
    with pytest.raises(ValueError, match="7 shares"):
        stacked([0.1] * 7)


def test_pairs_keep_chinese_columns():
    lines = shown(pairs([("显存", "80 GB"), ("memory", "80 GB")]))
    assert lines == ["显存    80 GB", "memory  80 GB"]


def test_findings_stand_by_severity():
    found = [Finding("file.empty", "warning", {"path": "a"}), Finding("file.not_found", "error", {"path": "b"}, Place("b"))]
    lines = shown(findings(found, "en"))
    assert lines[0] == "Findings"
    assert lines[1] == "  error: b: the file b does not exist"
    assert lines[2].startswith("    remedy: ")
    assert lines[3] == "  warning: the file a holds nothing"


def test_assumptions_name_field_and_value():
    lines = shown(assumptions([Assumption("cp", 1, "file.empty", {"path": "x"})], "en"))
    assert lines == ["Assumptions", "  cp = 1: the file x holds nothing"]


def test_sources_stand_once():
    read = [Source("a", "datasheet", "2025"), Source("b", "paper"), Source("a", "datasheet", "2025")]
    assert shown(sources(read, "zh")) == ["来源", "  a (datasheet, 2025)", "  b (paper)"]

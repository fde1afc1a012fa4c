"""Figures and drawings hold the numbers of the answer, whatever the plan."""

import math
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tierspan as ts
from tierspan.answers.results import GroupPlacement
from tierspan.faces.figures import machine
from tierspan.faces.figures.svg import text_width, wrapped
from tierspan.quantities.errors import UnknownNameError

JOB = {
    "system": "dgx-h100",
    "accelerators": 64,
    "model": "llama-3.1-70b",
    "sequence_length": 8192,
    "global_batch": 128,
    "tp": 8,
    "pp": 4,
    "recompute": "full",
}


@pytest.fixture(scope="module")
def prediction():
    return ts.predict(**JOB)


@pytest.fixture(scope="module")
def scaling():
    return ts.scale((64, 128, 256), **JOB)


def bars(figure):
    return [t for t in figure.data if t.type == "bar"]


def test_bars_of_a_step_add_up_to_it(prediction):
    figure = ts.figure(prediction)
    step = [t for t in bars(figure) if t.y[0] == prediction.case.system]
    assert sum(t.x[0] for t in step) == pytest.approx(prediction.step_time_s, rel=1e-6)
    hidden = [t for t in bars(figure) if t.y[0] != prediction.case.system]
    told = sum(t.hidden_s for t in prediction.traffic if t.hidden_s > 0.0005 * prediction.step_time_s)
    assert sum(t.x[0] for t in hidden) == pytest.approx(told, rel=1e-6)
    assert [t.name for t in figure.data if t.showlegend] == ["compute", "scale-up traffic", "scale-out traffic", "bubble", "rest"]


def test_bars_of_sizes_are_shares_of_each_step(scaling):
    figure = ts.figure(scaling, "shares")
    for label in ("64", "128", "256"):
        assert sum(x for t in bars(figure) for y, x in zip(t.y, t.x, strict=True) if y == label) == pytest.approx(100, abs=1e-6)


def test_bars_of_memory_add_up_and_the_line_is_what_is_usable(prediction):
    figure = ts.figure(prediction, "memory")
    assert sum(t.x[0] for t in bars(figure)) == pytest.approx(prediction.memory.total_bytes / 1e9, rel=0.01)
    assert figure.layout.shapes[0].x0 == pytest.approx(prediction.memory.usable_bytes / 1e9)


def test_memory_of_stages_has_a_bar_each():
    fitting = ts.fit(**JOB)
    figure = ts.figure(fitting)
    assert len(bars(figure)[0].y) == len(fitting.stages) == 3


def test_the_curve_is_that_of_the_points(scaling):
    figure = ts.figure(scaling)
    curve = next(t for t in figure.data if t.mode == "lines+markers")
    assert list(curve.y) == pytest.approx([p.speedup for p in scaling.points])
    band = next(t for t in figure.data if t.fill == "toself")
    high, low = band.y[:3], band.y[3:][::-1]
    assert all(a < p.speedup < b for a, p, b in zip(low, scaling.points, high, strict=True))
    losses = ts.figure(scaling, "losses")
    assert sum(t.y[2] for t in bars(losses)) == pytest.approx(100 * math.fsum(scaling.points[2].losses.values()), abs=0.5)


def test_names_of_figures_are_checked(prediction):
    with pytest.raises(UnknownNameError, match=r"step, memory, neighbours"):
        ts.figure(prediction, "stepp")
    with pytest.raises(TypeError, match="CaseView has no figures"):
        ts.figure(prediction.case)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [machine.WIDE, machine.NARROW])
@pytest.mark.parametrize(
    "given",
    [
        JOB,
        {**JOB, "accelerators": 1, "tp": 1, "pp": 1, "model": "llama-3.2-1b"},
        {**JOB, "system": "cloudmatrix384", "accelerators": 1536},
        {**JOB, "system": "gb200-nvl72", "accelerators": 1152, "global_batch": 2304},
    ],
)
def test_drawings_are_well_formed_and_texts_stay_inside(given, width, lang):
    p = ts.predict(**given)
    for drawn in (machine.tiers_drawing(p, lang, width), machine.groups_drawing(p, lang, width)):
        root = ElementTree.fromstring(drawn)
        high = float(root.get("height"))
        for text in root.iter("{http://www.w3.org/2000/svg}text"):
            x, y, size = float(text.get("x")), float(text.get("y")), float(text.get("font-size"))
            wide = text_width(text.text, size)
            left = x - wide / 2 if text.get("text-anchor") == "middle" else x
            assert left >= -1
            assert left + wide <= width + 2
            assert size <= y <= high
        assert all(t.name in drawn.replace("&amp;", "&") for t in p.tiers if drawn == machine.tiers_drawing(p, lang, width))


@given(size=st.integers(2, 600), stride=st.sampled_from([1, 2, 4, 8, 16, 64, 128]), domain=st.sampled_from([1, 4, 8, 72, 384]))
@settings(max_examples=200, deadline=None)
def test_every_member_of_a_group_has_a_place(size, stride, domain):
    inside = max(min(domain // stride, size), 1)
    members = machine._members(GroupPlacement("dp", size, stride, "x", inside), domain)
    counts = [len(places) for places in members.values()]
    assert sum(counts) == size
    assert max(counts) == inside
    assert all(0 <= place < domain for places in members.values() for place in places)


@given(cells=st.integers(1, 400))
@settings(max_examples=100, deadline=None)
def test_squares_stand_in_rows_that_are_nearly_full(cells):
    across = machine._columns(cells)
    assert 1 <= across <= cells
    assert math.ceil(cells / across) * across - cells < across


@given(text=st.text(alphabet="abc MW,.测试组", min_size=1, max_size=120), width=st.integers(60, 400))
@settings(max_examples=200, deadline=None)
def test_lines_are_no_wider_than_asked_unless_a_word_is(text, width):
    lines = wrapped(text, 12, width)
    assert re.sub(r"\s", "", "".join(lines)) == re.sub(r"\s", "", text)
    for line in lines:
        assert text_width(line, 12) <= width or " " not in line.strip()

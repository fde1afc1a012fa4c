"""Answers in a notebook and a Python session: hand-made ones in both languages, hostile names, what has no number, and nobody to tell them."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from test_answer_rendering import CASE, COMPARISON, FITTING, MEMORY, NOWHERE, PREDICTION, SCALING, UNEVEN

import tierspan as ts
from tierspan.answers.calibrate import Calibration
from tierspan.answers.catalog import show as catalog_show
from tierspan.faces import notebook
from tierspan.faces.cli.main import main
from tierspan.faces.notebook.markup import stacked_bar, table
from tierspan.quantities import display
from tierspan.quantities.messages import languages
from tierspan.specs.profile.profile import shipped_profile

LOG = Path(__file__).parents[2] / "docs" / "examples" / "nccl-four-nodes.txt"
JOB = {"system": "dgx-h100", "accelerators": 16, "model": "llama-3.1-8b", "sequence_length": 4096, "global_batch": 64}
MADE = {
    "prediction": PREDICTION,
    "prediction, invalid": NOWHERE,
    "prediction, does not fit": replace(PREDICTION, status="does not fit", memory=FITTING.memory),
    "prediction, step unknown": replace(NOWHERE, status="predicted", findings=()),
    "prediction, memory unknown": replace(PREDICTION, memory=replace(MEMORY, total_bytes=math.nan, allocated_bytes=math.nan)),
    "fitting": FITTING,
    "fitting, fits": replace(FITTING, status="fits", memory=MEMORY, remedies=()),
    "fitting, invalid": replace(FITTING, status="invalid", findings=(UNEVEN,), remedies=()),
    "scaling": SCALING,
    "scaling, nothing runs": replace(SCALING, points=tuple(replace(p, efficiency=math.nan, step_time_s=math.nan, status="invalid")
                                                           for p in SCALING.points), knee=None, advice=()),
    "comparison": COMPARISON,
    "comparison, one invalid": replace(COMPARISON, b=NOWHERE, speedup_per_step=math.nan, speedup_per_accelerator=math.nan, differences=()),
}  # fmt: skip
COMPUTED = {
    "collective": lambda: ts.collective(operation="all_reduce", cluster=ts.question(**JOB).cluster, size_bytes=2.0**30),
    "log": lambda: ts.compare(LOG),
    "accelerator": lambda: ts.show_accelerator("h100"),
    "system": lambda: ts.show_system("cloudmatrix384"),
    "part": lambda: catalog_show("ualink"),
    "compared": lambda: ts.compare_parts("gb200-nvl72", "cloudmatrix384"),
    "list": ts.list_catalog,
    "model": lambda: ts.describe_model("deepseek-v3"),
    "question": lambda: ts.question(**JOB),
    "trace": lambda: ts.trace(**JOB, pp=2),
    "profile": shipped_profile,
    "calibration": lambda: Calibration(shipped_profile(), "", 1990, 99, 0.08, 0.07, ()),
    "validation": lambda: ts.validate(LOG.with_name("steps.csv")),
}
NAMES = [*MADE, *COMPUTED]
TAGS = {"div", "style", "pre", "p", "span", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "svg", "rect", "title"}
HOSTILE = "<script>alert('x')</script> & \"co\" </style>"


@cache
def answer_of(name: str) -> Any:
    return MADE[name] if name in MADE else COMPUTED[name]()


@pytest.fixture(params=languages())
def lang(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TIERSPAN_LANG", request.param)
    return request.param


@pytest.fixture
def nobody_tells() -> Iterator[None]:
    earlier = display.register(None)
    yield
    display.register(earlier)


def page_of(answer: object) -> ElementTree.Element:
    """The HTML of an answer, which is written so that it is XML as well."""
    html = notebook.show(answer, "html")
    assert html is not None
    return ElementTree.fromstring(html)


def text_of(answer: object) -> str:
    return " ".join(" ".join(page_of(answer).itertext()).split())


@pytest.mark.parametrize("name", NAMES)
def test_the_page_is_well_formed_and_loads_nothing(name: str, lang: str):
    page = page_of(answer_of(name))
    assert page.get("lang") == lang
    assert {element.tag.rpartition("}")[2] for element in page.iter()} <= TAGS
    assert not [value for element in page.iter() for value in element.attrib.values() if "://" in value]
    assert "nan" not in text_of(answer_of(name)).lower().replace("nanotron", "")


@pytest.mark.parametrize("name", NAMES)
def test_the_sentence_heads_the_page(name: str, lang: str):
    answer = answer_of(name)
    sentence = notebook.show(answer, "sentence")
    assert sentence
    assert str(answer) == sentence
    assert " ".join(sentence.split()) in text_of(answer)


@pytest.mark.parametrize("name", NAMES)
def test_the_name_is_short(name: str, lang: str):
    answer = answer_of(name)
    assert repr(answer).startswith(f"<{type(answer).__name__} ")
    assert "\n" not in repr(answer)
    assert len(repr(answer)) < 200
    assert "nan" not in repr(answer)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("prediction", "<Prediction 10 s a step (80 %: 9.1 s to 11.4 s), MFU 41.2 %, 943,700 tokens/s, predicted, fits: llama-3.1-405b on 1,024 x "
                       "h100-sxm5-80gb>"),
        ("prediction, invalid", "<Prediction invalid plan: llama-3.1-405b on 1,024 x h100-sxm5-80gb>"),
        ("fitting", "<Fitting does not fit, 88.0 of 80.0 GB: llama-3.1-405b on 1,024 x h100-sxm5-80gb>"),
        ("scaling", "<Scaling strong scaling, the batch stays, 1,024 to 4,096 accelerators: 3.36 times as fast, 84 % efficient>"),
        ("accelerator", "<AcceleratorSheet NVIDIA H100 SXM5 80GB: 989 TFLOP/s dense BF16, 80 GB, 3.35 TB/s>"),
        ("system", "<SystemSheet Huawei CloudMatrix384: 384 x ascend-910c, scale-up domain of 384, scale-up to scale-out 7.84 : 1>"),
        ("model", "<ModelAnswer DeepSeek-V3: 671 B parameters, 37.6 B active a token, 61 layers>"),
        ("question", "<Question llama-3.1-8b on 16 x h100-sxm5-80gb, 64 sequences of 4,096 tokens, plan TP 1 PP 1 CP 1 EP 1>"),
        ("comparison", "<Comparison dgx-h100 runs a step at 0.4 times the speed of gb200-nvl72: llama-3.1-405b>"),
    ],
)  # fmt: skip
def test_names(name: str, told: str):
    assert repr(answer_of(name)) == told


def test_the_languages_differ(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TIERSPAN_LANG", "zh_CN.UTF-8")
    assert "每步" in repr(PREDICTION)
    monkeypatch.setenv("TIERSPAN_LANG", "no such language")
    assert "a step" in repr(PREDICTION)


def test_texts_from_outside_are_text():
    tier = replace(PREDICTION.tiers[0], name=HOSTILE)
    neighbour = replace(PREDICTION.neighbours[0], source=HOSTILE, model=HOSTILE, plan=HOSTILE)
    case = replace(CASE, model=HOSTILE, system=HOSTILE, accelerator=HOSTILE, stack=HOSTILE)
    terms = tuple(replace(t, tier=HOSTILE) if t.tier else t for t in PREDICTION.terms)
    hostile = replace(PREDICTION, case=case, tiers=(tier,), terms=terms, sources=(HOSTILE,), neighbours=(neighbour,))
    for answer in (hostile, replace(FITTING, case=case), replace(SCALING, predictions=(hostile,)), replace(COMPARISON, a=hostile)):
        page = page_of(answer)
        assert not [element for element in page.iter() if element.tag.endswith("script")]
        assert HOSTILE in "".join(page.itertext())


def test_findings_of_an_invalid_plan_are_shown_with_remedy():
    told = text_of(NOWHERE)
    assert "128" in told
    assert "remedy: " in told
    assert page_of(NOWHERE).find(".//svg") is None


def test_the_bar_shows_the_groups_of_the_step():
    svg = "{http://www.w3.org/2000/svg}"
    bar = page_of(PREDICTION).find(f".//{svg}svg[@role='img']")
    assert bar is not None
    widths = [float(rect.get("width", "nan")) for rect in bar.iter(f"{svg}rect")]
    assert widths == pytest.approx([680.0, 120.0, 80.0, 70.0, 50.0], abs=1)
    assert "compute: 68.0 %" in bar.get("aria-label", "")


def test_both_bars_of_a_comparison_have_one_scale():
    svg = "{http://www.w3.org/2000/svg}"
    bars = page_of(COMPARISON).findall(f".//{svg}svg[@role='img']")
    slow, fast = (sum(float(rect.get("width", "nan")) for rect in bar.iter(f"{svg}rect")) for bar in bars)
    assert fast / slow == pytest.approx(0.4, rel=0.01)


def test_the_mark_of_usable_memory_stays_on_the_bar():
    over = ElementTree.fromstring(stacked_bar([("a", 0.2), ("b", 0.0)], limit=("usable", 1.0)))
    assert [rect.get("x") for rect in over] == ["0.0", "996.0"]


def test_a_table_without_rows_is_left_out():
    assert table(None) == ""


@pytest.mark.usefixtures("nobody_tells")
def test_without_a_face_the_fields_are_shown():
    assert PREDICTION._repr_html_() is None
    assert repr(COMPARISON).startswith("Comparison(a=Prediction(status='predicted', case=CaseView(")
    assert str(FITTING) == repr(FITTING)


def test_a_fault_of_the_telling_breaks_no_session():
    def broken(value: object, form: display.Form) -> str | None:
        raise RuntimeError("no ink")

    earlier = display.register(broken)
    try:
        assert repr(MEMORY) == repr(replace(MEMORY))
        assert repr(SCALING).startswith("Scaling(mode='strong'")
        assert SCALING._repr_html_() is None
    finally:
        assert display.register(earlier) is broken


def test_what_is_no_answer_is_not_told():
    assert notebook.show(MEMORY, "html") is None


def test_fields_and_equality_are_those_of_the_data():
    assert replace(PREDICTION) == PREDICTION
    assert replace(PREDICTION, mfu=0.4) != PREDICTION
    assert next(f.name for f in fields(PREDICTION)) == "status"
    assert not hasattr(PREDICTION, "__dict__")


def test_json_is_that_of_the_command(capsys: pytest.CaptureFixture[str]):
    arguments = ["--system", "dgx-h100", "-n", "16", "--model", "llama-3.1-8b", "--seq-len", "4096", "--global-batch", "64"]
    assert main(["predict", *arguments, "--json"]) == 0
    printed = capsys.readouterr().out
    assert json.loads(ts.to_json(ts.predict(**JOB))) == json.loads(printed)
    assert json.loads(ts.to_json(NOWHERE, indent=None))["step_time_s"] is None


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("accelerator", ["catalog", "show", "h100"]),
        ("system", ["catalog", "show", "cloudmatrix384"]),
        ("model", ["catalog", "model", "deepseek-v3"]),
        ("validation", ["validate", str(LOG.with_name("steps.csv"))]),
        ("log", ["compare", str(LOG)]),
    ],
)
def test_json_of_other_answers_is_that_of_the_command(name: str, arguments: list[str], capsys: pytest.CaptureFixture[str]):
    main([*arguments, "--json"])
    assert json.loads(ts.to_json(answer_of(name))) == json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("use", ["tierspan.collective", "tierspan.compare", "tierspan.predict"])
def test_any_public_name_makes_results_show_themselves(use: str):
    program = f"import tierspan; {use}; from tierspan.quantities import display; import sys; sys.exit(0 if display.register(None) else 1)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0

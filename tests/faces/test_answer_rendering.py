"""What people see of predictions, fittings, scalings and comparisons: hand-made answers against the texts in ``golden``.

After a wanted change of the texts: TIERSPAN_WRITE_GOLDEN=1 pytest tests/faces/test_answer_rendering.py, then read the difference.
"""

from __future__ import annotations

import io
import json
import math
import os
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest

from tierspan.answers.results import (
    CaseView,
    Comparison,
    Difference,
    Fitting,
    GroupPlacement,
    MemoryView,
    Neighbour,
    Prediction,
    ScalePoint,
    Scaling,
    StageMemory,
    Term,
    TierView,
    Traffic,
)  # fmt: skip
from tierspan.faces.cli.render.comparison import comparison_parts
from tierspan.faces.cli.render.console import make_console
from tierspan.faces.cli.render.fitting import fitting_parts
from tierspan.faces.cli.render.parts import WIDTH
from tierspan.faces.cli.render.prediction import prediction_parts, step_shares
from tierspan.faces.cli.render.scaling import scaling_parts
from tierspan.faces.cli.session import Session
from tierspan.quantities.findings import Assumption, Finding
from tierspan.specs.strategy import Strategy

GOLDEN = Path(__file__).parent / "golden"
CASE = CaseView(
    system="dgx-h100", accelerator="h100-sxm5-80gb", accelerators=1024, node_size=8, model="llama-3.1-405b", parameters_total=405_853_388_800,
    parameters_active=405_853_388_800, stack="megatron-core", sequence_length=8192, global_batch=1152, precision="bf16",
    strategy=Strategy(tp=8, pp=8, vpp=8, cp=2), dp=8, micro_batches=144.0,
)  # fmt: skip
MEMORY = MemoryView(
    total_bytes=70e9, usable_bytes=80e9, margin_bytes=10e9, fits=True, oom_probability=0.02, heaviest_stage="first",
    terms={"weights": 13e9, "gradients": 20e9, "optimizer": 5e9, "activations": 28e9, "logits": 0.0, "transients": 1e9, "communication": 0.5e9,
           "step": 0.0, "fragmentation": 2e9, "reserve": 0.5e9},
)  # fmt: skip
TERMS = (
    Term("matmul", 6.0, 0.60), Term("attention", 0.8, 0.08), Term("tp", 1.2, 0.12, "NVLink 4"), Term("dp", 0.6, 0.06, "InfiniBand NDR"),
    Term("pp", 0.2, 0.02, "InfiniBand NDR"), Term("bubble", 0.7, 0.07), Term("jitter", 0.4, 0.04), Term("constant", 0.1, 0.01),
    Term("imbalance", 0.0001, 0.00001),
)  # fmt: skip
PREDICTION = Prediction(
    status="predicted", case=CASE, step_time_s=10.0, low_s=9.1, high_s=11.4, tokens_per_s=943_718.4, tokens_per_s_per_accelerator=921.6, mfu=0.412,
    model_flops_per_step=4.17e18, power_W=716_800.0, terms=TERMS,
    traffic=(
        Traffic("tp", "NVLink 4", 1.2, 1.5, 970e9, 4.3e8), Traffic("dp", "InfiniBand NDR", 0.6, 2.4, 135e9),
        Traffic("dp", "NVLink 4", 0.0, 0.0, 11e9), Traffic("pp", "InfiniBand NDR", 0.2, 0.2, 18e9),
    ),
    placement=(
        GroupPlacement("tp", 8, 1, "NVLink 4", 8), GroupPlacement("pp", 8, 128, "InfiniBand NDR", 1), GroupPlacement("ep", 1, 1, "NVLink 4", 1),
    ),
    tiers=(
        TierView("NVLink 4", "scale-up", 8, 450e9, 360e9, 1.5e-6, "nvlink", False, 640e9, 7.9e15, 1.2),
        TierView("InfiniBand NDR", "scale-out", 1024, 50e9, 45e9, 6e-6, "infiniband", False, 82e12, 1.0e18, 0.8),
    ),
    binds="matmul", binds_share=0.60, memory=MEMORY, regime="many nodes, device-bound, dense", interval_basis="many nodes, device-bound, dense",
    assumptions=(
        Assumption("zero", 1, "question.habit", {"stack": "Megatron-Core"}), Assumption("sp", True, "question.habit", {"stack": "Megatron-Core"}),
        Assumption("pp, cp", 1, "question.groups_of_one"),
    ),
    sources=("datasheet of the accelerator", "datasheet of the accelerator", "logs of nccl-tests"),
    neighbours=(Neighbour("r1", "a public paper", "llama-3.1-405b", "h100-sxm5-80gb", 1024, "tp8 pp8 cp2", 10.4, -0.041),),
    profile_version="2026-01",
)  # fmt: skip
UNEVEN = Finding("strategy.heads", "error", {"heads": 128, "tp": 7})


def point(n: int, efficiency: float, **more: object) -> ScalePoint:
    step = 10.0 * 1024 / n / efficiency
    values: dict[str, object] = {
        "accelerators": n, "node_size": 8, "dp": n // 128, "global_batch": 1152, "step_time_s": step, "low_s": step * 0.9, "high_s": step * 1.15,
        "tokens_per_s": 9.4e6 / step, "tokens_per_s_per_accelerator": 921.6 * efficiency, "efficiency": efficiency, "speedup": n / 1024 * efficiency,
        "mfu": 0.412 * efficiency, "losses": {}, "main_cause": "", "fits": True, "status": "predicted",
    }  # fmt: skip
    return ScalePoint(**{**values, **more})


SCALING = Scaling(
    mode="strong", reference=1024,
    points=(
        point(1024, 1.0), point(2048, 0.95, losses={"dp": 0.03, "bubble": 0.02}, main_cause="dp"),
        point(4096, 0.84, losses={"dp": 0.11, "bubble": 0.05, "jitter": 0.0001}, main_cause="dp", fits=False, status="does not fit"),
    ),
    knee=2048,
    advice=(Finding("scale.advice.dp", "info", {"accelerators": 4096, "points": 11.0, "micro_batches": 36.0}),),
    predictions=(PREDICTION,),
)  # fmt: skip
OTHER = replace(
    PREDICTION, case=replace(CASE, system="gb200-nvl72", accelerator="gb200"), step_time_s=4.0, low_s=3.6, high_s=4.9, tokens_per_s=2_359_296.0,
    tokens_per_s_per_accelerator=2304.0, mfu=0.39, power_W=1.2e6, memory=replace(MEMORY, usable_bytes=184e9, margin_bytes=114e9),
    assumptions=PREDICTION.assumptions[:1],
)  # fmt: skip
COMPARISON = Comparison(
    a=PREDICTION, b=OTHER, speedup_per_step=0.4, speedup_per_accelerator=0.4, tokens_per_joule_a=1.3166, tokens_per_joule_b=1.966,
    peak_flops_ratio=0.396,
    differences=(
        Difference("tp", "NVLink 4", "NVLink 5", -0.9), Difference("matmul", "", "", -4.2), Difference("dp", "InfiniBand NDR", "InfiniBand NDR", 0.1),
        Difference("constant", "", "", 0.001),
    ),
)  # fmt: skip
FITTING = Fitting(
    status="does not fit", case=CASE,
    memory=replace(MEMORY, total_bytes=88e9, margin_bytes=-8e9, fits=False, oom_probability=0.97, terms={**MEMORY.terms, "activations": 46e9}),
    stages=(
        StageMemory("first", 16, 8.875, 85e9, 88e9, False, {**MEMORY.terms, "activations": 46e9}),
        StageMemory("middle", 16, 7.875, 78e9, 81e9, False, {**MEMORY.terms, "activations": 39e9}),
        StageMemory("last", 14, 7.125, 67e9, 70e9, True, MEMORY.terms),
    ),
    smallest_accelerators=2048, largest_micro_batch=None, largest_sequence_length=6144,
    remedies=(
        Finding("fit.remedy.recompute", "info", {"total_gb": 48.1, "fits": True}),
        Finding("fit.remedy.cp", "info", {"total_gb": 81.0, "fits": False, "cp": 4}),
    ),
    assumptions=PREDICTION.assumptions,
)  # fmt: skip
NOWHERE = replace(
    PREDICTION, status="invalid", step_time_s=math.nan, low_s=math.nan, high_s=math.nan, tokens_per_s=math.nan, tokens_per_s_per_accelerator=math.nan,
    mfu=math.nan, terms=(), traffic=(), findings=(UNEVEN,), neighbours=(), binds="", binds_share=math.nan,
)  # fmt: skip
SHOWN = {
    "prediction": lambda lang: prediction_parts(PREDICTION, lang),
    "prediction_invalid": lambda lang: prediction_parts(NOWHERE, lang),
    "fitting": lambda lang: fitting_parts(FITTING, lang),
    "scaling": lambda lang: scaling_parts(SCALING, lang),
    "comparison": lambda lang: comparison_parts(COMPARISON, lang),
}


def shown(parts, lang: str = "en") -> str:
    stream = io.StringIO()
    Session(lang, stdout=stream).show(*parts)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def cells(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", SHOWN)
def test_golden(name, lang):
    text = shown(SHOWN[name](lang), lang)
    path = GOLDEN / f"{name}.{lang}.txt"
    if os.environ.get("TIERSPAN_WRITE_GOLDEN") == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", SHOWN)
def test_no_line_is_wider_than_the_page(name, lang):
    text = shown(SHOWN[name](lang), lang)
    assert [line for line in text.splitlines() if cells(line) > WIDTH] == []
    assert "\x1b" not in text


def test_the_shares_of_the_bar_are_those_of_the_terms():
    shares = step_shares(PREDICTION)
    assert shares["compute"] == pytest.approx(0.68)
    assert shares["scale_up"] == pytest.approx(0.12)
    assert shares["scale_out"] == pytest.approx(0.08)
    assert sum(shares.values()) == pytest.approx(sum(t.share for t in TERMS))


@pytest.mark.parametrize("parts", [prediction_parts(PREDICTION, "en", brief=True), fitting_parts(FITTING, "en", brief=True),
                                   scaling_parts(SCALING, "en", brief=True), comparison_parts(COMPARISON, "en", brief=True)])  # fmt: skip
def test_brief_is_one_sentence(parts):
    assert len(shown(parts).splitlines()) <= 3
    assert "\n\n" not in shown(parts)


def test_an_interval_that_is_not_known_is_not_printed():
    told = shown(prediction_parts(replace(PREDICTION, low_s=math.nan, high_s=math.nan), "en"))
    assert "80 % interval" not in told
    assert "No interval: " in told
    assert "nan" not in told.lower()


def test_a_step_that_is_not_known_is_not_printed():
    told = shown(prediction_parts(replace(NOWHERE, status="predicted", findings=()), "en"))
    assert "the step time is not known" in told
    assert "It fits: 70.0 of 80.0 GB" in " ".join(told.split())
    assert "MFU" not in told


@pytest.mark.parametrize("binds", ["matmul", "dp", "bubble", "something new"])
def test_what_binds_is_told(binds):
    assert "60 %" in shown(prediction_parts(replace(PREDICTION, binds=binds), "en"))


@pytest.mark.parametrize("status", ["fits", "borderline", "does not fit", "invalid"])
def test_every_status_of_a_fitting_has_a_sentence(status):
    assert "llama-3.1-405b" in shown(fitting_parts(replace(FITTING, status=status), "en", brief=True))


def test_sizes_that_cannot_run():
    broken = replace(
        SCALING, points=tuple(replace(p, efficiency=math.nan, step_time_s=math.nan, status="invalid") for p in SCALING.points), knee=None
    )
    told = shown(scaling_parts(broken, "en"))
    assert told.startswith("None of these sizes can run this plan.")
    assert told.count("plan invalid here") == 3


def test_fewer_cards_a_node_stand_side_by_side():
    points = (point(1024, 1.0), point(1024, 0.8, node_size=4, main_cause="tp", losses={"tp": 0.2}))
    told = shown(scaling_parts(replace(SCALING, points=points, knee=None), "en"))
    assert told.startswith("1,024 accelerators with 4 instead of 8 to a node: 0.8 times the tokens/s")
    assert "1,024 / 4" in told
    assert "bend" not in told


def test_a_comparison_never_sums_up_peaks_as_the_verdict():
    first = shown(comparison_parts(COMPARISON, "en", brief=True))
    assert "FLOP" not in first
    assert "2.5 times the speed of dgx-h100" in " ".join(first.split())
    turned = replace(
        COMPARISON, a=OTHER, b=PREDICTION, speedup_per_step=2.5, speedup_per_accelerator=2.5, tokens_per_joule_a=1.966, tokens_per_joule_b=1.3166
    )
    assert shown(comparison_parts(turned, "en", brief=True)) == first


def test_json_has_no_nan():
    stream = io.StringIO()
    Session(stdout=stream).json(NOWHERE)
    told = json.loads(stream.getvalue())
    assert told["step_time_s"] is None
    assert told["case"]["strategy"]["tp"] == 8
    assert told["findings"][0]["id"] == "strategy.heads"


def test_a_terminal_with_colours_shows_the_same_text(monkeypatch):
    from rich.console import Console

    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, color_system="standard", width=WIDTH, markup=False, highlight=False)
    for part in prediction_parts(PREDICTION, "en"):
        console.print(part)
        console.print()
    import re

    plain = re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())
    assert "\x1b" in stream.getvalue()
    assert plain.split() == shown(prediction_parts(PREDICTION, "en")).split()
    assert make_console(io.StringIO()).color_system is None

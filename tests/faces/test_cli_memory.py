"""Offload, schedules and stages of ``fit`` and ``predict``, as a user types them."""

from __future__ import annotations

import json

import pytest

from tierspan.faces.cli.main import main

JOB = ("--system", "dgx-h100", "-n", "64", "--model", "llama-3.1-70b", "--seq-len", "4096", "--global-batch", "64", "--tp", "4", "--pp", "4")


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize("flag", ["--optimizer-offload-fraction", "--offload-optimizer"])
def test_half_of_the_optimizer_on_the_host(capsys: pytest.CaptureFixture[str], flag: str) -> None:
    whole = json.loads(told(capsys, "fit", *JOB, "--json")[1])
    half = json.loads(told(capsys, "fit", *JOB, flag, "0.5", "--json")[1])
    assert whole["memory"]["host"] is None
    moved = half["memory"]["host"]["terms"]["optimizer"]
    assert moved == pytest.approx(whole["memory"]["terms"]["optimizer"] / 2)
    assert moved + half["memory"]["terms"]["optimizer"] == pytest.approx(whole["memory"]["terms"]["optimizer"])
    assert half["memory"]["host"]["available_bytes_per_node"] is None


@pytest.mark.parametrize(("lang", "unknown", "untimed"), [("en", "is not known", "not part of the step time"), ("zh", "容量未知", "未计入步时间")])
@pytest.mark.parametrize("verb", ["fit", "predict"])
def test_the_text_says_what_is_unknown_and_not_modelled(capsys: pytest.CaptureFixture[str], verb: str, lang: str, unknown: str, untimed: str) -> None:
    _, out, _ = told(capsys, verb, *JOB, "--activation-offload-fraction", "1", "--lang", lang)
    flat = " ".join(out.split()) if lang == "en" else "".join(out.split())
    assert unknown in flat
    assert untimed in flat


@pytest.mark.parametrize("value", ["1.5", "-0.1", "nan"])
def test_a_share_outside_its_range_is_refused(capsys: pytest.CaptureFixture[str], value: str) -> None:
    code, out, err = told(capsys, "fit", *JOB, "--parameter-offload-fraction", value)
    assert (code, out) == (2, "")
    assert "--parameter-offload-fraction" in err or "strategy.parameter_offload" in err


@pytest.mark.parametrize(("schedule", "flight"), [("1f1b", [4, 2, 1]), ("zb-h1", [4, 4, 4]), ("zb-h2", [4, 4, 4]), ("dualpipe", [4, 4, 4])])
def test_micro_batches_in_flight_by_schedule(capsys: pytest.CaptureFixture[str], schedule: str, flight: list[float]) -> None:
    found = json.loads(told(capsys, "fit", *JOB, "--schedule", schedule, "--global-batch", "16", "--json")[1])
    assert found["case"]["micro_batches"] == 4  # never more than a step has
    assert [s["in_flight"] for s in found["stages"]] == flight

"""The four steps and the questions for the seller."""

from __future__ import annotations

import pytest

from tierspan.answers.audit.claims import claims_of
from tierspan.answers.audit.questions import MOST, questions_of
from tierspan.answers.audit.room import room_of
from tierspan.answers.audit.steps import steps_of
from tierspan.formats.figures import read_figures
from tierspan.formats.sheets.reader import sheet_of_text
from tierspan.quantities import messages
from tierspan.quantities.errors import Place
from tierspan.quantities.findings import Finding
from tierspan.quantities.messages import fill
from tierspan.specs.site import Site

H200 = "GPU: H200 141GB HBM3e 4.8TB/s\nNVLink 900 GB/s\n8 x CX7 400G\n"


@pytest.fixture(autouse=True)
def strict():
    earlier = messages.set_strict(True)
    yield
    messages.set_strict(earlier)


def steps(text: str, findings: tuple[Finding, ...] = (), site: Site | None = None):
    document = sheet_of_text(text, "sheet.txt")
    figures = read_figures([document])
    found = steps_of(figures, findings, claims_of([document], figures), room_of(figures, site))
    assert [step.name for step in found] == ["tier and domain", "bandwidth basis", "latency premise", "topology and room"]
    for step in found:
        assert all(fill(reason.id, lang, reason.values) for reason in step.told for lang in ("en", "zh"))
    return {step.name: step for step in found}


def said(step, lang="en"):
    return " ".join(fill(reason.id, lang, reason.values) for reason in step.told)


def asked(text: str, findings: tuple[Finding, ...] = ()):
    return questions_of(read_figures([sheet_of_text(text, "sheet.txt")]), findings)


def test_each_figure_has_its_tier_and_the_domain_is_told():
    step = steps(H200)["tier and domain"]
    assert "Scale-up (inside the domain): 900 GB/s." in said(step)
    assert "Scale-out (cluster network): 400G." in said(step)
    assert "8 accelerators (NVLink 4 (NVSwitch)), 8 a host" in said(step)
    assert "scale-up（域内）：900 GB/s。" in said(step, "zh")


def test_a_domain_that_nobody_knows_is_a_question():
    step = steps("PPU: interconnect NVLink-like scale-up 700GB/s")["tier and domain"]
    assert step.light == "unknown"
    assert "How many accelerators share the scale-up tier is not said" in said(step)
    assert "audit.ask.domain" in [q.reason.id for q in asked("PPU: scale-up 700GB/s")]


def test_a_database_server_has_no_domain():
    finding = Finding("audit.database_scale_up", "info", {"text": "scale-up"}, Place("sheet.txt", 1))
    step = steps("Oracle database server, scale-up to 64 TB/s", (finding,))["tier and domain"]
    assert step.told[0].id == "audit.said.database"
    assert not any(reason.id.startswith("audit.said.tier") for reason in step.told)


def test_the_ratio_of_inside_to_outside_is_on_one_basis():
    step = steps(H200 + "H100 scale-up NVLink 900 GB/s, one 400 Gb/s NIC per GPU\n")["bandwidth basis"]
    ratios = {reason.values["part"]: reason.values["ratio"] for reason in step.told if reason.id.startswith("audit.said.ratio")}
    assert ratios == {"dgx-h200": "9", "dgx-h100": "9"}
    assert "3.6 TB/s to 400 GB/s" in said(step)


def test_latencies_of_two_bases_are_set_apart():
    step = steps("Switch latency 200 ns cut-through\nGPU-to-GPU latency 2 us\n")["latency premise"]
    assert step.told[-1].id == "audit.said.latency_bases"
    assert "Through a switch chip only" in said(step)
    alone = steps("Latency: 2 us")["latency premise"]
    assert (alone.light, alone.told[0].id) == ("unknown", "audit.said.latency.none")


def test_a_step_is_as_bad_as_its_worst_finding():
    error, warning = (Finding("audit.links", s, {"text": "x"}, Place("sheet.txt", 1)) for s in ("error", "warning"))
    assert steps(H200, (warning,))["bandwidth basis"].light == "derate"
    assert steps(H200, (error, warning))["bandwidth basis"].light == "fail"
    assert steps(H200, (error,))["latency premise"].light == "unknown"


def test_the_room_is_the_fourth_step():
    text = "GB200 NVL72: 72 GPU\n"
    assert steps(text)["topology and room"].told[-1].id == "audit.said.no_site"
    step = steps(text, site=Site(rack_power_W=17e3, cooling="air"))["topology and room"]
    assert step.light == "fail"
    assert "needs liquid" in said(step)


def test_questions_come_once_and_the_most_valuable_first():
    text = "PPU: 1945P\nscale-up 700GB/s\nscale-up 800GB/s\nLatency: 2 us\n"
    ids = [q.reason.id for q in asked(text)]
    assert ids == ["audit.ask.precision", "audit.ask.direction", "audit.ask.latency", "audit.ask.domain", "audit.ask.network"]
    direction = next(q for q in asked(text) if q.reason.id == "audit.ask.direction")
    assert (direction.line, direction.reason.values["text"]) == (2, "700GB/s, 800GB/s")


def test_findings_that_ask_are_asked_in_their_own_words_and_not_twice():
    own = Finding("audit.nics.roles", "question", {"text": "10x", "nics": "10", "accelerators": "8", "rest": "2"}, Place("sheet.txt", 3))
    same = Finding("audit.latency_no_basis", "question", {"text": "2 us"}, Place("sheet.txt", 1))
    bits = Finding("audit.bit_or_byte", "question", {"text": "400G"}, Place("sheet.txt", 2))
    found = asked("Latency: 2 us\nNetwork NIC 400G\n", (own, same, same, bits, own))
    assert [q.reason.id for q in found] == ["audit.ask.bits", "audit.ask.latency", "audit.nics.roles"]
    assert found[2].line == 3


def test_no_more_questions_than_anybody_answers():
    many = tuple(Finding("audit.nics.roles", "question", {"text": f"{n}x", "nics": n}, Place("sheet.txt", n)) for n in range(1, 40))
    assert len(asked(H200, many)) == MOST


def test_every_question_has_its_text_in_both_languages():
    from tierspan.answers.audit import questions

    for name in questions._ORDER:
        if name != "own":
            for lang in ("en", "zh"):
                assert fill(f"audit.ask.{name}", lang, {"text": "400G"})

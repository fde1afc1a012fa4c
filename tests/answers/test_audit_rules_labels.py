"""The rules on labels, directions, density, latency, power and place: each speaks of what is wrong and is silent on what is true."""

from __future__ import annotations

import re
from importlib import import_module

import pytest
from audit_label_cases import PAIRS
from hypothesis import given, settings
from hypothesis import strategies as st

from tierspan.answers.audit.rules import rules
from tierspan.answers.audit.rules.base import Rule, Sheet
from tierspan.answers.audit.rules.bounds import bound, family, sources
from tierspan.answers.audit.rules.surroundings import Surroundings
from tierspan.formats.figures import read_figures
from tierspan.formats.sheets import sheet_of_text
from tierspan.quantities import messages
from tierspan.quantities.findings import Finding

MODULES = ("direction", "host_link", "units_missing", "density", "precision", "latency", "power", "place", "domain", "vendor", "conflict")
RULES: tuple[Rule, ...] = tuple(r for name in MODULES for r in import_module(f"tierspan.answers.audit.rules.{name}").RULES)
CASES = [(name, number) for name, listed in PAIRS.items() for number in range(len(listed))]


def sheet(text: str, name: str = "sheet.txt") -> Sheet:
    documents = (sheet_of_text(text, name),)
    return Sheet(documents, read_figures(documents))


def found(text: str, name: str = "sheet.txt") -> list[Finding]:
    read = sheet(text, name)
    return [finding for rule in RULES for finding in rule.find(read)]


@pytest.fixture
def strict():
    earlier = messages.set_strict(True)
    yield
    messages.set_strict(earlier)


@pytest.mark.parametrize(("name", "number"), CASES)
def test_a_rule_speaks_of_the_false_text_alone(name: str, number: int, strict: None) -> None:
    true, false = PAIRS[name][number]
    spoken = [f for f in found(false) if f.id == f"audit.{name}"]
    assert spoken, false
    assert f"audit.{name}" not in {f.id for f in found(true)}, true
    for finding in spoken:
        for lang in ("en", "zh"):
            told = [messages.fill(f"{finding.id}{part}", lang, finding.values) for part in ("", ".why", ".remedy")]
            assert all(text and "{" not in text for text in told)
            assert lang == "en" or all(re.search("[\u4e00-\u9fff]", text) for text in told)
        assert finding.place.line is not None
        assert finding.place.file == "sheet.txt"


@pytest.mark.parametrize(("name", "number"), CASES)
def test_true_texts_raise_no_alarm(name: str, number: int) -> None:
    true, _ = PAIRS[name][number]
    assert [f.id for f in found(true) if f.severity in ("warning", "error")] == []


def test_every_rule_has_a_pair_and_its_texts() -> None:
    assert {rule.id for rule in RULES} == {f"audit.{name}" for name in PAIRS}
    assert {rule.id for rule in RULES} <= {rule.id for rule in rules()}
    for rule in RULES:
        assert rule.sources
        assert rule.severity in ("error", "warning", "question", "info")
        assert all(messages.has(f"{rule.id}{part}") for part in ("", ".why", ".remedy"))


def test_findings_tell_figure_place_and_values() -> None:
    (finding,) = [f for f in found("H100 SXM\nNVLink: 900 GB/s per direction") if f.severity == "error"]
    assert (finding.id, finding.place.line, finding.place.column) == ("audit.direction_contradicted", 2, 9)
    assert finding.values == {"text": "900 GB/s", "part": "NVIDIA H100 SXM5 80GB", "each": "450 GB/s", "both": "900 GB/s"}
    assert messages.render_finding(finding, "zh").startswith("错误：sheet.txt:2:9：NVIDIA H100 SXM5 80GB 的 900 GB/s 方向写错：单向 450 GB/s")


def test_cells_of_tables_keep_their_words() -> None:
    text = "| Spec | H100 SXM |\n| --- | --- |\n| NVLink, per direction | 900 GB/s |\n| BF16 (dense) | 1,979 TFLOPS |\n"
    assert {f.id for f in found(text, "a.md") if f.severity == "error"} == {"audit.direction_contradicted", "audit.sparse_as_dense"}
    read = sheet(text, "a.md")
    around = Surroundings(read).of(next(r for r in read.readings if r.unit_si == "B/s"))
    assert "per direction" in around.heads
    assert around.clause == "900 GB/s"


def test_bounds_have_sources_and_si_values() -> None:
    assert bound("pcie.5.each") == 64e9
    assert bound("fibre.glass") == pytest.approx(5e-9)
    assert family("efa")["4.high"] == pytest.approx(8e11)
    assert all(sources(prefix) for prefix in ("pcie.", "switch.", "latency.", "copper.", "air.", "domain.", "rack."))
    with pytest.raises(KeyError):
        bound("pcie.9.each")


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="H1029 GB/sTFLOPSdensekWx()=,.:;单向双向显存\n|", max_size=120))
def test_no_text_breaks_a_rule(text: str) -> None:
    if text.strip():
        for finding in found(f"H100 {text}"):
            assert finding.id.startswith("audit.")


@pytest.mark.parametrize("factor", [1.0, 0.995, 1.005])
def test_rounding_is_no_mistake(factor: float) -> None:
    assert not [f for f in found(f"H100 BF16 {989 * factor:.0f} TFLOPS dense, {3.35 * factor:.2f} TB/s memory bandwidth") if f.severity != "info"]

"""Pages of answers without a browser: whole, small, self-contained, explained, in both languages, and with the numbers of the answer."""

import json
import math
import re
from dataclasses import replace

import pytest

import tierspan as ts
from tests.faces.page_reader import read
from tierspan.faces.cli.main import main
from tierspan.faces.cli.render.parts import gigabytes, percent
from tierspan.faces.report import glossary
from tierspan.faces.report.answers import document
from tierspan.faces.report.page import render
from tierspan.faces.report.parts import Section
from tierspan.quantities.findings import Assumption
from tierspan.quantities.messages import catalogue

JOB = {
    "system": "dgx-h100", "accelerators": 64, "model": "llama-3.1-70b", "sequence_length": 8192, "global_batch": 128,
    "tp": 8, "pp": 4, "recompute": "full",
}  # fmt: skip
MOE = {
    "system": "gb200-nvl72", "accelerators": 256, "model": "deepseek-v3", "sequence_length": 4096, "global_batch": 2048,
    "tp": 1, "pp": 4, "vpp": 4, "ep": 64, "precision": "fp8", "recompute": "full",
}  # fmt: skip
# Words in capitals that need no explanation: names of products, firms, models and files, and cells of a source itself.
NAMES = re.compile(r"NVIDIA|DGX|HGX|H100|H200|GB200|B200|SXM\d?|DeepSeek\w*")
CAPITALS = re.compile(r"(?<![\w./:-])[A-Z][A-Za-z]*[A-Z][A-Za-z0-9]*(?![\w-])")


@pytest.fixture(scope="module")
def answers():
    prediction = ts.predict(**JOB, timeline=True)
    return {
        "predict": prediction,
        "moe": ts.predict(**MOE),
        "fit": ts.fit(**JOB),
        "scale": ts.scale((64, 128, 256), **JOB),
        "beside": ts.compare_systems(prediction, ts.predict(**{**JOB, "system": "hgx-h200"})),
        "exceeds": ts.predict(**{**JOB, "recompute": "none", "pp": 1, "tp": 2, "zero": 0}),
        "invalid": ts.predict(**{**JOB, "tp": 3}),
        "nowhere": ts.fit(**{**JOB, "tp": 3}),
        "one card": ts.predict(system="dgx-h100", accelerators=1, model="llama-3.2-1b", sequence_length=2048, global_batch=8),
    }


NAMED = ("predict", "moe", "fit", "scale", "beside", "exceeds", "invalid", "nowhere", "one card")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", NAMED)
def test_a_page_is_whole_and_self_contained(answers, name, lang):
    page = document(answers[name], lang, ["tierspan predict job.yaml"])
    text = render(page)
    reader = read(text)
    assert len(text.encode()) < 3_000_000
    assert len(set(reader.ids)) == len(reader.ids)
    assert reader.loaded == []
    assert set(reader.links) <= set(reader.ids)
    assert set(reader.figures) == {d.id for s in page.sections for d in s.drawings}
    assert "NaN" not in re.sub(r'id="library">[^<]+<', "", text)
    assert f'<html lang="{"en" if lang == "en" else "zh-Hans"}">' in text
    words = "".join(reader.texts)
    assert "tierspan predict job.yaml" in words
    assert all(section.title in words for section in page.sections)
    if lang == "zh":
        own = [t for s in page.sections for t in (s.title, *s.texts, *(d.title for d in s.drawings), *(c.label for c in s.cards))]
        assert [t for t in own if not re.search(r"[\u4e00-\u9fff]", t) and not t.endswith("MFU")] == []


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", ["predict", "moe", "fit", "scale", "beside"])
def test_no_word_in_capitals_is_left_unexplained(answers, name, lang):
    page = document(answers[name], lang)
    reader = read(render(page))
    explained = {word for term in glossary.terms(lang) if f"term-{term.id}" in reader.ids for word in (*term.words, term.name, term.means)}
    known = set(CAPITALS.findall(" ".join(explained))) | {w for text in explained for w in re.findall(r"[A-Za-z0-9/]+", text)}
    used = {
        word
        for s in (*page.sections, Section("lead", page.title, page.lead))
        if s.id not in ("sources", "again", "assumptions")
        for text in (
            s.title, *s.texts, *s.items, *(n.text for n in s.notes), *(x for c in s.cards for x in (c.label, c.remark)),
            *(d.title + " " + d.caption for d in s.drawings), *(p.title + " " + p.caption for p in s.pictures),
            *(c.text + " " + c.unit for t in s.tables for c in t.columns),
        )
        for word in CAPITALS.findall(text)
    }  # fmt: skip
    assert sorted(w for w in used - known if not NAMES.fullmatch(w)) == []


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_terms_of_the_glossary_are_whole(lang):
    texts = catalogue(lang)
    found = glossary.terms(lang)
    assert len(found) > 60
    assert all(term.words for term in found)
    assert {f"glossary.{t.id}" for t in found} <= texts.keys()
    words = [w for t in found for w in t.words]
    assert sorted({w for w in words if words.count(w) > 1}) == []


def test_terms_are_marked_once_a_section_and_never_inside_a_word():
    marker = glossary.Marker("en")
    marker.begin()
    told = str(marker.mark("MFU and MFUs, a tier, two tiers, TP/EP in a/TP.md"))
    assert told.count('class="term"') == 2
    assert str(marker.mark("MFU again")) == "MFU again"
    marker.begin()
    assert 'href="#term-mfu"' in str(marker.mark("MFU again"))
    assert {"mfu", "tier"} <= {t.id for t in marker.explained()}


def test_addresses_become_links_and_nothing_else_becomes_markup():
    marker = glossary.Marker("en")
    told = str(marker.mark('see https://example.org/a?b=1&c=2. <b>"x"</b> javascript:alert(1)'))
    assert '<a href="https://example.org/a?b=1&amp;c=2">' in told
    assert "<b>" not in told
    assert told.count("<a ") == 1


def test_numbers_of_the_page_are_those_of_the_answer(answers):
    p = answers["predict"]
    page = document(p, "en")
    sections = {s.id: s for s in page.sections}
    cards = {c.label: c for c in sections["answer"].cards}
    assert cards["MFU"].value == f"{percent(p.mfu)} %"
    assert cards["Memory, heaviest rank"].value == f"{gigabytes(p.memory.total_bytes)} / {gigabytes(p.memory.usable_bytes)} GB"
    (terms,) = sections["step"].tables
    assert len(terms.rows) == sum(t.share >= 0.0005 for t in p.terms)
    assert sum(float(row[3].replace(",", "")) for row in terms.rows) == pytest.approx(100, abs=0.6)
    (memory,) = sections["memory"].tables
    assert sum(float(row[1].replace(",", "")) for row in memory.rows) == pytest.approx(p.memory.total_bytes / 1e9, abs=0.5)
    assert {"assumptions", "sources", "trust", "timeline", "tiers"} <= sections.keys()
    assert len(sections["trust"].tables[0].rows) == len(p.neighbours)


def test_what_does_not_fit_or_cannot_run_is_said_first(answers):
    (card,) = [c for c in document(answers["exceeds"], "en").sections[0].cards if c.bad]
    assert card.remark.startswith("does not fit")
    page = document(answers["invalid"], "en")
    assert page.sections[0].cards[0].bad
    assert page.sections[0].notes[0].severity == "error"
    assert "step" not in [s.id for s in page.sections]
    assert document(answers["nowhere"], "zh").sections[0].cards[0].value == "方案无效"


def test_sizes_that_cannot_run_tell_the_rule():
    scaling = ts.scale(
        (512, 8192), system="dgx-h100", accelerators=512, model="llama-3.1-405b", sequence_length=8192, global_batch=256, tp=8, pp=8, vpp=8
    )
    notes = document(scaling, "en").sections[0].notes
    assert any(n.severity == "error" and "8,192" in n.text and "micro-batches" in n.text and n.remedy for n in notes)


def test_text_of_files_cannot_become_markup(answers):
    bad = '</script><script>alert(1)</script><svg onload="x">'
    p = answers["predict"]
    tiers = tuple(replace(t, name=bad) for t in p.tiers)
    taken = (*p.assumptions, Assumption(bad, bad, "predict.aligned"))
    hostile = replace(
        p, case=replace(p.case, model=bad, system=bad), tiers=tiers, sources=(bad, f"https://x.org/{bad}"), assumptions=taken,
        placement=tuple(replace(g, tier=bad) for g in p.placement), terms=tuple(replace(t, tier=bad if t.tier else "") for t in p.terms),
    )  # fmt: skip
    text = render(document(hostile, "en", [bad]))
    assert bad not in text
    assert "<svg onload" not in text
    read(text)


def test_the_page_is_the_same_each_time(answers):
    assert render(document(answers["moe"], "zh")) == render(document(answers["moe"], "zh"))


def test_an_answer_without_a_page_is_refused(answers):
    with pytest.raises(TypeError, match="CaseView has no page"):
        document(answers["predict"].case, "en")


@pytest.mark.parametrize(
    ("verb", "more"), [("predict", []), ("fit", []), ("scale", ["-n", "64,128"]), ("predict", ["--beside", "hgx-h200", "--timeline"])]
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_command_writes_the_page(tmp_path, capsys, verb, more, lang):
    out = tmp_path / "page.html"
    size = [] if "-n" in more else ["-n", "64"]
    asked = [verb, "--system", "dgx-h100", *size, "--model", "llama-3.1-70b", "--seq-len", "8192", "--global-batch", "128", "--tp", "8", "--pp", "4"]
    asked += ["--recompute", "full", *more]
    assert main([*asked, "--report", str(out), "--json", "--lang", lang]) == 0
    told = capsys.readouterr()
    json.loads(told.out)
    assert str(out) in told.err
    text = out.read_text(encoding="utf-8")
    assert "--global-batch 128" in text
    assert ("--lang zh" in text) == (lang == "zh")
    assert ("tiers" in read(text).ids) or verb == "predict"


@pytest.mark.parametrize("verb", ["predict", "fit", "scale"])
def test_a_page_that_cannot_be_written_is_told_before_the_work(tmp_path, capsys, verb):
    asked = [
        verb,
        "--system",
        "dgx-h100",
        "-n",
        "64",
        "--model",
        "llama-3.1-70b",
        "--seq-len",
        "8192",
        "--global-batch",
        "128",
        "--tp",
        "8",
        "--pp",
        "4",
    ]
    assert main([*asked, "--report", str(tmp_path / "none" / "page.html"), "--lang", "en"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "remedy" in told.err
    assert main([*asked, "--report", str(tmp_path), "--lang", "en"]) == 2


def test_a_page_never_replaces_the_scenario(tmp_path, capsys):
    job = tmp_path / "job.yaml"
    job.write_text(
        "cluster: {system: dgx-h100, accelerators: 64}\nmodel: llama-3.1-70b\n"
        "job: {sequence_length: 8192, global_batch: 128}\nstrategy: {tp: 8, pp: 4}\n"
    )
    before = job.read_bytes()
    assert main(["predict", str(job), "--report", str(job), "--lang", "en"]) == 2
    assert job.read_bytes() == before


def test_an_invalid_plan_writes_its_page_and_exits_with_1(tmp_path, capsys):
    out = tmp_path / "page.html"
    asked = ["predict", "--system", "dgx-h100", "-n", "64", "--model", "llama-3.1-70b", "--seq-len", "8192", "--global-batch", "128", "--tp", "3"]
    assert main([*asked, "--report", str(out), "--lang", "en"]) == 1
    assert "cannot run; rules broken:" in out.read_text(encoding="utf-8")
    asked[0] = "scale"
    out.unlink()
    assert main([*asked, "--report", str(out), "--lang", "en"]) == 1
    assert not out.exists()
    assert "no page is written" in capsys.readouterr().err


def test_numbers_unknown_are_never_shown_as_such(answers):
    p = answers["predict"]
    blind = replace(p, low_s=math.nan, high_s=math.nan, neighbours=tuple(replace(n, error=math.nan) for n in p.neighbours), power_W=None)
    text = re.sub(r'id="library">[^<]+<', "", render(document(blind, "en")))
    assert re.search(r"\bnan\b", text, re.IGNORECASE) is None


def test_each_page_has_the_parts_that_readers_look_for(answers):
    parts = {name: [s.id for s in document(answers[name], "en", ["x"]).sections] for name in ("predict", "scale")}
    assert parts["predict"] == ["answer", "step", "tiers", "memory", "timeline", "trust", "assumptions", "sources", "again"]
    assert parts["scale"] == ["answer", "curve", "losses", "shares", "tiers", "memory", "trust", "assumptions", "sources", "again"]
    fit = document(answers["fit"], "en", ["x"], placed=answers["predict"])
    assert [s.id for s in fit.sections] == ["answer", "memory", "limits", "step", "tiers", "assumptions", "sources", "again"]


def test_chinese_texts_use_the_terms_of_the_field():
    texts = " ".join(catalogue("zh").values())
    assert [t for t in ("超节点", "张量并行", "流水线并行", "专家并行", "总线带宽", "有效算力", "微批次", "显存", "内存语义") if t not in texts] == []
    assert [t for t in ("张量平行", "管道并行", "流水线泡沫") if t in texts] == []

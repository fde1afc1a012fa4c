"""The page: every section in both languages, every abbreviation explained, one file that loads nothing, and small."""

import base64
import gzip
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.faces.page_reader import read
from tierspan.answers.validate import validate
from tierspan.answers.validation.page import measurement_files, validation_page
from tierspan.faces.report.page import render
from tierspan.faces.report.validation import validation_document
from tierspan.quantities.messages import catalogue

ROOT = Path(__file__).parents[2]
STEPS = ROOT / "docs" / "examples" / "steps.csv"
MOST_BYTES = 3_000_000
SECTIONS = [
    *("headline", "training", "errors", "coverage", "slopes", "ranking", "ablation", "peers"),
    *("memory", "collectives", "not-predicted", "licences", "reproduce", "glossary"),
]
ABBREVIATION = re.compile(r"(?<![\w.-])[A-Z][A-Za-z]*[A-Z][A-Za-z0-9]*(?![\w-])")
# Names of products, firms, models and meetings are no abbreviations that a page could spell out; nor are cells of the source itself.
NAMES = {
    *("BLOOM", "NVIDIA", "AWS", "SDK", "BigScience", "MegaScale", "NSDI", "README", "MaxText", "MosaicML", "NeMo", "PyTorch"),
    *("SimuMax", "vTrain", "SC21", "MPT", "GPT", "LLAMA3", "OPT", "ModelLink", "DeepSeek", "JavaScript", "HF"),
}


@pytest.fixture(scope="module")
def room():
    return validation_page([validate(path) for path in measurement_files([ROOT / "validation"])])


@pytest.fixture(scope="module")
def steps():
    return validation_page([validate(STEPS)])


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_section_stands_there_and_the_page_is_small(room, lang):
    page = validation_document(room, lang, ["tierspan validate validation --report validation.html"])
    text = render(page)
    reader = read(text)
    assert [section.id for section in page.sections] == SECTIONS
    assert [i for i in reader.ids if i in SECTIONS] == SECTIONS
    assert len(set(reader.ids)) == len(reader.ids)
    assert reader.loaded == []
    assert set(reader.figures) == {d.id for s in page.sections for d in s.drawings}
    assert len(reader.figures) == 8
    assert len(text.encode()) < MOST_BYTES
    assert f'<html lang="{"en" if lang == "en" else "zh-Hans"}">' in text
    words = " ".join(reader.texts)
    assert all(section.title in words for section in page.sections)
    assert "$ tierspan validate validation --report validation.html" in words
    assert ("median error" in words) == (lang == "en")


@pytest.mark.slow
def test_abbreviations_are_explained(room):
    page = validation_document(room, "en", [])
    glossary = {term for s in page.sections for pair in s.terms for text in pair for term in ABBREVIATION.findall(text)}
    spoken = [t for s in page.sections if s.id != "licences" for t in (*s.texts, s.title, *(d.caption + d.title for d in s.drawings))]
    spoken += [c.text + " " + c.unit for s in page.sections for t in s.tables for c in t.columns]
    spoken += [t.title + " " + t.note for s in page.sections for t in s.tables]
    spoken += [cell for s in page.sections if s.id == "not-predicted" for t in s.tables for row in t.rows for cell in row if isinstance(cell, str)]
    flags = {flag.removeprefix("validate.flag.") for flag in catalogue("en") if flag.startswith("validate.flag.")}
    found = {word for text in spoken for word in ABBREVIATION.findall(text)}
    assert found - glossary - NAMES - flags == set()


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_numbers_of_the_page_are_those_of_the_report(room, lang):
    page = validation_document(room, lang, [])
    (headline,) = next(s for s in page.sections if s.id == "headline").tables
    (training,) = room.of("training")
    for row, summary in zip(
        headline.rows, [training.report[k] for k in ("overall", "curated")] + [training.report["by"]["density"]["moe"]], strict=False
    ):
        assert row[1:4] == (f"{summary['rows']:,}", f"{100 * summary['median_ape']:.1f}", f"{100 * summary['mean_ape']:.1f}")
        assert row[6] == f"{100 * summary['coverage80']:.1f}"
    (memory,) = room.of("memory")
    confusion = next(s for s in page.sections if s.id == "memory").tables[0]
    c = memory.confusion
    assert [r[1:] for r in confusion.rows] == [
        (f"{c.fits_told_fits:,}", f"{c.fits_told_oom:,}"),
        (f"{c.oom_told_fits:,}", f"{c.oom_told_oom:,}"),
    ]
    missing = next(s for s in page.sections if s.id == "not-predicted").tables[0]
    counted = sum(n for file in room.files for n in file.report["not_predicted"].values())
    assert sum(int(row[2].replace(",", "")) for row in missing.rows) == counted
    assert all(row[3] for row in missing.rows)
    licences = next(s for s in page.sections if s.id == "licences").tables[0]
    assert sum(int(row[5].replace(",", "")) for row in licences.rows) == sum(file.report["rows"] for file in room.files)


def test_the_page_is_the_same_each_time(steps):
    page = validation_document(steps, "en", [])
    assert render(page) == render(validation_document(steps, "en", []))


def test_the_library_stands_inside_whole(steps):
    from plotly.offline import get_plotlyjs

    text = render(validation_document(steps, "en", []))
    packed = re.search(r'id="library">([^<]+)<', text)[1]
    assert gzip.decompress(base64.b64decode(packed)).decode("utf-8") == get_plotlyjs()


def test_what_is_missing_is_said(steps):
    page = validation_document(replace(steps, ablation={}), "en", [])
    told = {s.id: " ".join(s.texts) for s in page.sections}
    assert told["ablation"].startswith("Not computed")
    assert told["peers"].startswith("Not shown: no peers.csv")
    assert told["licences"].startswith("Not shown: no licences.csv")
    assert told["ranking"] == "Nothing to show for these files."
    assert "memory" not in told


def test_an_ablation_of_the_record_is_shown(steps):
    found = replace(steps, ablation={"stragglers": {"median_ape": 0.071, "median_ape_curated": 0.052}, "launch_overhead": {"median_ape": 0.08}})
    section = next(s for s in validation_document(found, "en", []).sections if s.id == "ablation")
    assert section.tables[0].rows == (("stragglers", "7.1", "5.2"), ("launch overhead", "8.0", "-"))
    assert [c.text for c in section.tables[0].columns] == ["left out", "median error, all", "median error, curated"]


def test_two_files_of_a_kind_keep_their_ids_apart():
    page = validation_document(validation_page([validate(STEPS), validate(STEPS)]), "en", [])
    assert len(set(read(render(page)).ids)) == len(read(render(page)).ids)
    assert "training-2" in [s.id for s in page.sections]


def test_text_of_files_cannot_become_markup(steps):
    (file,) = steps.files
    bad = "</script><script>alert(1)</script>"
    points = tuple(replace(p, label=bad, id=bad) for p in file.points)
    text = render(validation_document(replace(steps, files=(replace(file, name=bad, points=points),)), "en", [bad]))
    assert bad not in text
    assert read(text).figures["training-scatter"]["data"][0]["name"] == bad


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_term_of_the_glossary_has_a_meaning(lang):
    texts = catalogue(lang)
    terms = [k for k in texts if k.startswith("report.glossary.") and not k.endswith(".means")]
    assert [k for k in terms if f"{k}.means" not in texts] == []


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_reason_has_a_remedy(lang):
    texts = catalogue(lang)
    reasons = {k.removeprefix("validate.reason.") for k in texts if k.startswith("validate.reason.")}
    assert [r for r in sorted(reasons) if f"report.remedy.{r}" not in texts] == []

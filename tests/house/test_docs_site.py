"""The documentation site builds without a warning, holds every page, and asks nothing of the network."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tierspan
from tierspan.answers.audit.rules import rules as audit_rules
from tierspan.answers.schemas import known_schemas
from tierspan.faces.cli import registry
from tierspan.laws.validity import RULES
from tierspan.specs.catalog import accelerator_ids, system_ids
from tierspan.specs.models import model_ids

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(page.relative_to(DOCS).with_suffix("") for page in DOCS.rglob("*.md") if not {"_ext", "examples"} & set(page.parts))
PATIENCE_S = 240
LOADED = re.compile(r"<(?:script|img|iframe|source|video|audio)\b[^>]*?\bsrc=\"([^\"]+)\"|<link\b[^>]*?\bhref=\"([^\"]+)\"")
IN_STYLES = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")
FOREIGN = re.compile(r"^(?:[a-z]+:)?//", re.IGNORECASE)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The built site, made once: the first worker builds, the others wait for it."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "docs-site"
    done = folder.with_suffix(".log")
    try:
        folder.mkdir()
    except FileExistsError:
        waited_until = time.monotonic() + PATIENCE_S
        while not done.is_file() and time.monotonic() < waited_until:
            time.sleep(0.2)
    else:
        command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q", "-b", "html", "-d", f"{folder}-doctrees", DOCS, folder]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=PATIENCE_S, check=False)
        written = done.with_suffix(".part")
        written.write_text(f"{run.returncode}\n{run.stdout}{run.stderr}", encoding="utf-8")
        written.rename(done)
    return folder


def text_of(site: Path, page: str) -> str:
    return (site / f"{page}.html").read_text(encoding="utf-8")


def test_it_builds_without_a_warning(site: Path):
    code, _, said = site.with_suffix(".log").read_text(encoding="utf-8").partition("\n")
    assert code == "0", said
    assert said.strip() == ""


def test_every_page_is_in_the_contents(site: Path):
    """The side bar of the first page shows the contents; Chinese pages stand below their own first page."""
    listed = set(re.findall(r'<li class="toctree-l\d[^"]*"><a class="reference internal" href="([^"#]+)"', text_of(site, "index")))
    assert {f"{page.as_posix()}.html" for page in PAGES} - {"index.html"} <= listed


def test_nothing_is_loaded_from_the_network(site: Path):
    loaded = {
        address
        for page in site.rglob("*.html")
        for pair in LOADED.findall(page.read_text(encoding="utf-8"))
        for address in pair
        if address and FOREIGN.match(address)
    }
    loaded |= {
        address
        for sheet in site.rglob("*.css")
        for pair in IN_STYLES.findall(sheet.read_text(encoding="utf-8"))
        for address in pair
        if address and FOREIGN.match(address)
    }
    assert loaded == set()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('<script src="https://a.example/x.js">', True),
        ('<link rel="stylesheet" href="//a.example/x.css">', True),
        ('<script src="_static/x.js">', False),
    ],
)
def test_the_search_for_foreign_files_finds_them(text: str, found: bool):
    assert bool([a for pair in LOADED.findall(text) for a in pair if FOREIGN.match(a)]) is found


def test_chinese_pages_say_that_they_are_chinese(site: Path):
    for page in PAGES:
        chinese = page.parts[0] == "zh"
        assert (' lang="zh-CN"' in text_of(site, page.as_posix())[:200]) is chinese, page


@pytest.mark.parametrize("page", ["reference/command-line", "zh/reference/command-line"])
def test_every_verb_and_option_is_there(site: Path, page: str):
    text = text_of(site, page)
    for verb in registry.available():
        assert re.search(rf"<h3>tierspan {verb}<a", text), verb
        for option in registry.load(verb).params:
            if option.param_type_name == "option" and not option.hidden:
                assert max(option.opts, key=len) in text


def test_every_public_name_and_schema_is_there(site: Path):
    python, answers = text_of(site, "reference/python"), text_of(site, "reference/json")
    assert [name for name in tierspan.__all__ if not re.search(rf"<h3>(?:tierspan\.)?{name}<a", python) and name != "__version__"] == []
    assert [verb for verb in known_schemas() if f"<h2>{verb}<a" not in answers] == []


def test_every_rule_and_every_thing_of_the_catalogue_is_there(site: Path):
    catalogue = text_of(site, "reference/catalogue")
    assert [name for name in (*accelerator_ids(), *system_ids(), *model_ids()) if f">{name}</span>" not in catalogue] == []
    for page in ("reference/rules", "zh/reference/rules"):
        assert [rule.id for rule in RULES if rule.id not in text_of(site, page)] == []
    for page in ("reference/audit-rules", "zh/reference/audit-rules"):
        assert [rule.id for rule in audit_rules() if f">{rule.id}</span>" not in text_of(site, page)] == []


def test_comments_of_the_source_are_not_shown(site: Path):
    shown = re.sub(r"<!--.*?-->", "", text_of(site, "guides/will-it-fit"), flags=re.DOTALL)
    assert "run: exact" not in shown
    assert "generated:" not in re.sub(r"<!--.*?-->", "", text_of(site, "reference/json"), flags=re.DOTALL)


def test_pages_in_two_languages_link_each_other(site: Path):
    assert '<a href="../zh/guides/will-it-fit.html" lang="zh-CN">中文</a>' in text_of(site, "guides/will-it-fit")
    assert '<a href="../../guides/will-it-fit.html" lang="en">English</a>' in text_of(site, "zh/guides/will-it-fit")
    assert "other-language" not in text_of(site, "concepts/memory")


def test_the_navigation_of_chinese_pages_is_chinese(site: Path):
    text = text_of(site, "zh/guides/will-it-fit")
    assert text.index("快速上手</a>") < text.index("Getting started</a>")
    assert "下一页" in text
    assert "<span>Next</span>" not in text

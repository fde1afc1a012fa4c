"""The pages as they are written: Chinese pages keep step with the English ones, tables of keys with the code. Nothing is built here."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tierspan.formats.scenario import read_document
from tierspan.formats.scenario.scenario import TOP_KEYS
from tierspan.specs import inline
from tierspan.specs.inline_fields import Fields

DOCS = Path(__file__).parents[2] / "docs"
CHINESE = DOCS / "zh"
ONLY_ENGLISH = {"verdicts.md"}
"""Guides without a Chinese page: a generated table."""
PAIRS = [(DOCS / page.relative_to(CHINESE), page) for page in sorted(CHINESE.rglob("*.md")) if page.name != "index.md"]
SI_SUFFIX = re.compile(r"_(bytes|Bps|s|W)$")


def headings(page: Path) -> list[int]:
    """Levels of the headings in their order, those inside code left out."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [len(marks) for marks in re.findall(r"^(#+) ", text, re.MULTILINE)]


def commands(page: Path) -> list[list[str]]:
    """The words of every command in its order, without ``--lang zh``."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.removeprefix("$ ") for line in text.splitlines() if line.startswith("$ ")]
    return [shlex.split(line.replace(" --lang zh", "")) for line in lines]


def snippets(page: Path) -> list[str]:
    """The blocks that are the same in all languages."""
    return re.findall(r"^```(?:python|yaml|json)\n.*?^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def marks(page: Path) -> list[str]:
    """How the examples are run, and which parts are generated; how many lines of output are shown may differ."""
    found = re.findall(r"<!-- (run[^>]*|generated: [\w-]+) ?(?:\w+ )?-->", page.read_text(encoding="utf-8"))
    return [re.sub(r" head \d+", "", mark).strip() for mark in found]


@pytest.mark.parametrize(("english", "chinese"), [pytest.param(*pair, id=str(pair[0].relative_to(DOCS))) for pair in PAIRS])
@pytest.mark.parametrize("part", [headings, commands, snippets, marks])
def test_a_chinese_page_keeps_step_with_the_english_one(english: Path, chinese: Path, part):
    if part is commands:
        without_lang = [[word for word in words if word not in ("--lang", "zh")] for words in commands(english)]
        assert commands(chinese) == without_lang
    else:
        assert part(chinese) == part(english)


def test_every_guide_has_a_chinese_page():
    guides = {page.name for page in (DOCS / "guides").glob("*.md")} - ONLY_ENGLISH
    assert guides <= {page.name for page in (CHINESE / "guides").glob("*.md")}
    assert (CHINESE / "getting-started.md").is_file()


def test_what_a_chinese_page_shows_is_chinese():
    """A command whose output is shown asks for Chinese, so that the shown lines are the ones that a reader gets."""
    wrong = []
    for page in CHINESE.rglob("*.md"):
        for body in re.findall(r"^<!-- run: exact[^>]*-->\n```console\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
            asked = [line for line in body.replace("\\\n", " ").splitlines() if line.startswith("$ ")]
            wrong += [f"{page.name}: {line}" for line in asked if "--lang zh" not in line]
    assert wrong == []


@pytest.fixture
def asked_keys(monkeypatch: pytest.MonkeyPatch) -> dict[str, set[str]]:
    """What the reader of descriptions asks for: path of a mapping -> its keys."""
    found: dict[str, set[str]] = {}
    finish = Fields.finish

    def noting(self: Fields) -> None:
        found[self.path()] = set(self._asked)
        finish(self)

    monkeypatch.setattr(Fields, "finish", noting)
    document = read_document(DOCS / "examples" / "example-pod.yaml")
    inline.system_from_mapping(document.data, document.place_of)
    return found


@pytest.mark.parametrize("page", [DOCS / "reference" / "scenario.md", CHINESE / "reference" / "scenario.md"], ids=["en", "zh"])
def test_the_keys_of_a_description_are_those_of_the_code(page: Path, asked_keys: dict[str, set[str]]):
    text = page.read_text(encoding="utf-8")
    tables = [
        {key for row in re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE) for key in re.findall(r"`(\w+)`", row)}
        for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    ]
    told = [keys for keys in tables if keys]
    wanted = [{key for key in asked_keys[path] if not SI_SUFFIX.search(key)} for path in ("", "accelerator", "tiers.0")]
    assert told == [set(TOP_KEYS) - {"site", "prices"}, *wanted]

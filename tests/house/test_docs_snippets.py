"""Every snippet of README and docs that is no command works: Python runs, YAML and JSON are read. Commands are run by test_readme.py.

The Python blocks of a page run one after the other in one namespace, as a reader would paste them.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tierspan.answers.model import describe_model
from tierspan.formats.scenario import scenario_of
from tierspan.formats.scenario.document import parse_document
from tierspan.specs.inline import system_from_mapping
from tierspan.specs.profile.profile import DATA

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
LANGUAGES = {"console", "python", "yaml", "json", "text", "sql", "{toctree}"}


def blocks(page: Path, language: str) -> list[tuple[int, str]]:
    """Line of the first line and text of each block."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(rf"^```{re.escape(language)}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, match.start(1)), match[1]) for match in found]


def parameters(language: str) -> list[pytest.param]:
    """Pages that have such blocks; a page whose blocks are those of another (its translation) counts once."""
    pages = {tuple(body for _, body in found): page for page in reversed(PAGES) if (found := blocks(page, language))}
    return [pytest.param(page, id=str(page.relative_to(ROOT))) for page in sorted(pages.values())]


@pytest.mark.parametrize("page", parameters("python"))
def test_python_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    shutil.copy(DATA / "profile.json", tmp_path / "profile.json")  # what `tierspan calibrate` would have written
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for line, body in blocks(page, "python"):
        exec(compile("\n" * line + body, str(page), "exec"), namespace)


@pytest.mark.parametrize("page", parameters("yaml"))
def test_yaml_is_a_scenario_or_a_system(page: Path):
    for _, body in blocks(page, "yaml"):
        document = parse_document(body, page.name)
        if "tiers" in document.data:
            system_from_mapping(document.data, document.place_of)
        else:
            scenario_of(document)


@pytest.mark.parametrize("page", parameters("json"))
def test_json_is_a_model(page: Path, tmp_path: Path):
    for _, body in blocks(page, "json"):
        (tmp_path / "config.json").write_text(body, encoding="utf-8")
        assert describe_model(tmp_path / "config.json").parameters_total > 0


@pytest.mark.parametrize(("guide", "language", "file"), [
    ("guides/my-own-model-and-system.md", "json", "example-1b/config.json"),
    ("guides/my-own-model-and-system.md", "yaml", "example-pod.yaml"),
])  # fmt: skip
def test_a_shown_file_is_the_file(guide: str, language: str, file: str):
    written = (ROOT / "docs" / "examples" / file).read_text(encoding="utf-8")
    (_, shown), *_ = blocks(ROOT / "docs" / guide, language)
    if language == "json":
        assert json.loads(shown) == json.loads(written)
    else:
        assert shown == re.sub(r"\A#.*\n", "", written)


def test_every_block_says_what_it_is():
    unknown = [
        f"{page.relative_to(ROOT)}: {match[1]!r}"
        for page in PAGES
        for match in re.finditer(r"^```([^\n]*)\n.*?^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        if match[1] not in LANGUAGES
    ]
    assert unknown == []

"""Nothing in the tree depends on the machine it was written on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "benchmarks", "scripts", ".ci", "docs", "validation")
# Absolute paths of one machine, and index servers other than the public default.
FOREIGN = re.compile(r"(?<![\w.])/(?:work|home|root|Users|tmp)/\w|--?(?:extra-)?index-url|find-links")
SUFFIXES = {".py", ".sh", ".md", ".toml", ".json", ".csv", ".yaml", ""}


def files() -> list[Path]:
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file() and path.suffix in SUFFIXES]
    return sorted(path for path in [*found, *ROOT.glob("*.md"), ROOT / "pyproject.toml"] if path != Path(__file__))


@pytest.mark.parametrize("text", ["see /home/someone/x", "pip install --index-url x"])
def test_the_search_finds_foreign_text(text: str):
    assert FOREIGN.search(text)


def test_no_foreign_text():
    found = {str(path.relative_to(ROOT)): match.group(0) for path in files() if (match := FOREIGN.search(path.read_text(encoding="utf-8")))}
    assert found == {}

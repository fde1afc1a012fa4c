"""No file above 500 lines: one file, one idea."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_LINES = 500
FOLDERS = ("src", "tests", "benchmarks", "scripts", ".ci", "docs")
SUFFIXES = {".py", ".sh", ".md", ""}


def texts() -> list[Path]:
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file() and path.suffix in SUFFIXES]
    return sorted([*found, *ROOT.glob("*.md"), ROOT / "pyproject.toml"])


def test_the_search_finds_the_package():
    assert ROOT / "src" / "tierspan" / "faces" / "cli" / "main.py" in texts()
    assert ROOT / "scripts" / "demo" in texts()


@pytest.mark.parametrize("path", [pytest.param(path, id=str(path.relative_to(ROOT))) for path in texts()])
def test_no_file_is_too_long(path: Path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES

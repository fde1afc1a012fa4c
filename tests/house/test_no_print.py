"""The library is silent: no print, no logging, no warnings filter; only faces write to the streams."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "tierspan"
LOUD_CALLS = {"print", "breakpoint", "input"}
LOUD_MODULES = {"logging"}


def offences(source: str, *, face: bool) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in LOUD_CALLS:
            found.append(f"line {node.lineno}: {node.func.id}()")
        elif isinstance(node, ast.Import) and LOUD_MODULES & {alias.name.partition(".")[0] for alias in node.names}:
            found.append(f"line {node.lineno}: import logging")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in LOUD_MODULES:
            found.append(f"line {node.lineno}: from logging import")
        elif (
            not face
            and isinstance(node, ast.Attribute)
            and node.attr in {"stdout", "stderr"}
            and isinstance(node.value, ast.Name)
            and node.value.id == "sys"
        ):
            found.append(f"line {node.lineno}: sys.{node.attr}")
    return found


@pytest.mark.parametrize("source", ["print(1)", "import logging", "from logging import info", "import sys\nsys.stdout.write('')"])
def test_the_search_finds_each_offence(source: str):
    assert offences(source, face=False)


@pytest.mark.parametrize("path", [pytest.param(path, id=str(path.relative_to(PACKAGE))) for path in sorted(PACKAGE.rglob("*.py"))])
def test_the_library_is_silent(path: Path):
    face = path.relative_to(PACKAGE).parts[0] == "faces"
    assert offences(path.read_text(encoding="utf-8"), face=face) == []

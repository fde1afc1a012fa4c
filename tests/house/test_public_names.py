"""The public names: sorted, complete, and each one there."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import tierspan

ROOT = Path(__file__).parents[2]


def names_for_type_checkers() -> set[str]:
    """Names imported under ``if TYPE_CHECKING``: what editors and mypy see."""
    tree = ast.parse((ROOT / "src" / "tierspan" / "__init__.py").read_text(encoding="utf-8"))
    guards = [node for node in tree.body if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"]
    return {alias.asname or alias.name for guard in guards for node in guard.body if isinstance(node, ast.ImportFrom) for alias in node.names}


def test_names_are_sorted_and_once():
    assert list(tierspan.__all__) == sorted(set(tierspan.__all__))


def test_types_and_run_time_know_the_same_names():
    assert names_for_type_checkers() | {"__version__"} == set(tierspan.__all__)
    assert set(dir(tierspan)) == set(tierspan.__all__)


@pytest.mark.parametrize("name", tierspan.__all__)
def test_every_name_is_there_and_documented(name: str):
    found = getattr(tierspan, name)
    if name != "__version__":
        assert found.__doc__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        getattr(tierspan, "no_such_name")  # noqa: B009


def test_the_import_is_light():
    heavy = "numpy pydantic ruamel rich click plotly jinja2"
    program = f"import sys, tierspan; sys.exit(sorted(set('{heavy}'.split()) & set(sys.modules)) or 0)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

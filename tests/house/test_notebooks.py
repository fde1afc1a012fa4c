"""Every notebook under ``docs/examples`` runs without an error, shows its answers as pages, and keeps no output in the repository."""

from __future__ import annotations

import asyncio
import shutil
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("**/*.ipynb"))
MOST_SECONDS = 60
# The kernel's client opens sockets on an event loop that it makes and closes itself.
QUIET = pytest.mark.filterwarnings("ignore:There is no current event loop:DeprecationWarning")


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_output_is_kept(path: Path):
    notebook = read(path)
    nbformat.validate(notebook)
    assert [cell.id for cell in code_cells(notebook) if cell.outputs or cell.execution_count is not None] == []
    assert notebook.metadata.kernelspec.name == "python3"


def run(path: Path, folder: Path) -> Any:
    """The notebook with its outputs; the kernel is the Python that runs the tests."""
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient

    class ThisPython(AsyncKernelManager):
        @property
        def kernel_spec(self) -> KernelSpec:
            return KernelSpec(argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], language="python")

    notebook = read(path)
    client = NotebookClient(notebook, timeout=MOST_SECONDS, kernel_manager_class=ThisPython, resources={"metadata": {"path": str(folder)}})
    asyncio.run(client.async_execute())
    return notebook


@QUIET
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_its_answers(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name, value in {"JUPYTER_PLATFORM_DIRS": "1", "IPYTHONDIR": str(tmp_path / "ipython"), "PYDEVD_DISABLE_FILE_VALIDATION": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("TIERSPAN_LANG", raising=False)
    folder = tmp_path / "examples"
    shutil.copytree(EXAMPLES, folder)
    cells = code_cells(run(folder / path.relative_to(EXAMPLES), folder))
    outputs = [output for cell in cells for output in cell.outputs]
    assert [output for output in outputs if output.output_type == "error"] == []
    assert [output.text for output in outputs if output.output_type == "stream" and output.name == "stderr"] == []
    shown = [output.data["text/html"] for output in outputs if "data" in output and "text/html" in output.data]
    assert sum('<div class="tierspan"' in html for html in shown) >= 3
    assert all(len(output.data["text/plain"]) < 400 for output in outputs if '<div class="tierspan"' in output.get("data", {}).get("text/html", ""))

"""Starts are fast: CPU time of `import tierspan` and `tierspan --help`, and nothing heavy behind them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

resource = pytest.importorskip("resource", reason="CPU time of child processes is a matter of POSIX systems")

ROOT = Path(__file__).parents[2]
MOST_SECONDS = 0.3
TRIES = 5


def cpu_seconds(*arguments: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize(
    "arguments", [("-c", "import tierspan"), ("-m", "tierspan", "--help"), ("-m", "tierspan", "--version")], ids=["import", "help", "version"]
)
def test_starts_are_fast(arguments: tuple[str, ...]):
    # The least of a few tries: other processes of the machine make a start slower, never faster.
    assert min(cpu_seconds(*arguments) for _ in range(TRIES)) < MOST_SECONDS


def test_the_first_help_page_needs_no_parser():
    heavy = "click rich numpy pydantic"
    program = (
        f"import sys; from tierspan.faces.cli.main import main; main(['--help']); sys.exit(sorted(set('{heavy}'.split()) & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

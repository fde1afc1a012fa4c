"""Floors: arrows point downward only, and rooms of an answer do not know each other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FLOORS = {"quantities", "specs", "formats", "store", "laws", "engines", "estimates", "answers", "faces"}


def test_import_contracts_hold():
    command = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run([command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def test_every_folder_of_the_package_is_a_floor():
    folders = {path.parent.name for path in (ROOT / "src" / "tierspan").glob("*/__init__.py")}
    assert folders == FLOORS

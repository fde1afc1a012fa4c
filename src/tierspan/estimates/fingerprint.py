"""Hash of everything that a step-time fit depends on: a profile fitted with another one is stale."""

from __future__ import annotations

import hashlib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PARTS = ("laws", "estimates", "formats/measurements", "specs/catalog/data", "specs/models/data", "specs/profile/data", "specs/stacks/data")
LEFT_OUT = (
    "laws/memory",
    "laws/communication",
    "estimates/communication",
    "laws/validity.py",
    "laws/parameters.py",
    "estimates/calibration/memory",
    "estimates/memory",
    "estimates/fingerprint.py",
    "estimates/bounds.py",
    "estimates/parallel.py",
    "estimates/timeline.py",
    "specs/profile/data/profile.json",
    "specs/profile/data/neighbours.csv",
)
SUFFIXES = (".py", ".csv", ".json")


def law_hash() -> str:
    """SHA-256 over the laws, the composition of a step, the fit and the data that they read (not the fitted profile itself)."""
    digest = hashlib.sha256()
    for part in PARTS:
        for path in sorted((ROOT / part).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix in SUFFIXES and not name.startswith(LEFT_OUT):
                digest.update(name.encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]

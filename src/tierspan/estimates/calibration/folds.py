"""Which rows are left out together in a cross-validation."""

from __future__ import annotations

import hashlib
from typing import Final

from tierspan.specs.measurement import TrainingRow

FOLDS: Final = 10

_PUBLISHERS: Final = (
    ("MLPerf", "MLPerf"),
    ("vTrain", "vTrain"),
    ("BigScience", "BigScience"),
    ("NVIDIA Megatron-LM README", "Megatron-LM"),
    ("Google", "Google"),
    ("MaxText README", "Google"),
    ("JAX-Toolbox", "JAX-Toolbox"),
    ("NVIDIA JAX-Toolbox", "JAX-Toolbox"),
    ("Ascend", "Ascend"),
)


def group_text(source: str, model: str, accelerator: str) -> str:
    """The group of a row: ``source|model|accelerator``, the cells as they stand in the file (outer blanks stripped), joined by ``|``."""
    return f"{source}|{model}|{accelerator}"


def fold_of_group(group: str, folds: int = FOLDS) -> int:
    """The fold of a group: its UTF-8 text's SHA-256 digest as one big-endian integer, modulo ``folds``."""
    return int.from_bytes(hashlib.sha256(group.encode("utf-8")).digest(), "big") % folds


def group_fold(row: TrainingRow, folds: int = FOLDS) -> int:
    """The fold of a row: that of ``group_text(source, model, accelerator)``; whole groups are left out together."""
    return fold_of_group(group_text(row.source, row.model, row.accelerator), folds)


def publisher(source: str) -> str:
    """Who published a source; rounds and pages of one publisher count as one."""
    for beginning, name in _PUBLISHERS:
        if source.startswith(beginning):
            return name
    return source

"""What validating one file found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tierspan.answers.validation.predictions import PredictionLine
from tierspan.quantities.display import Shown
from tierspan.specs.measurement import MeasurementFile


@dataclass(frozen=True, slots=True, repr=False)
class Validation(Shown):
    """Answer of ``validate``: the report of DESIGN's stable interface as a plain dictionary, and one line a row of the file.

    ``file`` is what was read; ``regimes`` tells the regime of each row of a training file ("" where it is not predicted);
    ``ablation`` is the entry of that name in the record of the constants: the errors with one term of the step left out.
    """

    report: dict[str, Any]
    lines: tuple[PredictionLine, ...]
    profile_version: str
    cross_validated: str
    file: MeasurementFile | None = None
    regimes: tuple[str, ...] = ()
    ablation: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

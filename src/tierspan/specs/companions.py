"""What stands beside measurement files: the licences of their sources, and what other predictors say of their rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class SourceLicence:
    """One source of one measurement file.

    ``source`` is how the cell ``source`` of its rows begins (empty: every row of the file); of several that fit, the longest counts.
    ``basis`` tells how the licence is known; ``reproduced`` whether the rows stand in the copy of the file.
    """

    file: str
    source: str
    published_at: str
    licence: str
    basis: str
    reproduced: bool
    remark: str


@dataclass(frozen=True, slots=True)
class PeerLine:
    """What one other predictor, at one commit, says of one row; no time where ``status`` is ``not expressible``."""

    id: str
    peer: str
    version: str
    predicted_step_s: float | None
    status: Literal["predicted", "predicted, refused", "not expressible"]
    reason: str

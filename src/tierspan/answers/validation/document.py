"""The shape of a validation report, for its JSON schema; ``report.py`` makes the plain dictionaries that follow it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Errors:
    """Errors of a set of rows, as fractions of the measured value; ``bias`` is the median signed one."""

    rows: int
    median_ape: float
    mean_ape: float
    p90_ape: float
    bias: float
    coverage80: float | None


@dataclass(frozen=True, slots=True)
class MemoryErrors:
    """How often runs that fit and runs that die are told apart, and how far the peak is off on those that fit."""

    accuracy: float | None
    oom_recall: float | None
    fits_recall: float | None
    peak_median_ape: float | None
    peak_p90_ape: float | None


@dataclass(frozen=True, slots=True)
class RankingErrors:
    """Order of the plans of one group; regrets are shares of the best measured throughput."""

    group: str
    plans: int
    kendall_tau: float
    regret: float
    regret_top3: float


@dataclass(frozen=True, slots=True)
class SlopeErrors:
    """How well the loss of throughput per accelerator is met when a job grows, in percentage points."""

    series: int
    steep: int
    error_points: float | None
    error_points_steep: float | None


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """What ``tierspan validate --json`` prints. Keys with a default stand only in reports of some kinds of files."""

    kind: str
    rows: int
    predicted: int
    excluded: dict[str, int]
    not_predicted: dict[str, int]
    overall: Errors | None
    curated: Errors | None
    by: dict[str, dict[str, Errors | MemoryErrors | None]]
    ranking: list[RankingErrors]
    slopes: SlopeErrors | None
    memory: MemoryErrors | None
    complete: int = 0
    without_lora: Errors | None = None
    truncated: Errors | None = None
    tp_across_node: Errors | None = None

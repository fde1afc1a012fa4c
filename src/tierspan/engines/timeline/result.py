"""What the timeline tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """Something that ran on a stream of a stage (``compute``, ``host``, ``tier 0``, ``tier 1`` ...), seconds from the start of the step."""

    start_s: float
    end_s: float
    stream: str
    label: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """A step as it was played.

    ``makespan_s`` from the first start to the last end; ``step_s`` the time from one step to the next, which differs only where stages roll
    over into the next step. Four parts, each the mean over stages, add up to ``step_s``: ``compute_s`` (host waits and contention included),
    ``exposed_s`` by (kind, tier index), ``bubble_s`` and ``end_s`` (optimizer). ``in_flight``: most micro-batches whose activations a stage
    keeps, by stage, in units of the whole stage.
    ``stages``: the spans of each stage by start; empty where they were not asked for.
    """

    schedule: str
    makespan_s: float
    step_s: float
    compute_s: float
    exposed_s: Mapping[tuple[str, int], float]
    bubble_s: float
    end_s: float
    in_flight: tuple[float, ...]
    stage_end_s: tuple[float, ...]
    stages: tuple[tuple[Span, ...], ...] = ()

    @property
    def bubble_share(self) -> float:
        """Part of the step in which the mean stage waits for others."""
        return self.bubble_s / self.step_s if self.step_s > 0 else 0.0

"""What the timeline tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from tierspan.engines.timeline.schedules.base import Task

SpanKind = Literal["block", "launch", "inside", "send", "gather", "reduce", "optimizer"]
"""A block of tasks on the compute stream, its launch on the host, traffic inside it, what it sends, parameters, gradients, the optimizer."""


@dataclass(frozen=True, slots=True)
class Span:
    """Something that ran on a stream of a stage (``compute``, ``host``, ``tier 0``, ``tier 1`` ...), seconds from the start of the step.

    ``tasks`` are those that ran, were sent, or needed the traffic; none for what serves a whole ``chunk`` or the stage (``chunk`` None).
    ``traffic`` is the kind of traffic (tp, cp, ep, pp, dp) on a tier; ``exposed_s`` the part of it that stops compute whatever else runs. What
    compute waits beyond that shows as a gap of its stream.
    """

    start_s: float
    end_s: float
    stream: str
    label: str
    kind: SpanKind = "block"
    tasks: tuple[Task, ...] = ()
    chunk: int | None = None
    traffic: str = ""
    exposed_s: float = 0.0


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

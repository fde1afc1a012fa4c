"""A step as it ran on a few ranks, in no file's format: what an export for a viewer is made from.

Times are seconds from the start of the step; ranks, stages, chunks, layers and micro-batches count from 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tierspan.quantities.display import Shown
from tierspan.specs.strategy import Strategy

PassKind = Literal["forward", "backward", "input_gradient", "weight_gradient"]
"""``backward`` is the gradient of input and weight in one piece."""
SpanKind = Literal[
    "forward", "backward", "input_gradient", "weight_gradient", "pair", "optimizer", "launch",
    "tp", "cp", "ep", "activation_send", "gradient_send", "parameter_gather", "gradient_reduce",
]  # fmt: skip
"""``pair``: two micro-batches of opposite direction at once; ``launch``: the host hands over a task; ``tp``, ``cp``, ``ep``: its traffic."""
StreamKind = Literal["compute", "host", "tier"]


@dataclass(frozen=True, slots=True)
class Pass:
    """One micro-batch through one virtual chunk of the stage that holds it."""

    kind: PassKind
    micro_batch: int
    chunk: int


@dataclass(frozen=True, slots=True)
class Stream:
    """What runs one thing after another on a rank: compute, the host, or a tier by its name in the catalogue.

    Spans of a tier may overlap: traffic of several kinds shares its wires.
    """

    id: int
    kind: StreamKind
    name: str


@dataclass(frozen=True, slots=True)
class TraceRank:
    """The rank that stands for one pipeline stage.

    ``layers``: the first and the last layer of each chunk, ``None`` for a chunk without layers. ``end_s``: when its step ends.
    """

    rank: int
    stage: int
    layers: tuple[tuple[int, int] | None, ...]
    end_s: float


@dataclass(frozen=True, slots=True)
class Span:
    """Something that took time on stream ``stream`` of rank ``rank``, from ``start_s`` to ``end_s``.

    ``passes`` ran, were sent, or needed the traffic; ``chunk`` is what parameters and gradients of a whole chunk belong to. ``exposed_s`` of it
    stops compute whatever else runs; what compute waits beyond that shows as a gap of its stream.
    """

    rank: int
    stream: int
    start_s: float
    end_s: float
    kind: SpanKind
    passes: tuple[Pass, ...] = ()
    chunk: int | None = None
    exposed_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Arrow:
    """A result goes to another rank: from span ``source`` (its send; the task itself where sending takes no time) to the task ``target``.

    Both are indices into ``Trace.spans``.
    """

    kind: Literal["activation", "gradient"]
    micro_batch: int
    source: int
    target: int


@dataclass(frozen=True, slots=True)
class Counter:
    """A quantity of a rank over time: (seconds, value) at each change. ``in_flight`` counts micro-batches, in units of the whole stage."""

    rank: int
    name: Literal["in_flight"]
    points: tuple[tuple[float, float], ...]

    @property
    def peak(self) -> float:
        """Its largest value."""
        return max((value for _, value in self.points), default=0.0)


@dataclass(frozen=True, slots=True, repr=False)
class Trace(Shown):
    """One step of a training job, played task by task; one rank for each pipeline stage.

    ``makespan_s`` from the first start to the last end, which is what is drawn; ``outside_s`` lies outside the pipeline (constant, waits,
    stragglers) and is not; ``step_time_s`` is what the timeline says of the step, both together (less where stages roll over into the next
    step: zero-bubble H2). ``bubble_s``: what the mean stage waits for others. ``spans`` are sorted by rank, stream and start.
    """

    system: str
    model: str
    stack: str
    precision: str
    sequence_length: int
    global_batch: int
    accelerators: int
    strategy: Strategy
    schedule: str
    dp: int
    micro_batches: int
    profile_version: str
    makespan_s: float
    step_time_s: float
    outside_s: float
    bubble_s: float
    ranks: tuple[TraceRank, ...]
    streams: tuple[Stream, ...]
    spans: tuple[Span, ...]
    arrows: tuple[Arrow, ...]
    counters: tuple[Counter, ...]

    def spans_of(self, rank: int, kind: StreamKind) -> Iterator[Span]:
        """The spans of a rank on its streams of one kind, by stream and start."""
        wanted = {stream.id for stream in self.streams if stream.kind == kind}
        return (span for span in self.spans if span.rank == rank and span.stream in wanted)

"""What every pipeline schedule is: for each stage the blocks that it works off in order, and the ways that micro-batches take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from tierspan.quantities.errors import InputError

Kind = Literal["F", "B", "W"]


class Task(NamedTuple):
    """Forward (F), gradient of the input (B) or gradient of the weight (W) of one micro-batch through one chunk of the stage that holds it.

    ``chunk`` counts from 0 on its own stage.
    """

    kind: Kind
    micro_batch: int
    chunk: int


Block = tuple[Task, ...]
"""Tasks that run as one: nothing leaves before all are done. (F,) alone; (B, W) a backward pass that is not split; (F, B, W) two
micro-batches of opposite direction that overlap."""
Route = tuple[tuple[int, int], ...]
"""(stage, chunk) in model order."""


@dataclass(frozen=True)
class Schedule:
    """A pipeline schedule.

    ``routes`` are the ways through the model, one or (bidirectional) two. ``rolls_over``: stages begin the next step as they end their own,
    with no barrier between, so the step lasts as long as the longest stage, not from the first start to the last end.
    ``chunk_share``: what part of a stage's layers one chunk is; 1 where each chunk is a stage of its own copy of the model.
    """

    name: str
    micro_batches: int
    routes: tuple[Route, ...]
    order: tuple[tuple[Block, ...], ...]
    rolls_over: bool = False
    chunk_share: float = 1.0

    @property
    def stages(self) -> int:
        """Number of stages."""
        return len(self.order)

    @cached_property
    def position(self) -> dict[tuple[int, int], tuple[int, int]]:
        """(stage, chunk) -> (route, place on it)."""
        return {place: (r, i) for r, route in enumerate(self.routes) for i, place in enumerate(route)}

    def check(self) -> None:
        """Each micro-batch passes each place of its route once as F, B and W.

        Raises:
            InputError: a task is missing, doubled, or stands on a stage that does not hold its chunk. (An order that waits for itself is
                found by the engine.)
        """
        for stage, blocks in enumerate(self.order):
            count = Counter(task for block in blocks for task in block)
            for task, times in count.items():
                if times != 1 or (stage, task.chunk) not in self.position:
                    raise InputError("timeline.task_count", schedule=self.name, task=label(task), stage=stage, times=times)
            chunks = {chunk for at, chunk in self.position if at == stage}
            for chunk in chunks:
                kinds = {kind: {t.micro_batch for t in count if t.kind == kind and t.chunk == chunk} for kind in ("F", "B", "W")}
                if not kinds["F"] == kinds["B"] == kinds["W"]:
                    odd = min((kinds["F"] ^ kinds["B"]) | (kinds["F"] ^ kinds["W"]))
                    raise InputError("timeline.task_count", schedule=self.name, task=label(Task("F", odd, chunk)), stage=stage, times=0)
        for route in self.routes:
            seen = [{t.micro_batch for block in self.order[s] for t in block if t.chunk == c} for s, c in route]
            if any(other != seen[0] for other in seen[1:]):
                raise InputError("timeline.route", schedule=self.name)


def label(task: Task) -> str:
    """Short name: kind, micro-batch, chunk (``F3.0``)."""
    return f"{task.kind}{task.micro_batch}.{task.chunk}"


def one_route(stages: int, chunks: int = 1) -> tuple[Route, ...]:
    """The way through ``stages * chunks`` chunks dealt out in turn: stage 0, 1, ... then again from stage 0."""
    return (tuple((s, c) for c in range(chunks) for s in range(stages)),)


def forward(micro_batch: int, chunk: int = 0) -> Block:
    """A forward pass."""
    return (Task("F", micro_batch, chunk),)


def backward(micro_batch: int, chunk: int = 0) -> Block:
    """A backward pass in one piece."""
    return (Task("B", micro_batch, chunk), Task("W", micro_batch, chunk))


def alternate(ahead: int, forwards: Sequence[Block], backwards: Sequence[Block]) -> tuple[Block, ...]:
    """``ahead`` forward blocks, then one forward and one backward in turn, then the backward blocks that are left."""
    out = list(forwards[:ahead])
    for i, block in enumerate(forwards[ahead:]):
        out += [block, backwards[i]]
    return (*out, *backwards[len(forwards) - ahead :])

"""Plays a schedule: every task starts as soon as its stage is free and its inputs have arrived.

The tasks of a stage run in the order of the schedule, so the start of each is a maximum over what came before: the longest path through the
graph of tasks, found in one pass (list scheduling of a fixed order; the method is that of a PERT chart).
"""

from __future__ import annotations

from collections import defaultdict

from tierspan.engines.timeline.rank import Rank
from tierspan.engines.timeline.result import Timeline
from tierspan.engines.timeline.schedules.base import Block, Schedule, Task, label
from tierspan.engines.timeline.work import Work
from tierspan.quantities.errors import InputError

Key = tuple[str, int, int, int]
"""(kind, micro-batch, route, place on the route) of a result that a task waits for."""


def play(schedule: Schedule, work: Work, *, record: bool = True) -> Timeline:
    """Play one step.

    Args:
        schedule: order of the tasks on every stage.
        work: durations in s and traffic by stage and chunk.
        record: keep the spans of every stage (off where only the times are wanted).

    Raises:
        InputError: the schedule is not complete, it waits for itself, or the work has another shape or a negative time.
    """
    schedule.check()
    stages = schedule.stages
    place = schedule.position
    work.check(stages, len({chunk for _, chunk in place}))
    counts: dict[tuple[int, int], int] = defaultdict(int)
    for stage, blocks in enumerate(schedule.order):
        for block in blocks:
            for task in block:
                counts[stage, task.chunk] += task.kind == "W"
    ranks = [Rank(row, [counts[s, c] for c in range(len(row))], work, record) for s, row in enumerate(work.chunks)]
    arrived: dict[Key, tuple[float, float]] = {}
    waiting: dict[Key, int] = {}
    at = [0] * stages
    todo = list(range(stages))
    ended: dict[Key, bool] = {}
    while todo:
        stage = todo.pop()
        blocks = schedule.order[stage]
        while at[stage] < len(blocks):
            block = blocks[at[stage]]
            needs, own = _needs(block, stage, schedule)
            missing = next((key for key in needs if key not in arrived), None)
            if missing is not None:
                waiting[missing] = stage
                break
            if any(key not in ended for key in own):
                break
            arrival, sent = max((arrived[key] for key in needs), default=(0.0, 0.0))
            results = _results(block, stage, schedule)
            leave, _ = ranks[stage].run(block, arrival, sent, tuple(task for task, away in results if away))
            for task in block:
                ended[(task.kind, task.micro_batch, *place[stage, task.chunk])] = True
            for task, away in results:
                key = (task.kind, task.micro_batch, *place[stage, task.chunk])
                arrived[key] = (leave + (work.send.seconds if away else 0.0), leave)
                if key in waiting:
                    todo.append(waiting.pop(key))
            at[stage] += 1
    stuck = [(s, schedule.order[s][at[s]]) for s in range(stages) if at[s] < len(schedule.order[s])]
    if stuck:
        raise InputError("timeline.deadlock", schedule=schedule.name, stage=stuck[0][0], task="+".join(label(t) for t in stuck[0][1]))
    return _timeline(schedule, work, ranks)


def _needs(block: Block, stage: int, schedule: Schedule) -> tuple[list[Key], list[Key]]:
    """Results of other places that a block waits for, and those of its own stage that must have come before it."""
    away: list[Key] = []
    own: list[Key] = []
    within = {(t.kind, t.micro_batch, t.chunk) for t in block} if len(block) > 1 else ()
    for task in block:
        route, i = schedule.position[stage, task.chunk]
        if task.kind == "F":
            if i:
                away.append(("F", task.micro_batch, route, i - 1))
            continue
        earlier = "F" if task.kind == "B" else "B"
        if (earlier, task.micro_batch, task.chunk) not in within:
            own.append((earlier, task.micro_batch, route, i))
        if task.kind == "B" and i + 1 < len(schedule.routes[route]):
            away.append(("B", task.micro_batch, route, i + 1))
    return away, own


def _results(block: Block, stage: int, schedule: Schedule) -> list[tuple[Task, bool]]:
    """The tasks whose results others wait for, and whether these leave the stage."""
    out: list[tuple[Task, bool]] = []
    for task in block:
        if task.kind == "W":
            continue
        route, i = schedule.position[stage, task.chunk]
        other = i + 1 if task.kind == "F" else i - 1
        if 0 <= other < len(schedule.routes[route]):
            out.append((task, schedule.routes[route][other][0] != stage))
    return out


def _timeline(schedule: Schedule, work: Work, ranks: list[Rank]) -> Timeline:
    stages = len(ranks)
    end_s = work.end_s or (0.0,) * stages
    ends = [rank.finish(end) for rank, end in zip(ranks, end_s, strict=True)]
    makespan = max(ends)
    starts = [(rank.first_start or 0.0) - rank.hold for rank in ranks]
    step = max(end - start for end, start in zip(ends, starts, strict=True)) if schedule.rolls_over else makespan
    exposed: dict[tuple[str, int], float] = defaultdict(float)
    for rank in ranks:
        for key, seconds in rank.exposed.items():
            if seconds > 0:
                exposed[key] += seconds / stages
    compute = sum(rank.compute_s for rank in ranks) / stages
    last = sum(end_s) / stages
    if schedule.rolls_over:
        # the wait of a stage for its first input is no loss: it ends its earlier step meanwhile
        bubble = max(step - compute - last - sum(exposed.values()), 0.0)
    else:
        bubble = sum(rank.bubble_s + makespan - end for rank, end in zip(ranks, ends, strict=True)) / stages
    return Timeline(
        schedule=schedule.name, makespan_s=makespan, step_s=step, compute_s=compute, exposed_s=dict(exposed),
        bubble_s=bubble, end_s=last,
        in_flight=tuple(rank.peak * schedule.chunk_share for rank in ranks), stage_end_s=tuple(ends),
        stages=tuple(tuple(sorted(rank.spans, key=lambda s: (s.start_s, s.end_s))) for rank in ranks if rank.spans is not None),
    )  # fmt: skip

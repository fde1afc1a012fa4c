"""Zero bubble: the gradient of the weight waits until a stage would be idle (Qi et al. 2023, "Zero Bubble Pipeline Parallelism", section 2)."""

from __future__ import annotations

from tierspan.engines.timeline.schedules.base import Block, Schedule, Task, one_route


def zb_h1(stages: int, micro_batches: int) -> Schedule:
    """The hand-made schedule H1: as far ahead as 1F1B, stage s holds back s weight gradients; every stage keeps ``stages`` in flight."""
    order = tuple(_stage(micro_batches, stages - s - 1, s) for s in range(stages))
    return Schedule("zb-h1", micro_batches, one_route(stages), order)


def zb_h2(stages: int, micro_batches: int) -> Schedule:
    """The hand-made schedule H2: twice as far ahead, stage s holds back 2 s weight gradients; every stage keeps ``2 stages - 1`` in flight.

    The optimizer steps without a barrier over stages (section 4 of the source): steps roll over into one another.
    """
    order = tuple(_stage(micro_batches, 2 * (stages - s - 1), 2 * s) for s in range(stages))
    return Schedule("zb-h2", micro_batches, one_route(stages), order, rolls_over=True)


def _stage(micro_batches: int, ahead: int, held: int) -> tuple[Block, ...]:
    """``ahead`` forward passes first; then F, B and, once ``held`` weight gradients wait, W in turn; the rest at the end."""
    ahead = min(ahead, micro_batches)
    out: list[Block] = [(Task("F", i, 0),) for i in range(ahead)]
    done = 0
    for i in range(micro_batches):
        if ahead + i < micro_batches:
            out.append((Task("F", ahead + i, 0),))
        out.append((Task("B", i, 0),))
        if i >= held:
            out.append((Task("W", done, 0),))
            done += 1
    return (*out, *((Task("W", i, 0),) for i in range(done, micro_batches)))

"""Interleaved 1F1B in Megatron's order: groups of micro-batches pass the chunks of a stage in turn (Narayanan et al. 2021, section 2.2)."""

from __future__ import annotations

from itertools import pairwise

from tierspan.engines.timeline.schedules.base import Schedule, alternate, backward, forward, one_route


def interleaved(stages: int, micro_batches: int, chunks: int) -> Schedule:
    """Groups of ``stages`` micro-batches; where that does not divide them, fewer groups of nearly equal size, none smaller.

    (A smaller last group would wait for itself: Megatron refuses a remainder below the stages and asks for larger groups.) Stage s runs
    ``2 (stages - s - 1) + (chunks - 1) group`` chunk passes ahead.
    """
    count = max(micro_batches // stages, 1)
    size, extra = divmod(micro_batches, count)
    bounds = [i * size + min(i, extra) for i in range(count + 1)]
    table = [(micro, chunk) for first, end in pairwise(bounds) for chunk in range(chunks) for micro in range(first, end)]
    forwards = [forward(micro, chunk) for micro, chunk in table]
    backwards = [backward(micro, chunks - 1 - chunk) for micro, chunk in table]
    largest = size + (1 if extra else 0)
    order = tuple(alternate(min(2 * (stages - s - 1) + (chunks - 1) * largest, len(table)), forwards, backwards) for s in range(stages))
    return Schedule("interleaved", micro_batches, one_route(stages, chunks), order, chunk_share=1.0 / chunks)

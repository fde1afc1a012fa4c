"""Interleaved 1F1B in Megatron's order: groups of micro-batches pass the chunks of a stage in turn (Narayanan et al. 2021, section 2.2)."""

from __future__ import annotations

from tierspan.engines.timeline.schedules.base import Schedule, alternate, backward, forward, one_route


def interleaved(stages: int, micro_batches: int, chunks: int) -> Schedule:
    """Groups of ``stages`` micro-batches; a last, smaller group passes in the same way.

    Stage s runs ``2 (stages - s - 1) + (chunks - 1) stages`` chunk passes ahead.
    """
    table = [
        (micro, chunk)
        for first in range(0, micro_batches, stages)
        for chunk in range(chunks)
        for micro in range(first, min(first + stages, micro_batches))
    ]
    forwards = [forward(micro, chunk) for micro, chunk in table]
    backwards = [backward(micro, chunks - 1 - chunk) for micro, chunk in table]
    order = tuple(alternate(min(2 * (stages - s - 1) + (chunks - 1) * stages, len(table)), forwards, backwards) for s in range(stages))
    return Schedule("interleaved", micro_batches, one_route(stages, chunks), order, chunk_share=1.0 / chunks)

"""GPipe: all forward passes, then all backward passes (Huang et al. 2019, "GPipe")."""

from __future__ import annotations

from tierspan.engines.timeline.schedules.base import Schedule, backward, forward, one_route


def gpipe(stages: int, micro_batches: int) -> Schedule:
    """Every stage keeps all micro-batches in flight."""
    run = (*(forward(i) for i in range(micro_batches)), *(backward(i) for i in range(micro_batches)))
    return Schedule("gpipe", micro_batches, one_route(stages), (run,) * stages)

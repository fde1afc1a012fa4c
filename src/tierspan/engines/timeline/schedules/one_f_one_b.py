"""1F1B: after a warm-up one forward and one backward pass in turn.

Narayanan et al. 2021, "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", section 2.2; first in PipeDream
(Narayanan et al. 2019).
"""

from __future__ import annotations

from tierspan.engines.timeline.schedules.base import Schedule, alternate, backward, forward, one_route


def one_f_one_b(stages: int, micro_batches: int) -> Schedule:
    """Stage s runs ``stages - s - 1`` micro-batches ahead, so it keeps ``stages - s`` in flight."""
    forwards = [forward(i) for i in range(micro_batches)]
    backwards = [backward(i) for i in range(micro_batches)]
    order = tuple(alternate(min(stages - s - 1, micro_batches), forwards, backwards) for s in range(stages))
    return Schedule("1f1b", micro_batches, one_route(stages), order)

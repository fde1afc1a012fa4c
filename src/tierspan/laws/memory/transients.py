"""Logits, loss and what is alive only for a moment, in bytes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tierspan.laws.memory.activations import sequence_split, tokens_per_rank
from tierspan.laws.memory.constants import MemoryConstants
from tierspan.laws.memory.stages import Stage
from tierspan.specs.arrays import ModelArrays, StrategyBatch

Array = NDArray[np.float64]


def logit_bytes(m: ModelArrays, s: StrategyBatch, c: MemoryConstants, stage: Stage) -> Array:
    """Logits of one micro-batch with softmax and gradient, split over tp, on the last stage only."""
    return stage.last * c.logit_bytes * tokens_per_rank(s) * m.vocab / s.tp


def embedding_bytes(m: ModelArrays, s: StrategyBatch, c: MemoryConstants, stage: Stage) -> Array:
    """Output of the embedding on the first stage and input of the head on the last, one per micro-batch in flight."""
    width = c.activation_bytes * tokens_per_rank(s) * m.hidden / sequence_split(s)
    return width * (stage.first * stage.in_flight + stage.last)


def transient_bytes(m: ModelArrays, s: StrategyBatch, c: MemoryConstants) -> Array:
    """Gathered inputs and gradients of the block at work, whole on each tensor-parallel rank."""
    return np.asarray(c.transient_bytes * tokens_per_rank(s) * m.hidden, dtype=np.float64)

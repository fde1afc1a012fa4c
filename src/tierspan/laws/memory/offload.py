"""What a rank keeps in the memory of its host: optimizer states, activations, parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tierspan.laws.memory.constants import MemoryConstants
from tierspan.laws.memory.static import StageParameters, StaticTerms
from tierspan.specs.arrays import StrategyBatch

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Offloaded:
    """Bytes of one rank that lie on its host, shape (n,): they are gone from the device, byte for byte."""

    weights: Array
    optimizer: Array
    activations: Array


def offloaded(static: StaticTerms, p: StageParameters, kept: Array, at_work: Array, s: StrategyBatch, c: MemoryConstants) -> Offloaded:
    """Shares of the strategy times what can leave the device.

    Optimizer states leave by their share (Ren et al. 2021, ZeRO-Offload; Megatron-Core's ``--optimizer-offload-fraction``). Of the
    ``kept`` activations the layer ``at_work`` stays (Megatron-Core's ``--cpu-offloading-num-layers``). Of the parameters those stay that
    are at work: with ZeRO-3 the gathered layers, which are counted as communication, else as many layers
    (Rajbhandari et al. 2021, ZeRO-Infinity). Page-locked staging buffers are not counted.
    """
    gathers = (s.zero >= 3) & (s.shard_group > 1)
    working = np.where(gathers, 0.0, np.minimum(c.gathered_layers, p.layers) * c.weight_bytes * p.largest_layer)
    return Offloaded(
        weights=s.parameter_offload * np.maximum(static.weights - working, 0.0),
        optimizer=s.optimizer_offload * static.optimizer,
        activations=s.activation_offload * np.maximum(kept - at_work, 0.0),
    )

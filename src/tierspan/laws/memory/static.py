"""Weights, gradients and optimizer states of one stage, in bytes (Rajbhandari et al. 2020, ZeRO)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tierspan.laws import counts
from tierspan.laws.memory.constants import MemoryConstants
from tierspan.laws.memory.stages import Stage, parameter_copies
from tierspan.specs.arrays import ModelArrays, StrategyBatch
from tierspan.specs.precision import PRECISION_CODE

Array = NDArray[np.float64]
QUANTISED = (PRECISION_CODE["fp8"], PRECISION_CODE["mxfp8"], PRECISION_CODE["nvfp4"])


@dataclass(frozen=True, slots=True)
class StageParameters:
    """Parameters on one rank of a stage, shape (n,): those sharded over the data-parallel ranks, and the experts apart.

    ``largest_layer`` is the biggest block that ZeRO-3 gathers at once, ``layers`` the number of layers.
    """

    dense: Array
    experts: Array
    largest_layer: Array
    layers: Array

    def plus(self, other: StageParameters, times: Array) -> StageParameters:
        """These and ``times`` those of another stage on the same rank."""
        return StageParameters(
            dense=self.dense + times * other.dense,
            experts=self.experts + times * other.experts,
            largest_layer=np.maximum(self.largest_layer, (times > 0) * other.largest_layer),
            layers=self.layers + times * other.layers,
        )


def stage_parameters(m: ModelArrays, s: StrategyBatch, stage: Stage, part: counts.RankLayer) -> StageParameters:
    """Count what one rank of the stage holds before any ZeRO sharding; ``part`` is :func:`counts.rank_layer` of the same rows.

    A tied head is a second copy where pp > 1.
    """
    head = stage.last * np.where((m.tied_embeddings > 0) & (s.pp == 1), 0.0, 1.0) * counts.head_parameters(m) / s.tp
    embedding = stage.first * counts.embedding_parameters(m) / s.tp
    dense = stage.layers * part.attention + stage.dense_layers * part.dense_mlp + stage.moe_layers * part.moe_shared
    moe = part.moe_shared + part.experts
    layer = part.attention + np.where(stage.moe_layers > 0, np.maximum(moe, (stage.dense_layers > 0) * part.dense_mlp), part.dense_mlp)
    return StageParameters(dense=dense + head + embedding, experts=stage.moe_layers * part.experts, largest_layer=layer, layers=stage.layers)


@dataclass(frozen=True, slots=True)
class StaticTerms:
    """Bytes, shape (n,).

    ``communication`` holds reduction buckets and the layers that ZeRO-3 has gathered, ``step`` the temporary buffers of a sharded
    optimizer step.
    """

    weights: Array
    gradients: Array
    optimizer: Array
    communication: Array
    step: Array


def static_terms(p: StageParameters, s: StrategyBatch, c: MemoryConstants) -> StaticTerms:
    """Bytes per parameter times parameters, divided by the sharding group from the ZeRO stage on that shards them.

    optimizer: ZeRO-1; gradients: ZeRO-2, except where a stack adds them up whole until the last micro-batch; weights: ZeRO-3.
    Experts are sharded over the ranks that hold the same experts, dp * cp * tp / (ep * etp), and never over more than ``shard_group``.
    The two copies of DualPipe are replicas of each other.
    """
    copies = parameter_copies(s)
    group = copies * np.maximum(s.shard_group, 1.0)
    expert_group = np.minimum(group, copies * counts.expert_replicas(s))
    trainable = np.where(s.lora > 0, c.lora_share, 1.0)
    quantised = np.isin(s.precision, QUANTISED)

    def held(stage: int) -> Array:
        sharded = s.zero >= stage
        return p.dense / np.where(sharded, group, 1.0) + p.experts / np.where(sharded, expert_group, 1.0)

    replicated = (copies * s.dp * s.cp > 1) & (s.zero < 3)
    everything = p.dense + p.experts
    weight_bytes = c.weight_bytes + quantised * c.fp8_copy_bytes
    return StaticTerms(
        weights=weight_bytes * held(3),
        gradients=c.gradient_bytes * np.where(np.greater(c.whole_gradients, 0.0) & (s.micro_batches > 1), everything, held(2)) * trainable,
        optimizer=c.optimizer_bytes * held(1) * trainable,
        communication=replicated * c.bucket_bytes * everything * trainable
        + ((s.zero >= 3) & (group > 1)) * np.minimum(c.gathered_layers, p.layers) * c.weight_bytes * p.largest_layer,
        step=((s.zero >= 1) & (group > 1)) * c.step_bytes * everything * trainable,
    )

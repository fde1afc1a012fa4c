"""Pipeline schedules in closed form: who holds how many layers, and what the schedule adds to the work of the heaviest stage.

1F1B and GPipe: ``(m - 1) t_max + sum of the stages``; interleaved with v chunks a stage the fill and drain shrink by v
(Narayanan et al. 2021, "Efficient Large-Scale Language Model Training on GPU Clusters", section 2.2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tierspan.specs.arrays import Array


@dataclass(frozen=True, slots=True)
class StageLayers:
    """Layers (not whole where the mean is meant) of the heaviest stage and of the last one, shape (n,)."""

    heaviest: Array
    last: Array


def stage_layers(layers: Array, pp: Array, vpp: Array, ends_count: Array | bool = True) -> StageLayers:
    """Layers of the heaviest and of the last stage.

    Even where ``pp * vpp`` divides the layers. Where it divides ``layers + 2`` and ``ends_count``, embedding and loss fill a slot each and
    the last stage holds one layer less. Otherwise chunks are filled up and the last stage holds the rest.
    """
    slots = pp * vpp
    even = np.mod(layers, slots) == 0
    framed = (np.mod(layers + 2.0, slots) == 0) & ends_count
    full = np.ceil(layers / slots) * vpp
    heaviest = np.where(even, layers / pp, np.where(framed, (layers + 2.0) / pp, np.minimum(full, layers)))
    rest = np.maximum(layers - heaviest * (pp - 1.0), 0.0)
    last = np.where(even, layers / pp, np.where(framed, heaviest - 1.0, rest))
    return StageLayers(heaviest, np.where(pp > 1, last, layers))


def balanced_stage_layers(layers: Array, head: Array, pp: Array) -> StageLayers:
    """The same where blocks are dealt in order and a stage is closed once the running cost exceeds its share of the total.

    Args:
        layers: layers, shape (n,).
        head: cost of the output projection in layers, shape (n,).
        pp: stages, shape (n,).
    """
    share = (layers + head) / pp
    before_last = np.minimum(np.floor((pp - 1.0) * share) + 1.0, layers)
    heaviest = np.minimum(np.floor(share) + 1.0, layers)
    return StageLayers(np.where(pp > 1, heaviest, layers), np.where(pp > 1, layers - before_last, layers))


@dataclass(frozen=True, slots=True)
class PipelineTime:
    """Seconds a step, shape (n,): ``work`` of the mean stage, ``imbalance`` of the heaviest over it, ``bubble`` of fill and drain."""

    work: Array
    imbalance: Array
    bubble: Array


def pipeline_time(micro_batches: Array, heaviest_s: Array, sum_s: Array, pp: Array, vpp: Array) -> PipelineTime:
    """Closed form of 1F1B, GPipe (vpp = 1) and interleaved 1F1B.

    Args:
        micro_batches: m, a step and pipeline.
        heaviest_s: forward and backward of one micro-batch on the heaviest stage.
        sum_s: the same summed over all stages.
        pp: stages.
        vpp: chunks a stage.
    """
    mean = sum_s / pp
    return PipelineTime(micro_batches * mean, micro_batches * (heaviest_s - mean), (sum_s - heaviest_s) / vpp)

"""Struct of arrays: many models, clusters and strategies side by side, one row a case.

Every field is a float64 array of shape (n,) or (1,): laws broadcast, so one model against 100,000 strategies costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tierspan.specs.hardware import Cluster
from tierspan.specs.model import ModelSpec
from tierspan.specs.precision import PEAK_FALLBACK, PRECISIONS
from tierspan.specs.strategy import DISPATCHER_CODE, OF_STACK, RECOMPUTE_CODE, SCHEDULE_CODE, Job, Strategy

Array = NDArray[np.float64]
MAX_TIERS = 4
T = TypeVar("T", bound="Rows")


@dataclass(frozen=True, slots=True)
class Rows:
    """Base of the structs of arrays."""

    def take(self: T, index: NDArray[np.bool_] | NDArray[np.int64]) -> T:
        """The rows at ``index`` (a mask or positions, along the last axis); arrays of length 1 stay broadcastable."""
        picked = {}
        for f in fields(self):
            value: Array = getattr(self, f.name)
            picked[f.name] = value if value.shape[-1] == 1 else value[..., index]
        return type(self)(**picked)

    @property
    def rows(self) -> int:
        """Number of rows after broadcasting."""
        return max(int(getattr(self, f.name).shape[-1]) for f in fields(self))


@dataclass(frozen=True, slots=True)
class ModelArrays(Rows):
    """``ModelSpec`` as arrays; names and meaning as there. ``windowed_layers`` etc. are counts, booleans are 0 or 1."""

    layers: Array
    dense_layers: Array
    hidden: Array
    heads: Array
    kv_heads: Array
    head_dim: Array
    v_head_dim: Array
    ffn: Array
    mlp_matrices: Array
    vocab: Array
    tied_embeddings: Array
    learned_positions: Array
    experts: Array
    topk: Array
    moe_ffn: Array
    shared_ffn: Array
    window: Array
    windowed_layers: Array
    attention_sinks: Array
    expert_bias: Array
    q_lora_rank: Array
    kv_lora_rank: Array
    rope_head_dim: Array
    mtp_layers: Array

    @classmethod
    def of(cls, models: Sequence[ModelSpec]) -> ModelArrays:
        """Stack models, one row each."""
        return cls(**{f.name: np.array([float(getattr(m, f.name)) for m in models]) for f in fields(cls)})


@dataclass(frozen=True, slots=True)
class StrategyBatch(Rows):
    """Strategies with their job, one row each.

    ``tier`` strides: ranks of a group stand ``*_stride`` apart in rank order. ``recompute`` 0 none, 1 selective, 2 full;
    ``precision`` is the code of ``specs.precision``, ``schedule`` and ``dispatcher`` those of ``specs.strategy``; flags are 0 or 1.
    """

    tp: Array
    pp: Array
    cp: Array
    dp: Array
    ep: Array
    etp: Array
    vpp: Array
    sp: Array
    zero: Array
    shard_group: Array
    micro_batch: Array
    recompute: Array
    gpipe: Array
    schedule: Array
    overlap_grad_reduce: Array
    overlap_param_gather: Array
    overlap_tp: Array
    overlap_p2p: Array
    tp_stride: Array
    cp_stride: Array
    ep_stride: Array
    dp_stride: Array
    pp_stride: Array
    sequence_length: Array
    global_batch: Array
    precision: Array
    lora: Array
    optimizer_offload: Array
    activation_offload: Array
    parameter_offload: Array
    expert_imbalance: Array
    dispatcher: Array

    @property
    def micro_batches(self) -> Array:
        """Micro-batches a step and rank; a last smaller one counts by its share."""
        return np.maximum(self.global_batch / (self.dp * self.micro_batch), 1.0)

    @classmethod
    def of(cls, cases: Sequence[tuple[Strategy, Job, int]]) -> StrategyBatch:
        """Stack (strategy, job, accelerators); dp = accelerators / (tp * pp * cp), not rounded (validity is checked elsewhere)."""
        from tierspan.specs.precision import PRECISION_CODE

        rows = []
        for s, j, n in cases:
            dp = n / (s.tp * s.pp * s.cp)
            stride = strides(s, dp)
            group = s.shard_group if s.shard_group else dp * s.cp
            rows.append(
                {
                    "tp": s.tp, "pp": s.pp, "cp": s.cp, "dp": dp, "ep": s.ep, "etp": s.etp or s.tp, "vpp": s.vpp, "sp": s.sp and s.tp > 1,
                    "zero": s.zero, "shard_group": min(group, dp * s.cp), "micro_batch": s.micro_batch, "recompute": RECOMPUTE_CODE[s.recompute],
                    "gpipe": s.schedule == "gpipe", "schedule": SCHEDULE_CODE[s.schedule],
                    "overlap_grad_reduce": s.overlap_grad_reduce, "overlap_param_gather": s.overlap_param_gather,
                    "overlap_tp": s.overlap_tp, "overlap_p2p": s.overlap_p2p, "sequence_length": j.sequence_length, "global_batch": j.global_batch,
                    "precision": PRECISION_CODE[j.precision], "lora": j.lora,
                    "optimizer_offload": s.optimizer_offload, "activation_offload": s.activation_offload,
                    "parameter_offload": s.parameter_offload, "expert_imbalance": s.expert_imbalance,
                    "dispatcher": DISPATCHER_CODE[s.dispatcher] if s.dispatcher else OF_STACK, **{f"{k}_stride": v for k, v in stride.items()},
                }
            )  # fmt: skip
        return cls(**{f.name: np.array([float(r[f.name]) for r in rows]) for f in fields(cls)})


def strides(strategy: Strategy, dp: float) -> dict[str, float]:
    """Distance in ranks between neighbours of each group under ``strategy.rank_order``.

    EP is carved out of cp * dp: its stride is that of the first of cp, dp in the order (tp for Megatron's default when etp = tp,
    else etp), so it has no size of its own in the product.
    """
    size = {"tp": strategy.tp, "cp": strategy.cp, "dp": dp, "pp": strategy.pp, "ep": 1}
    out: dict[str, float] = {}
    step = 1.0
    for name in strategy.rank_order.split("-"):
        out[name] = step
        step *= size[name]
    out["ep"] = min(out["cp"], out["dp"]) if strategy.etp in (None, strategy.tp) else float(strategy.etp or 1)
    return out


@dataclass(frozen=True, slots=True)
class ClusterArrays(Rows):
    """Clusters as arrays.

    ``peak_flops`` has shape (precisions, n), NaN where the accelerator has none; the tier fields have shape (MAX_TIERS, n), innermost first,
    clusters with fewer tiers repeat their last one with an infinite domain.
    """

    accelerators: Array
    node_size: Array
    peak_flops: Array
    memory_bytes: Array
    memory_bandwidth_Bps: Array
    domain_size: Array
    bandwidth_Bps: Array
    pair_bandwidth_Bps: Array
    latency_s: Array
    in_network_reduction: Array

    @classmethod
    def of(cls, clusters: Sequence[Cluster]) -> ClusterArrays:
        """Stack clusters, one row each."""

        def tier(field: str, fill: float) -> Array:
            out = np.empty((MAX_TIERS, len(clusters)))
            for i, c in enumerate(clusters):
                for t in range(MAX_TIERS):
                    value = getattr(c.tiers[min(t, len(c.tiers) - 1)], field)
                    last = t >= len(c.tiers) - 1 and field == "domain_size"
                    out[t, i] = np.inf if last else (fill if value is None else float(value))
            return out

        bandwidth = tier("bandwidth_Bps", np.nan)
        pair = tier("pair_bandwidth_Bps", np.nan)
        return cls(
            accelerators=np.array([float(c.accelerators) for c in clusters]),
            node_size=np.array([float(c.node_size) for c in clusters]),
            peak_flops=np.array([[peak(c, p) for c in clusters] for p in PRECISIONS]),
            memory_bytes=np.array([c.accelerator.memory_bytes for c in clusters]),
            memory_bandwidth_Bps=np.array([c.accelerator.memory_bandwidth_Bps for c in clusters]),
            domain_size=tier("domain_size", np.inf),
            bandwidth_Bps=bandwidth,
            pair_bandwidth_Bps=np.where(np.isnan(pair), bandwidth, pair),
            latency_s=tier("latency_s", np.nan),
            in_network_reduction=tier("in_network_reduction", 0.0),
        )


def peak(cluster: Cluster, precision: str) -> float:
    """Dense peak in FLOP/s of a precision, or of the one whose units it runs on; NaN where there is none."""
    table = cluster.accelerator.peak_flops
    if precision in table:
        return float(table[precision])
    fallback = PEAK_FALLBACK.get(precision, "")
    return float(table.get(fallback, np.nan))

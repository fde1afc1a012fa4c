"""How a training step is composed: the one place that puts laws together, for arrays of cases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tierspan.estimates.exchange import layer_exchange, step_exchange
from tierspan.laws.collectives import Network
from tierspan.laws.compute import soft_max_s
from tierspan.laws.flops import model_flops_per_step
from tierspan.laws.operators import LayerTimes, Rates, layer_times, logits_time
from tierspan.laws.counts import dense_layer_parameters, head_parameters
from tierspan.laws.pipeline import StageLayers, balanced_stage_layers, pipeline_time, stage_layers
from tierspan.specs.arrays import MAX_TIERS, Array, ClusterArrays, ModelArrays, StrategyBatch
from tierspan.specs.precision import PRECISION_CODE
from tierspan.specs.profile.constants import Constants
from tierspan.specs.stacks.stack import StackArrays

LOW_PRECISIONS = ("fp8", "mxfp8", "nvfp4", "int8")
COMPUTE_TERMS = ("matmul", "attention", "memory_bound", "logits", "recompute", "host")
MANY_NODES = 64.0
COMMUNICATION = ("tp", "cp", "ep", "pp", "dp")


@dataclass(frozen=True, slots=True)
class StepEstimate:
    """Seconds of one training step, shape (n,) each.

    ``terms`` add up to ``step_time_s``: compute terms, ``imbalance``, ``bubble``, ``optimizer``, ``constant``, ``jitter`` and the exposed
    part of each kind of traffic. ``traffic`` splits the exposed traffic by (kind, tier index); ``hidden`` is what compute covers, by kind.
    """

    step_time_s: Array
    terms: dict[str, Array]
    traffic: dict[tuple[str, int], Array]
    hidden: dict[str, Array]
    micro_batches: Array
    flops_per_step: Array
    host_bound: Array


@dataclass(frozen=True, slots=True)
class Cases:
    """Everything a step depends on, row by row (all broadcast to (n,))."""

    models: ModelArrays
    clusters: ClusterArrays
    strategies: StrategyBatch
    stacks: StackArrays
    constants: Constants

    @property
    def tiers(self) -> int:
        """Tiers that some row really uses."""
        finite = np.isfinite(self.clusters.domain_size).any(axis=1)
        return int(finite.sum()) + 1 if not finite.all() else MAX_TIERS


def rates_of(cases: Cases) -> Rates:
    """Achievable rates of the accelerator of each row in the job's precision; NaN where it has no such units."""
    c, k = cases.clusters, cases.constants
    code = cases.strategies.precision.astype(np.int64)
    if c.peak_flops.shape[-1] == 1:
        peak = c.peak_flops[:, 0][code]
    else:
        peak = np.take_along_axis(c.peak_flops, np.broadcast_to(code, (c.peak_flops.shape[-1],))[None, :], axis=0)[0]
    low = np.isin(code, [PRECISION_CODE[p] for p in LOW_PRECISIONS]).astype(np.float64)
    wide = np.where(np.isnan(c.peak_flops[PRECISION_CODE["bf16"]]), c.peak_flops[PRECISION_CODE["fp16"]], c.peak_flops[PRECISION_CODE["bf16"]])
    wide = np.where(np.isnan(wide), peak, wide)
    wide_rate = wide * k.gemm_efficiency_wide / k.stack_factor
    return Rates(
        gemm_flops=peak * k.gemm_efficiency / (k.stack_factor * np.where(low > 0, k.low_precision_factor, 1.0)),
        gemm_wide_flops=wide_rate,
        attention_flops=wide * k.attention_efficiency / k.stack_factor,
        memory_Bps=c.memory_bandwidth_Bps * k.memory_efficiency / k.stack_factor,
        low_precision=low,
        flash=cases.stacks.flash_attention * (1.0 - cases.models.attention_sinks * (1.0 - cases.stacks.fuses_sinks)),
    )


def network_of(cases: Cases) -> Network:
    """The tiers with their achievable bandwidth."""
    c, k = cases.clusters, cases.constants
    tiers = cases.tiers
    share = np.stack(
        [
            np.broadcast_to(
                k.scale_up_efficiency if t == 0 else k.scale_out_efficiency,
                np.broadcast_shapes(k.scale_up_efficiency.shape, c.bandwidth_Bps[0].shape),
            )
            for t in range(tiers)
        ]
    )
    return Network(
        bandwidth_Bps=c.bandwidth_Bps[:tiers] * share,
        pair_bandwidth_Bps=c.pair_bandwidth_Bps[:tiers] * share,
        latency_s=c.latency_s[:tiers],
        in_network_reduction=c.in_network_reduction[:tiers],
        in_switch_share=k.in_switch_share,
        ring_decay=k.ring_decay,
        tree_share=k.tree_share,
        tiers=tiers,
    )


def _device_seconds(times: LayerTimes, moe_share: Array, constants: Constants, lora: Array) -> tuple[dict[str, Array], dict[str, Array]]:
    """Forward and backward device seconds of the average layer by term."""
    gemm = times.attention_gemm + (1.0 - moe_share) * times.dense_gemm + moe_share * constants.moe_factor * times.moe_gemm
    passes = times.attention_pass + (1.0 - moe_share) * times.dense_pass + moe_share * constants.moe_factor * times.moe_pass
    forward = {"matmul": gemm, "attention": times.attention_core, "memory_bound": passes}
    backward = {
        "matmul": gemm * np.where(lora > 0, 1.0, 2.0),
        "attention": times.attention_core * constants.attention_backward,
        "memory_bound": passes * constants.backward_passes,
    }
    return forward, backward


def _sum(parts: dict[str, Array]) -> Array:
    first, *rest = parts.values()
    total: Array = first
    for value in rest:
        total = total + value
    return total


def estimate_step(cases: Cases) -> StepEstimate:
    """Time of one step, its terms and its traffic by tier, for every row at once."""
    m, s, k = cases.models, cases.strategies, cases.constants
    rates, network = rates_of(cases), network_of(cases)
    times = layer_times(m, s, rates, k)
    layers = m.layers + m.mtp_layers
    moe_share = 1.0 - m.dense_layers / m.layers
    forward, backward = _device_seconds(times, moe_share, k, s.lora)
    # a prediction head of its own stands beside the loss on the last stage: the layers are laid out around it, ends do not count as layers then
    equal = stage_layers(layers, s.pp, s.vpp, m.mtp_layers == 0)
    by_cost = balanced_stage_layers(layers, head_parameters(m) / dense_layer_parameters(m), s.pp)
    by = cases.stacks.balances_stages > 0
    stages = StageLayers(np.where(by, by_cost.heaviest, equal.heaviest), np.where(by, by_cost.last, equal.last))
    micro_batches = s.micro_batches

    traffic = layer_exchange(cases, network, moe_share)
    scores = cases.stacks.selective_attention * forward["attention"]
    again = np.where(s.recompute == 2, _sum(forward), np.where(s.recompute == 1, scores, 0.0))
    device_f, device_b = _sum(forward), _sum(backward)
    exposed = traffic.exposed
    # Without a pipeline, tensor-parallel traffic that leaves the domain waits for compute and host alike: it comes on top of their longer one.
    outside = np.where((s.pp > 1) | (k.host_overlap_power <= 0), 0.0, sum((v for kind, t, v in traffic.by_tier if kind == "tp" and t > 0), 0.0))
    device = device_f + device_b + again + exposed - outside
    # a pipeline that leaves the domain costs the host time for every tensor-parallel rank in stacks that drive it from Python
    leaves = (s.pp > 1) & (s.pp_stride * s.pp > cases.clusters.domain_size[0])
    host = (k.host_layer_s + moe_share * (1.0 - cases.stacks.drops_tokens) * k.host_moe_s) * np.where(s.recompute == 2, 4.0 / 3.0, 1.0)
    across = np.where(s.tp * s.tp_stride > cases.clusters.domain_size[0], k.host_cross_factor, 1.0)
    host = host + np.where(leaves, k.host_pipeline_s * s.tp * across, 0.0)
    layer = soft_max_s(device, host, k.host_overlap_power) + outside

    product, loss = logits_time(m, s, rates, k)
    heads_count = 1.0 + m.mtp_layers
    logits = (product * 3.0 + loss) * heads_count
    heaviest = np.maximum(stages.heaviest * layer, stages.last * layer + logits)
    total = layers * layer + logits
    run = pipeline_time(micro_batches, heaviest, total, s.pp, s.vpp)

    ends = step_exchange(cases, network, micro_batches, stages, device_f, device_b)
    scale = micro_batches / s.pp
    per_layer = scale * layers
    terms: dict[str, Array] = {name: per_layer * (forward[name] + backward[name]) for name in forward}
    terms["logits"] = scale * logits
    terms["recompute"] = per_layer * again
    terms["host"] = per_layer * (layer - outside - device)
    terms["imbalance"] = run.imbalance
    terms["bubble"] = run.bubble
    nodes = np.maximum(cases.clusters.accelerators / cases.clusters.node_size, 1.0)
    slots = micro_batches + s.pp - 1.0
    terms["wait"] = np.where((nodes >= MANY_NODES) & (s.pp > 1), k.slot_wait_s * (1.0 - 1.0 / s.pp) * slots, 0.0)
    terms["optimizer"] = ends.optimizer_s
    terms["constant"] = k.step_constant_s * np.ones_like(run.bubble)
    split: dict[tuple[str, int], Array] = {}
    hidden: dict[str, Array] = {}
    for kind, tier, value in traffic.by_tier:
        split[kind, tier] = split.get((kind, tier), 0.0) + per_layer * value
    for kind, tier, value in ends.by_tier:
        split[kind, tier] = split.get((kind, tier), 0.0) + value
    for kind in COMMUNICATION:
        parts = [v for (name, _), v in split.items() if name == kind]
        if parts:
            terms[kind] = sum(parts[1:], parts[0])
    subtotal = _sum(terms)
    terms["jitter"] = subtotal * k.jitter * np.log2(nodes)
    for part in (traffic.hidden, ends.hidden):
        for kind, value in part.items():
            hidden[kind] = hidden.get(kind, 0.0) + value * (per_layer if part is traffic.hidden else 1.0)
    flops = model_flops_per_step(m, s)
    return StepEstimate(subtotal + terms["jitter"], terms, split, hidden, micro_batches, flops, (host > device).astype(np.float64))

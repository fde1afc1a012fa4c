"""One layer and micro-batch on one rank: what it computes, what it sends, and what its launches add; before any pipeline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tierspan.estimates.exchange import LayerExchange, layer_exchange
from tierspan.laws.collectives import Network
from tierspan.laws.compute import soft_max_s
from tierspan.laws.counts import dense_layer_parameters, head_parameters
from tierspan.laws.operators import LayerTimes, Rates, layer_times, logits_time
from tierspan.laws.pipeline import StageLayers, balanced_stage_layers, stage_layers
from tierspan.laws.schedules import DUALPIPE, Passes, dualpipe_pair_share
from tierspan.specs.arrays import MAX_TIERS, Array, ClusterArrays, ModelArrays, StrategyBatch
from tierspan.specs.precision import PRECISION_CODE
from tierspan.specs.profile.constants import Constants
from tierspan.specs.stacks.stack import StackArrays

LOW_PRECISIONS = ("fp8", "mxfp8", "nvfp4", "int8")


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
        gemm_flops=peak * k.gemm_efficiency / k.stack_factor,
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
    gemm = times.attention_gemm + (1.0 - moe_share) * times.dense_gemm + moe_share * times.moe_gemm
    passes = times.attention_pass + (1.0 - moe_share) * times.dense_pass + moe_share * constants.moe_factor * times.moe_pass
    forward = {"matmul": gemm, "attention": times.attention_core, "memory_bound": passes}
    backward = {
        "matmul": gemm * np.where(lora > 0, 1.0, 2.0),
        "attention": times.attention_core * constants.attention_backward,
        "memory_bound": passes * constants.backward_passes,
    }
    return forward, backward


def sum_of(parts: dict[str, Array]) -> Array:
    """Sum of the terms."""
    first, *rest = parts.values()
    total: Array = first
    for value in rest:
        total = total + value
    return total


@dataclass(frozen=True, slots=True)
class Pieces:
    """What a step is put together from, per layer and micro-batch of the average layer in s, shape (n,).

    ``forward`` and ``backward`` by compute term; ``again`` is computed a second time; ``device`` with exposed traffic; ``host`` launches;
    ``layer`` both together. ``logits`` (product and loss of all heads) stands on the last stage. ``relief`` is the share of the micro-batches
    whose expert traffic the schedule hides (DualPipe's pairs), already out of ``traffic``; ``whole_traffic`` is without it.
    """

    network: Network
    layers: Array
    moe_share: Array
    forward: dict[str, Array]
    backward: dict[str, Array]
    again: Array
    traffic: LayerExchange
    whole_traffic: LayerExchange
    relief: Array
    device: Array
    host: Array
    layer: Array
    logits: Array
    logits_product: Array
    stages: StageLayers
    micro_batches: Array


def pieces_of(cases: Cases, *, relieve: bool = True) -> Pieces:
    """Times and traffic of the average layer, for every row at once; ``relieve``: without the traffic that DualPipe's pairs hide."""
    m, s, k = cases.models, cases.strategies, cases.constants
    rates, network = rates_of(cases), network_of(cases)
    times = layer_times(m, s, rates, k)
    layers = m.layers + m.mtp_layers
    moe_share = 1.0 - m.dense_layers / m.layers
    forward, backward = _device_seconds(times, moe_share, k, s.lora)
    stages = _stages(cases, layers)
    micro_batches = s.micro_batches

    whole = traffic = layer_exchange(cases, network, moe_share)
    relief = np.zeros(1)
    if relieve and np.any(s.schedule == DUALPIPE):
        relief = np.where(s.schedule == DUALPIPE, dualpipe_pair_share(s.pp, micro_batches), 0.0)
        traffic = _relieved(whole, relief)
    scores = cases.stacks.selective_attention * forward["attention"]
    again = np.where(s.recompute == 2, sum_of(forward), np.where(s.recompute == 1, scores, 0.0))
    device_f, device_b = sum_of(forward), sum_of(backward)
    device = device_f + device_b + again + traffic.exposed
    # without a pipeline, tensor-parallel traffic that leaves the domain waits for compute and host alike: it comes on top of the longer one
    outside = np.where(s.pp > 1, 0.0, sum((v for kind, t, v in traffic.by_tier if kind == "tp" and t > 0), np.zeros(1)))
    host = _host_seconds(cases, moe_share)
    layer = soft_max_s(device - outside, host, k.host_overlap_power) + outside

    product, loss = logits_time(m, s, rates, k)
    heads_count = 1.0 + m.mtp_layers
    logits = (product * 3.0 + loss) * heads_count
    return Pieces(
        network, layers, moe_share, forward, backward, again, traffic, whole, relief, device, host, layer, logits, product * heads_count, stages,
        micro_batches,
    )  # fmt: skip


def _stages(cases: Cases, layers: Array) -> StageLayers:
    """Layers of the heaviest and of the last stage, as the stack deals them."""
    m, s = cases.models, cases.strategies
    # a prediction head of its own stands beside the loss on the last stage: the layers are laid out around it, ends do not count as layers then
    equal = stage_layers(layers, s.pp, s.vpp, m.mtp_layers == 0)
    by_cost = cases.stacks.balances_stages > 0
    if not by_cost.any():
        return equal
    dealt = balanced_stage_layers(layers, head_parameters(m) / dense_layer_parameters(m), s.pp)
    return StageLayers(np.where(by_cost, dealt.heaviest, equal.heaviest), np.where(by_cost, dealt.last, equal.last))


def _host_seconds(cases: Cases, moe_share: Array) -> Array:
    """Host time of one layer and micro-batch; a full recompute launches the forward pass once more.

    Where tokens are dropped above a capacity the host need not wait for their counts. In stacks that drive the pipeline from Python a
    pipeline that leaves the domain costs further time for every tensor-parallel rank.
    """
    s, k, domain = cases.strategies, cases.constants, cases.clusters.domain_size[0]
    launches = k.host_layer_s + moe_share * (1.0 - cases.stacks.drops_tokens) * k.host_moe_s
    leaves = (s.pp > 1) & (s.pp_stride * s.pp > domain)
    across = np.where(s.tp * s.tp_stride > domain, k.host_cross_factor, 1.0)
    return launches * np.where(s.recompute == 2, 4.0 / 3.0, 1.0) + np.where(leaves, k.host_pipeline_s * s.tp * across, 0.0)


def _relieved(traffic: LayerExchange, relief: Array) -> LayerExchange:
    """Expert traffic of overlapped pairs counts as hidden."""
    covered = sum((value for kind, _, value in traffic.by_tier if kind == "ep"), np.zeros(1))
    parts = tuple((kind, tier, value * (1.0 - relief) if kind == "ep" else value) for kind, tier, value in traffic.by_tier)
    hidden = {kind: value + relief * covered if kind == "ep" else value for kind, value in traffic.hidden.items()}
    return LayerExchange(traffic.exposed - relief * covered, parts, hidden)


def layer_passes(cases: Cases, pieces: Pieces) -> Passes:
    """``Pieces.layer`` split over the three passes; the host's excess is spread in proportion, traffic stands in forward and input gradient."""
    product = np.where(cases.strategies.lora > 0, 0.0, pieces.forward["matmul"])
    sent = forward_traffic(cases, pieces.traffic)
    ratio = pieces.layer / pieces.device
    ahead = (sum_of(pieces.forward) + sent) * ratio
    return Passes(ahead, pieces.layer - ahead - product * ratio, product * ratio)


def logits_passes(pieces: Pieces) -> Passes:
    """``Pieces.logits`` split over the three passes: a product each, the loss half forward and half backward."""
    loss = (pieces.logits - 3.0 * pieces.logits_product) / 2.0
    return Passes(pieces.logits_product + loss, pieces.logits_product + loss, pieces.logits_product)


def forward_share(kind: str, recompute: Array) -> Array:
    """Part of a layer's traffic of a kind that the forward pass sends; the weights are those of ``layer_exchange``."""
    return 1.0 / (np.where(kind == "cp", 3.0, 2.0) + np.where(recompute == 2, 1.0, 0.0))


def forward_traffic(cases: Cases, traffic: LayerExchange) -> Array:
    """Exposed traffic of the forward pass of one layer in s."""
    total = np.zeros(1)
    for kind, _, value in traffic.by_tier:
        total = total + value * forward_share(kind, cases.strategies.recompute)
    return total

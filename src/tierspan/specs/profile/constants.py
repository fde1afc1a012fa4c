"""The fitted constants as arrays: one row a case, gathered from a ``Profile``."""

from __future__ import annotations

from dataclasses import dataclass

from tierspan.specs.arrays import Array, Rows


@dataclass(frozen=True, slots=True)
class Constants(Rows):
    """Constants of the step-time law, each of shape (n,) or (1,). Meaning, unit and prior of each: ``profile/data/constants.csv``."""

    gemm_efficiency: Array
    gemm_efficiency_wide: Array
    logits_efficiency: Array
    attention_efficiency: Array
    memory_efficiency: Array
    half_m: Array
    half_k: Array
    grouped_efficiency: Array
    grouped_half_m: Array
    hidden_passes: Array
    ffn_passes: Array
    permute_passes: Array
    moe_factor: Array
    softmax_bytes: Array
    loss_bytes: Array
    cast_bytes: Array
    attention_backward: Array
    score_width: Array
    host_layer_s: Array
    host_moe_s: Array
    host_pipeline_s: Array
    host_cross_factor: Array
    rank_skew_s: Array
    slot_wait_s: Array
    wait_nodes: Array
    host_overlap_power: Array
    step_constant_s: Array
    stack_factor: Array
    tp_exposed: Array
    tp_call_s: Array
    tp_overlap_left: Array
    cp_exposed: Array
    ep_exposed: Array
    pp_exposed: Array
    dp_exposed: Array
    fsdp_exposed: Array
    jitter: Array
    optimizer_bytes: Array
    scale_up_efficiency: Array
    scale_out_efficiency: Array
    in_switch_share: Array
    bulk_latency: Array
    ring_decay: Array
    tree_share: Array
    backward_passes: Array
    router_rate: Array
    p2p_unoverlapped: Array
    lora_share: Array

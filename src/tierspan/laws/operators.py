"""The operators of one transformer layer on one rank and micro-batch, in seconds: products, attention core, memory-bound passes.

Everything is forward time; a product costs the same again for the gradient of its input and once more for that of its weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tierspan.laws.compute import attention_flops, gemm_s, mean_context
from tierspan.specs.arrays import Array, ModelArrays, StrategyBatch
from tierspan.specs.profile.constants import Constants

QKV_PASSES = 4.0
"""Rotary embedding and layout: read and write of queries and keys, twice."""


@dataclass(frozen=True, slots=True)
class Rates:
    """What one accelerator offers, shape (n,).

    FLOP/s of products in the job's precision and in BF16, FLOP/s of the attention core, bytes/s of memory; flags of low precision and of
    attention that never writes its scores.
    """

    gemm_flops: Array
    gemm_wide_flops: Array
    attention_flops: Array
    memory_Bps: Array
    low_precision: Array
    flash: Array


@dataclass(frozen=True, slots=True)
class LayerTimes:
    """Forward seconds of one layer, micro-batch and rank, shape (n,); ``dense_*`` and ``moe_*`` for the two kinds of MLP."""

    attention_gemm: Array
    attention_core: Array
    attention_pass: Array
    dense_gemm: Array
    dense_pass: Array
    moe_gemm: Array
    moe_pass: Array


def layer_times(models: ModelArrays, strategies: StrategyBatch, rates: Rates, constants: Constants) -> LayerTimes:
    """Forward time of the operators of one layer; all inputs broadcast to (n,).

    Routed tokens are those of the busiest expert-parallel rank: the others wait for it in the next exchange.
    """
    m, s, c = models, strategies, constants
    tokens = s.micro_batch * s.sequence_length / s.cp
    spread = np.where(s.sp > 0, s.tp, 1.0)
    element = np.where(rates.low_precision > 0, 1.0, 2.0)

    def product(rows: Array, n: Array, k: Array) -> Array:
        base = gemm_s(rows, n, k, rates.gemm_flops, c.half_m, c.half_k, rates.memory_Bps, element)
        cast = rates.low_precision * c.cast_bytes * (rows * k) / rates.memory_Bps
        return base + cast

    q_width, kv_heads = m.heads * m.head_dim / s.tp, np.maximum(m.kv_heads / s.tp, 1.0)
    mla = m.kv_lora_rank > 0
    plain = product(tokens, q_width + kv_heads * (m.head_dim + m.v_head_dim), m.hidden)
    attention_gemm = np.where(mla, 0.0, plain) + product(tokens, m.hidden, m.heads * m.v_head_dim / s.tp)
    if mla.any():
        q_rank = np.maximum(m.q_lora_rank, 1.0)
        with_rank = product(tokens, q_rank, m.hidden) + product(tokens, q_width, q_rank)
        queries = np.where(m.q_lora_rank > 0, with_rank, product(tokens, q_width, m.hidden))
        kv_rank = np.maximum(m.kv_lora_rank, 1.0)
        nope = np.maximum(m.head_dim - m.rope_head_dim, 1.0)
        keys = product(tokens, kv_rank + m.rope_head_dim, m.hidden) + product(tokens, m.heads * (nope + m.v_head_dim) / s.tp, kv_rank)
        attention_gemm = attention_gemm + np.where(mla, queries + keys, 0.0)

    windowed = m.windowed_layers / m.layers
    context = (1.0 - windowed) * mean_context(s.sequence_length, np.zeros_like(m.window), rates.flash)
    context = context + windowed * mean_context(s.sequence_length, m.window, rates.flash)
    core = attention_flops(tokens, context, m.heads / s.tp, m.head_dim + c.score_width, m.v_head_dim) / rates.attention_flops
    scores = tokens * s.sequence_length * m.heads / s.tp
    core = core + np.where(rates.flash > 0, 0.0, c.softmax_bytes * scores / rates.memory_Bps)

    hidden_pass = c.hidden_passes * 2.0 * tokens * m.hidden / spread
    qkv_pass = QKV_PASSES * 2.0 * tokens * (q_width + kv_heads * m.head_dim)
    attention_pass = (hidden_pass + qkv_pass) / rates.memory_Bps

    ups = m.mlp_matrices - 1.0
    ffn = np.maximum(m.ffn / s.tp, 1.0)
    dense_gemm = product(tokens, ups * ffn, m.hidden) + product(tokens, m.hidden, ffn)
    dense_pass = c.ffn_passes * 2.0 * tokens * ffn * ups / rates.memory_Bps
    zero = np.zeros_like(dense_gemm)
    if not (m.experts > 0).any():
        return LayerTimes(attention_gemm, core, attention_pass, dense_gemm, dense_pass, zero, zero)

    routed = tokens * m.topk / s.tp * s.etp * s.expert_imbalance
    local = np.maximum(m.experts / s.ep, 1.0)
    per_expert = np.maximum(routed / local, 1.0)
    width = np.maximum(m.moe_ffn / s.etp, 1.0)
    grouped_rate = rates.gemm_flops * c.grouped_efficiency
    grouped = 2.0 * routed * m.hidden * width * m.mlp_matrices / grouped_rate * (1.0 + c.grouped_half_m / per_expert) * (1.0 + c.half_m / width)
    weights = element * local * m.hidden * width * m.mlp_matrices / rates.memory_Bps
    shared = np.maximum(m.shared_ffn / s.tp, 1.0)
    shared_gemm = np.where(m.shared_ffn > 0, product(tokens, ups * shared, m.hidden) + product(tokens, m.hidden, shared), 0.0)
    router = 2.0 * tokens / spread * m.hidden * np.maximum(m.experts, 1.0) / (rates.gemm_wide_flops * c.router_rate)
    moe_gemm = np.maximum(grouped, weights) + shared_gemm + router
    cast = rates.low_precision * c.cast_bytes * routed * (m.hidden + width)
    moe_bytes = c.ffn_passes * 2.0 * (routed * width + tokens * m.shared_ffn / s.tp) * ups + c.permute_passes * 2.0 * routed * m.hidden / s.etp + cast
    # experts with biases: adding them, clamping and the gate are passes of their own over gate and up (4 each), the gate (2) and the output (2)
    moe_bytes = moe_bytes + m.expert_bias * 2.0 * routed * (5.0 * ups * width + 2.0 * m.hidden / s.etp)
    moe = m.experts > 0
    return LayerTimes(
        attention_gemm, core, attention_pass, dense_gemm, dense_pass, np.where(moe, moe_gemm, 0.0), np.where(moe, moe_bytes / rates.memory_Bps, 0.0)
    )


def logits_time(models: ModelArrays, strategies: StrategyBatch, rates: Rates, constants: Constants) -> tuple[Array, Array]:
    """Seconds of the vocabulary product (forward) and of softmax with cross entropy (both ways), per micro-batch, on the last stage."""
    s, c = strategies, constants
    tokens = s.micro_batch * s.sequence_length / s.cp
    vocab = models.vocab / s.tp
    two = np.full_like(tokens, 2.0)
    product = gemm_s(tokens, vocab, models.hidden, rates.gemm_wide_flops * c.logits_efficiency, c.half_m, c.half_k, rates.memory_Bps, two)
    return product, c.loss_bytes * tokens * vocab / rates.memory_Bps

"""Activations kept for the backward pass, in bytes (Korthikanti et al. 2022, section 4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tierspan.laws.memory.constants import MemoryConstants
from tierspan.laws.memory.stages import Stage
from tierspan.specs.arrays import ModelArrays, StrategyBatch

Array = NDArray[np.float64]
LOG_SUM_EXP_BYTES = 4.0
AHEAD_FROM, AHEAD_WHOLLY = 0.8, 1.3
"""Where running ahead begins and is complete, in units of ``ahead_bytes``; with the square root of tp the shape that residuals of the nanotron
grid showed, chosen by eye on all its models."""


def tokens_per_rank(s: StrategyBatch) -> Array:
    """Tokens of one micro-batch on one context-parallel rank."""
    return s.micro_batch * s.sequence_length / s.cp


def sequence_split(s: StrategyBatch) -> Array:
    """Ranks over which sequence parallelism splits what stands outside the tensor-parallel region: tp or 1."""
    return np.where(s.sp > 0, s.tp, 1.0)


def attention_bytes_per_token(m: ModelArrays, s: StrategyBatch, c: MemoryConstants) -> Array:
    """Count what one attention layer keeps of one token.

    Q, K, V and the output, split over tp (key and value heads at least one a rank), MLA's latents, and the scores: 5 a s / t bytes
    without flash attention and recomputation, else one number a head.
    """
    latent = np.where(m.kv_lora_rank > 0, m.q_lora_rank + m.kv_lora_rank + m.rope_head_dim, 0.0) / sequence_split(s)
    kv_heads = np.maximum(np.where(m.kv_lora_rank > 0, m.heads, m.kv_heads) / s.tp, 1.0)
    projected = m.heads * (m.head_dim + m.v_head_dim) / s.tp + kv_heads * (m.head_dim + m.v_head_dim)
    seen = np.where(m.window > 0, np.minimum(m.window, s.sequence_length), s.sequence_length)
    windowed = m.windowed_layers / m.layers
    keys = windowed * seen + (1.0 - windowed) * s.sequence_length
    fused = np.not_equal(c.flash, 0.0) | (s.recompute > 0)
    core = np.where(fused, LOG_SUM_EXP_BYTES, c.score_bytes * keys) * m.heads / s.tp
    return c.activation_bytes * (latent + projected) + core


def layer_bytes_per_token(m: ModelArrays, s: StrategyBatch, c: MemoryConstants) -> tuple[Array, Array]:
    """(dense, MoE) layer and one token of the micro-batch, without gathered copies.

    Plain MLP, full heads, no flash: h (10 + 24 / t + 5 a s / (h t)), all of it over t with sequence parallelism. A routed token is
    kept topk times: its input and output at full width on each of the etp ranks of its expert, the MLP's tensors split over them;
    balanced routing.
    """
    outside = c.norm_bytes * m.hidden / sequence_split(s)
    kept = m.mlp_matrices + np.where(m.mlp_matrices > 2, c.mlp_extra, 0.0)
    shared = outside + attention_bytes_per_token(m, s, c)
    routed = m.topk * (2.0 * m.hidden * s.etp + kept * m.moe_ffn) / s.tp
    dense = shared + c.activation_bytes * kept * m.ffn / s.tp
    moe = shared + c.activation_bytes * (routed + kept * m.shared_ffn / s.tp)
    return dense, moe


def gathered_micro_batches(m: ModelArrays, s: StrategyBatch, c: MemoryConstants, stage: Stage) -> Array:
    """Micro-batches whose gathered block inputs are reserved at once: those in flight, less ``gather_free``.

    Where the kernels on a rank's share of a block input take longer than the host needs to launch them, the host runs ahead: blocks that
    another stream still reads cannot be handed out again, and as soon as a step has more micro-batches than are in flight, up to
    ``gather_free`` more are reserved. The launch of a layer takes the longer the more ranks it waits for, told by sqrt(t); the change is
    gradual, from 0.8 to 1.3 times ``ahead_bytes``.
    """
    width = c.activation_bytes * tokens_per_rank(s) * m.hidden / sequence_split(s)
    reached = (width / (c.ahead_bytes * np.sqrt(s.tp)) - AHEAD_FROM) / (AHEAD_WHOLLY - AHEAD_FROM)
    ahead = np.clip(reached, 0.0, 1.0) * np.clip(s.micro_batches - stage.in_flight, 0.0, c.gather_free)
    return np.maximum(stage.in_flight - c.gather_free, 0.0) + ahead


def layer_at_work_bytes(s: StrategyBatch, stage: Stage, per_token: tuple[Array, Array]) -> Array:
    """Activations of one layer and one micro-batch, the larger of the stage's kinds."""
    dense, moe = per_token
    return tokens_per_rank(s) * np.maximum((stage.dense_layers > 0) * dense, (stage.moe_layers > 0) * moe)


def activation_bytes(m: ModelArrays, s: StrategyBatch, c: MemoryConstants, stage: Stage, per_token: tuple[Array, Array]) -> Array:
    """Activations of all micro-batches in flight on the stage, shape (n,); ``per_token`` is :func:`layer_bytes_per_token`.

    Full recomputation keeps the input of each layer (2 h per token) and one layer in full; selective drops the scores only.
    ``gathered_bytes`` of block inputs stay whole on every rank in the micro-batches that :func:`gathered_micro_batches` counts.
    """
    tokens = tokens_per_rank(s)
    dense, moe = per_token
    gathered = (s.tp > 1) * (s.sp > 0) * (c.gathered_bytes * m.hidden + c.gathered_flat_bytes)
    holding = gathered_micro_batches(m, s, c, stage)
    in_full = stage.in_flight * (stage.dense_layers * dense + stage.moe_layers * moe) + holding * stage.layers * gathered
    largest = layer_at_work_bytes(s, stage, per_token) + tokens * gathered
    inputs = c.activation_bytes * m.hidden / sequence_split(s)
    again = tokens * stage.in_flight * stage.layers * inputs + largest
    return np.where(s.recompute == 2, np.minimum(again, tokens * in_full), tokens * in_full)

"""Parameter counts of transformers as arrays, by part, and what one tensor- and expert-parallel rank holds of them.

All functions take :class:`ModelArrays` of n rows and return float64 arrays of shape (n,) (or (1,)): weights, not bytes.
Biases, query/key norms and the like are left out: they decide exact totals (``specs``), never memory or time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tierspan.specs.arrays import ModelArrays, StrategyBatch

Array = NDArray[np.float64]


def attention_parameters(m: ModelArrays) -> Array:
    """Projections of one attention layer: Q, K, V, O (grouped heads), or the low-rank ones of multi-head latent attention.

    MLA: x -> q_lora -> heads * head_dim; x -> kv_lora + rope; kv_lora -> heads * (nope + v_head_dim), nope = head_dim - rope.
    """
    output = m.heads * m.v_head_dim * m.hidden
    grouped = m.hidden * (m.heads * m.head_dim + m.kv_heads * (m.head_dim + m.v_head_dim))
    return np.where(m.kv_lora_rank > 0, latent_down_parameters(m) + _latent_up(m), grouped) + output


def latent_down_parameters(m: ModelArrays) -> Array:
    """Count the down projections of MLA, which no tensor-parallel rank splits; zero for other models."""
    return np.where(m.kv_lora_rank > 0, m.hidden * (m.q_lora_rank + m.kv_lora_rank + m.rope_head_dim), 0.0)


def _latent_up(m: ModelArrays) -> Array:
    queries = np.where(m.q_lora_rank > 0, m.q_lora_rank, m.hidden) * m.heads * m.head_dim
    return queries + m.kv_lora_rank * m.heads * (m.head_dim - m.rope_head_dim + m.v_head_dim)


def dense_mlp_parameters(m: ModelArrays) -> Array:
    """One dense MLP: ``mlp_matrices`` (2 plain, 3 gated) of hidden x ffn."""
    return m.mlp_matrices * m.hidden * m.ffn


def expert_parameters(m: ModelArrays) -> Array:
    """One routed expert."""
    return m.mlp_matrices * m.hidden * m.moe_ffn


def shared_parameters(m: ModelArrays) -> Array:
    """All shared experts of one layer together."""
    return m.mlp_matrices * m.hidden * m.shared_ffn


def router_parameters(m: ModelArrays) -> Array:
    """Count the router of one MoE layer."""
    return m.hidden * m.experts


def norm_parameters(m: ModelArrays) -> Array:
    """Count the two norms of one layer."""
    return 2.0 * m.hidden


def embedding_parameters(m: ModelArrays) -> Array:
    """Token embedding with learned positions where there are any."""
    return (m.vocab + m.learned_positions) * m.hidden


def head_parameters(m: ModelArrays) -> Array:
    """Count the output projection; a tied one counts only where it is a copy of its own (the last of several stages)."""
    return m.vocab * m.hidden


def dense_layer_parameters(m: ModelArrays) -> Array:
    """One layer with a dense MLP."""
    return attention_parameters(m) + dense_mlp_parameters(m) + norm_parameters(m)


def moe_layer_parameters(m: ModelArrays) -> Array:
    """One layer with routed experts, all of them counted."""
    return attention_parameters(m) + norm_parameters(m) + router_parameters(m) + shared_parameters(m) + m.experts * expert_parameters(m)


def total_parameters(m: ModelArrays) -> Array:
    """All weights; tied embeddings once; multi-token prediction blocks left out."""
    layers = m.dense_layers * dense_layer_parameters(m) + (m.layers - m.dense_layers) * moe_layer_parameters(m)
    return layers + embedding_parameters(m) + (1.0 - m.tied_embeddings) * head_parameters(m) + m.hidden


def active_parameters(m: ModelArrays) -> Array:
    """Weights that one token meets: of the experts only ``topk``."""
    idle = np.maximum(m.experts - m.topk, 0.0) * expert_parameters(m)
    return total_parameters(m) - (m.layers - m.dense_layers) * idle


@dataclass(frozen=True, slots=True)
class RankLayer:
    """What one rank holds of one layer, shape (n,). ``attention`` includes the norms; ``experts`` is apart: it has a sharding group of its own."""

    attention: Array
    dense_mlp: Array
    moe_shared: Array
    experts: Array


def rank_layer(m: ModelArrays, s: StrategyBatch) -> RankLayer:
    """Split of one layer over tp, ep and etp.

    Norms, router and MLA down projections are whole on every tensor-parallel rank; key and value heads are copied where tp exceeds
    their number; experts are split over ep * etp.
    """
    down = latent_down_parameters(m)
    copies = np.where(m.kv_lora_rank > 0, 0.0, np.maximum(s.tp / m.kv_heads, 1.0) - 1.0)
    key_value = m.hidden * m.kv_heads * (m.head_dim + m.v_head_dim)
    attention = (attention_parameters(m) - down + copies * key_value) / s.tp + down + norm_parameters(m)
    return RankLayer(
        attention=attention,
        dense_mlp=dense_mlp_parameters(m) / s.tp,
        moe_shared=shared_parameters(m) / s.tp + router_parameters(m),
        experts=m.experts * expert_parameters(m) / (s.ep * s.etp),
    )


def expert_replicas(s: StrategyBatch) -> Array:
    """Ranks that hold the same experts: dp * cp * tp / (ep * etp), at least 1; the sharding group of expert gradients and states."""
    return np.maximum(s.dp * s.cp * s.tp / (s.ep * s.etp), 1.0)

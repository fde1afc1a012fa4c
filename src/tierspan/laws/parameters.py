"""Exact parameter counts and KV-cache sizes of a model.

Counts are Python integers: a count is exact or wrong. ``active`` are the parameters that one token passes through, the embedding
table and the head included (the convention of the published "A22B" figures). Multi-token prediction blocks are counted apart.
"""

from __future__ import annotations

from dataclasses import dataclass

from tierspan.specs.model import ModelSpec


@dataclass(frozen=True, slots=True)
class ParameterCounts:
    """Parameters of a model, in numbers (not bytes).

    Whole model: ``total``, ``active``, ``embedding`` (tokens, learned positions and their norm), ``head`` (0 where tied), ``final_norm``.
    One layer: ``attention`` (with its norms inside, without the layer's norms), ``indexer``, ``norms``, ``dense_mlp``, ``router``,
    ``expert`` (one routed expert), ``shared`` (all shared experts and their gate). ``mtp`` is outside the total.
    """

    total: int
    active: int
    embedding: int
    head: int
    final_norm: int
    attention: int
    indexer: int
    norms: int
    dense_mlp: int
    router: int
    expert: int
    shared: int
    mtp: int

    @property
    def dense_layer(self) -> int:
        """One layer with a dense MLP."""
        return self.attention + self.indexer + self.norms + self.dense_mlp

    def moe_layer(self, experts: int) -> int:
        """One layer with ``experts`` routed experts (all of them, or the top-k)."""
        return self.attention + self.indexer + self.norms + self.router + self.shared + experts * self.expert


def attention_parameters(m: ModelSpec) -> int:
    """Parameters of one attention block.

    Multi-head latent attention: query down- and up-projection (or one matrix), joint down-projection of keys and values with the rope
    key, up-projection to keys (without rope) and values, output, and a norm on each latent.
    """
    if m.kv_lora_rank:
        queries = m.heads * m.head_dim
        query = m.hidden * m.q_lora_rank + m.q_lora_rank + m.q_lora_rank * queries if m.q_lora_rank else m.hidden * queries
        down = m.hidden * (m.kv_lora_rank + m.rope_head_dim) + m.kv_lora_rank
        up = m.kv_lora_rank * m.heads * (m.head_dim - m.rope_head_dim + m.v_head_dim)
        bias = m.qkv_bias * (m.q_lora_rank + m.kv_lora_rank + m.rope_head_dim)
        return query + down + up + bias + m.heads * m.v_head_dim * m.hidden + m.attention_output_bias * m.hidden + m.qk_norm_params
    width = m.heads * m.head_dim + m.kv_heads * (m.head_dim + m.v_head_dim)
    out = m.heads * m.v_head_dim * m.hidden + m.attention_output_bias * m.hidden
    return m.hidden * width + m.qkv_bias * width + out + m.qk_norm_params + m.attention_sinks * m.heads


def indexer_parameters(m: ModelSpec) -> int:
    """Parameters of the sparse indexer of one layer: queries from the query latent, one key with a biased norm, a weight per head."""
    if not m.indexer_heads:
        return 0
    source = m.q_lora_rank or m.hidden
    return source * m.indexer_heads * m.indexer_head_dim + m.hidden * m.indexer_head_dim + 2 * m.indexer_head_dim + m.hidden * m.indexer_heads


def mlp_parameters(m: ModelSpec, width: int, bias: bool) -> int:
    """Parameters of one MLP of ``width``: plain (2 matrices) or gated (3)."""
    return m.mlp_matrices * m.hidden * width + bias * ((m.mlp_matrices - 1) * width + m.hidden)


def parameter_counts(m: ModelSpec) -> ParameterCounts:
    """Count every parameter of a model.

    total = embedding + head + final norm + sum over layers of (attention + norms + MLP or router, experts and shared experts);
    active replaces the experts by the top-k.
    """
    table = m.vocab * m.hidden
    embedding = table + m.learned_positions * m.hidden + m.embedding_norm * m.norm_params_per_width * m.hidden
    head = (0 if m.tied_embeddings else table) + m.lm_head_bias * m.vocab
    final_norm = m.final_norm * m.norm_params_per_width * m.hidden
    part = ParameterCounts(
        total=0,
        active=0,
        embedding=embedding,
        head=head,
        final_norm=final_norm,
        attention=attention_parameters(m),
        indexer=indexer_parameters(m),
        norms=m.norms_per_layer * m.norm_params_per_width * m.hidden,
        dense_mlp=mlp_parameters(m, m.ffn, m.mlp_bias) if m.dense_layers else 0,
        router=m.experts * m.hidden + m.router_bias * m.experts,
        expert=mlp_parameters(m, m.moe_ffn, m.expert_bias) if m.experts else 0,
        shared=(mlp_parameters(m, m.shared_ffn, m.expert_bias) if m.shared_ffn else 0) + m.shared_expert_gate * m.hidden,
        mtp=0,
    )
    outside = embedding + head + final_norm + m.dense_layers * part.dense_layer
    # A multi-token prediction block: a layer of the last kind, a norm for each of its two inputs and one
    # before the head, and the joining projection 2h -> h.
    last = part.moe_layer(m.experts) if m.experts else part.dense_layer
    mtp = m.mtp_layers * (last + 2 * m.hidden * m.hidden + 3 * m.norm_params_per_width * m.hidden)
    values = {name: getattr(part, name) for name in ParameterCounts.__slots__}
    return ParameterCounts(
        **values
        | {"total": outside + m.moe_layers * part.moe_layer(m.experts), "active": outside + m.moe_layers * part.moe_layer(m.topk), "mtp": mtp}
    )


def kv_elements_per_token(m: ModelSpec) -> int:
    """Numbers kept per token in the KV cache over all layers, before windows cut it.

    Multi-head latent attention keeps the latent and the rope key: layers (kv_lora_rank + rope_head_dim); otherwise keys and values of
    the KV heads: layers kv_heads (head_dim + v_head_dim).
    """
    if m.kv_lora_rank:
        return m.layers * (m.kv_lora_rank + m.rope_head_dim)
    return m.layers * m.kv_heads * (m.head_dim + m.v_head_dim)


def kv_bytes_per_token(m: ModelSpec, bytes_per_element: float = 2.0) -> float:
    """Bytes of KV cache per token at ``bytes_per_element`` (2 for BF16 and FP16, 1 for FP8 and INT8)."""
    return kv_elements_per_token(m) * bytes_per_element


def kv_bytes(m: ModelSpec, tokens: int, bytes_per_element: float = 2.0) -> float:
    """Bytes of KV cache of one sequence of ``tokens``: windowed layers keep at most ``window`` tokens."""
    per_layer = kv_bytes_per_token(m, bytes_per_element) / m.layers
    windowed = min(tokens, m.window) if m.window else tokens
    return per_layer * ((m.layers - m.windowed_layers) * tokens + m.windowed_layers * windowed)

"""A transformer as counts: what parameters, FLOPs and bytes follow from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """Architecture of a decoder-only transformer; zero means that the part does not exist.

    Widths: ``head_dim`` of queries and keys (for MLA: nope + rope), ``v_head_dim`` of values. ``ffn`` is the width of dense MLPs
    (``mlp_matrices`` 2 = plain, 3 = gated), ``moe_ffn`` of one routed expert, ``shared_ffn`` of all shared experts of a layer together.
    ``dense_layers`` counts the layers with a dense MLP (all of them in a dense model). ``windowed_layers`` attend to at most
    ``window`` tokens back (``window_chunked``: to their own chunk of that length). ``*_bias`` and ``norm_*`` are there for exact
    parameter counts. ``vocab`` is as printed, not padded. ``partial`` names what is left out or only partly modelled (``models.note.*``).
    """

    id: str
    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    v_head_dim: int
    ffn: int
    mlp_matrices: int
    vocab: int
    dense_layers: int
    tied_embeddings: bool = False
    learned_positions: int = 0
    experts: int = 0
    topk: int = 0
    moe_ffn: int = 0
    shared_ffn: int = 0
    shared_expert_gate: bool = False
    router_bias: bool = False
    window: int = 0
    windowed_layers: int = 0
    # multi-head latent attention
    q_lora_rank: int = 0
    kv_lora_rank: int = 0
    rope_head_dim: int = 0
    # sparse indexer (DeepSeek V3.2)
    indexer_heads: int = 0
    indexer_head_dim: int = 0
    indexer_topk: int = 0
    # multi-token prediction blocks, kept out of the totals
    mtp_layers: int = 0
    # parts that only matter for exact counts
    qkv_bias: bool = False
    attention_output_bias: bool = False
    mlp_bias: bool = False
    expert_bias: bool = False
    qk_norm_params: int = 0
    attention_sinks: bool = False
    norms_per_layer: int = 2
    norm_params_per_width: int = 1
    final_norm: bool = True
    lm_head_bias: bool = False
    parallel_attention: bool = False
    max_positions: int = 0
    source: str = ""
    partial: tuple[str, ...] = ()
    embedding_norm: bool = False
    window_chunked: bool = False

    @property
    def moe_layers(self) -> int:
        """Layers with routed experts."""
        return self.layers - self.dense_layers

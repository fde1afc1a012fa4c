"""Key names of other tools: Calculon's model files and Megatron's arguments."""

from __future__ import annotations

from tierspan.formats.hf_config.common import shape
from tierspan.formats.hf_config.experts import routing
from tierspan.formats.hf_config.keys import Keys
from tierspan.quantities.errors import InputError, Place, UnsupportedError
from tierspan.specs.model import ModelSpec

_CALCULON = ("hidden", "feedforward", "attn_heads", "num_blocks")
_MEGATRON = ("num_layers", "hidden_size", "num_attention_heads")


def is_calculon(keys: Keys) -> bool:
    """Whether the keys are those of Calculon."""
    return not keys.family and sum(keys.has(name) for name in _CALCULON) >= 3


def is_megatron(keys: Keys) -> bool:
    """Whether the keys are Megatron's arguments (``num_layers`` without ``model_type``)."""
    return not keys.family and all(keys.has(name) for name in _MEGATRON)


def calculon(keys: Keys) -> ModelSpec:
    """Calculon describes GPT blocks only; the vocabulary must be added.

    Raises:
        InputError: no ``vocab_size``; the error says what the blocks alone hold.
    """
    layers, hidden, ffn = keys.whole("num_blocks"), keys.whole("hidden"), keys.whole("feedforward")
    heads, positions = keys.whole("attn_heads"), keys.whole("seq_size")
    head_dim = keys.optional("attn_size")
    if head_dim is None:
        keys.multiple("hidden", hidden, "attn_heads", heads)
        head_dim = hidden // heads
    vocab = keys.optional("vocab_size")
    if vocab is None:
        width = heads * head_dim
        block = 4 * hidden * width + 3 * width + hidden + 2 * hidden * ffn + ffn + hidden + 4 * hidden
        raise InputError(
            "models.calculon_vocab",
            place=Place(keys.locate("num_blocks").file, key="vocab_size"),
            key="vocab_size",
            billion=f"{layers * block / 1e9:.2f}",
        )
    return ModelSpec(
        id="", name="", layers=layers, hidden=hidden, heads=heads, kv_heads=heads, head_dim=head_dim, v_head_dim=head_dim, ffn=ffn, mlp_matrices=2,
        vocab=vocab, dense_layers=layers, tied_embeddings=True, learned_positions=positions, qkv_bias=True, attention_output_bias=True, mlp_bias=True,
        norm_params_per_width=2, max_positions=positions,
    )  # fmt: skip


def megatron(keys: Keys) -> ModelSpec:
    """Megatron's arguments as a JSON object, with Megatron's defaults (biases, layer norms, learned positions, tied embeddings)."""
    if keys.flag("multi_latent_attention") or keys.flag("is_hybrid_model"):
        key = "multi_latent_attention" if keys.flag("multi_latent_attention") else "is_hybrid_model"
        raise UnsupportedError("models.feature", place=keys.locate(key), key=key, value=True)
    s = shape(keys)
    gated = keys.flag("swiglu")
    bias = keys.flag("add_bias_linear", default=True)
    learned = keys.word("position_embedding_type", default="learned_absolute") == "learned_absolute"
    positions = keys.optional("max_position_embeddings", "seq_length") or 0
    if learned and not positions:
        raise keys.missing("max_position_embeddings")
    ffn = keys.whole("ffn_hidden_size", default=4 * s.hidden)
    r = routing(keys, s.layers, ("moe_ffn_hidden_size", "ffn_hidden_size")) if keys.has("num_experts") else None
    spec = {
        **s.fields(), "ffn": ffn, "mlp_matrices": 3 if gated else 2, "dense_layers": s.layers, "max_positions": positions,
        "tied_embeddings": not keys.flag("untie_embeddings_and_output_weights"), "learned_positions": positions if learned else 0,
        "qkv_bias": bias or keys.flag("add_qkv_bias"), "attention_output_bias": bias, "mlp_bias": bias, "expert_bias": bias and r is not None,
        "norm_params_per_width": 1 if keys.word("normalization", default="LayerNorm") == "RMSNorm" else 2,
        "qk_norm_params": 2 * s.head_dim if keys.flag("qk_layernorm") else 0,
    }  # fmt: skip
    return ModelSpec(**{"id": "", "name": "", **spec, **(r.fields() if r else {})})

"""Decoders with plain MLPs and layer norms: GPT-2, GPT-NeoX, OPT, BLOOM, Falcon, MPT, Phi."""

from __future__ import annotations

from typing import Any

from tierspan.formats.hf_config.common import FFN, HEADS, HIDDEN, LAYERS, positions, shape, tied
from tierspan.formats.hf_config.keys import Keys
from tierspan.quantities.errors import UnsupportedError
from tierspan.specs.model import ModelSpec

_OPT_RESERVED = 2  # OPT's table of positions has two rows in front
_MPT_EXPANSION = 4

_BIASED: dict[str, Any] = {"qkv_bias": True, "attention_output_bias": True, "mlp_bias": True}


def _plain(keys: Keys, s: dict[str, int], ffn: int, **values: Any) -> ModelSpec:
    return ModelSpec(
        **{
            "id": "", "name": "", **s, "ffn": ffn, "mlp_matrices": 2, "dense_layers": s["layers"], "norm_params_per_width": 2,
            "max_positions": positions(keys), **values,
        }
    )  # fmt: skip


def gpt2(keys: Keys) -> ModelSpec:
    """GPT-2 and GPT-3 key names: learned positions, biases everywhere, tied embeddings; GPT-BigCode adds multi-query attention."""
    multi_query = keys.family == "gpt_bigcode" and keys.flag("multi_query", default=True)
    s = shape(keys, kv_default=1 if multi_query else None)
    table = keys.whole("n_positions", "n_ctx", "max_position_embeddings")
    return _plain(keys, s.fields(), keys.whole(*FFN, default=4 * s.hidden), learned_positions=table, tied_embeddings=tied(keys, True), **_BIASED)


def gpt_neox(keys: Keys) -> ModelSpec:
    """GPT-NeoX and Pythia: rotary positions, two norms in parallel, untied embeddings."""
    s = shape(keys)
    bias = keys.flag("attention_bias", default=True)
    return _plain(
        keys, s.fields(), keys.whole(*FFN), tied_embeddings=tied(keys, False), parallel_attention=keys.flag("use_parallel_residual", default=True),
        qkv_bias=bias, attention_output_bias=bias, mlp_bias=True,
    )  # fmt: skip


def opt(keys: Keys) -> ModelSpec:
    """OPT: learned positions with two reserved rows."""
    s = shape(keys)
    width = keys.whole("word_embed_proj_dim", default=s.hidden)
    if width != s.hidden or not keys.flag("do_layer_norm_before", default=True):
        raise UnsupportedError("models.feature", place=keys.locate("word_embed_proj_dim"), key="word_embed_proj_dim", value=width)
    bias = keys.flag("enable_bias", default=True)
    table = keys.whole("max_position_embeddings") + _OPT_RESERVED
    return _plain(
        keys, s.fields(), keys.whole(*FFN), learned_positions=table, tied_embeddings=tied(keys, True),
        qkv_bias=bias, attention_output_bias=bias, mlp_bias=bias,
    )  # fmt: skip


def bloom(keys: Keys) -> ModelSpec:
    """BLOOM: ALiBi, a norm after the embedding, tied embeddings; the MLP is four times as wide."""
    s = shape(keys)
    return _plain(keys, s.fields(), 4 * s.hidden, embedding_norm=True, tied_embeddings=tied(keys, True), **_BIASED)


def falcon(keys: Keys) -> ModelSpec:
    """Falcon 7B (multi-query, one norm), 40B and 180B (grouped queries, two norms in parallel)."""
    # RefinedWeb is the 40B model before the family had its name and that key.
    grouped = keys.flag("new_decoder_architecture", default=keys.family == "refinedweb")
    multi_query = keys.flag("multi_query", default=True)
    kv = keys.optional("num_kv_heads", "n_head_kv")
    s = shape(keys, kv_default=kv if grouped else (1 if multi_query else None)).fields()
    if not grouped:
        # Without the new architecture num_kv_heads has no effect.
        s["kv_heads"] = 1 if multi_query else s["heads"]
    parallel = grouped or keys.flag("parallel_attn", default=True)
    norms = keys.whole("num_ln_in_parallel_attn", default=2) if grouped else (1 if parallel else 2)
    bias = keys.flag("bias")
    return _plain(
        keys, s, keys.whole(*FFN, "ffn_hidden_size", default=4 * s["hidden"]), norms_per_layer=norms, parallel_attention=parallel,
        tied_embeddings=tied(keys, True), qkv_bias=bias, attention_output_bias=bias, mlp_bias=bias,
    )  # fmt: skip


def mpt(keys: Keys) -> ModelSpec:
    """MPT: ALiBi or learned positions, biases unless ``no_bias``, tied embeddings."""
    attention = keys.data.get("attn_config")
    attention = attention if isinstance(attention, dict) else {}
    keys.read.add("attn_config")
    hidden, heads = keys.whole(*HIDDEN), keys.whole(*HEADS)
    keys.multiple("d_model", hidden, "n_heads", heads)
    kv = attention.get("kv_n_heads") or (1 if attention.get("attn_type") == "multiquery_attention" else heads)
    if not isinstance(kv, int) or isinstance(kv, bool) or kv < 1 or heads % kv:
        raise UnsupportedError("models.feature", place=keys.locate("attn_config"), key="attn_config.kv_n_heads", value=kv)
    expansion = keys.whole("expansion_ratio", default=_MPT_EXPANSION)
    bias = not keys.flag("no_bias", default=True)
    learned = keys.flag("learned_pos_emb", default=True) and not attention.get("alibi", True) and not attention.get("rope")
    table = keys.whole("max_seq_len") if learned else 0
    s = {
        "layers": keys.whole(*LAYERS), "hidden": hidden, "heads": heads, "kv_heads": kv, "head_dim": hidden // heads,
        "v_head_dim": hidden // heads, "vocab": keys.whole("vocab_size"),
    }  # fmt: skip
    return _plain(
        keys, s, expansion * hidden, learned_positions=table, tied_embeddings=tied(keys, True), norm_params_per_width=2 if bias else 1,
        qkv_bias=bias, attention_output_bias=bias, mlp_bias=bias, qk_norm_params=2 * hidden * (2 if bias else 1) if attention.get("qk_ln") else 0,
    )  # fmt: skip


def phi(keys: Keys) -> ModelSpec:
    """Phi-1 and Phi-2: parallel attention behind one norm, biases everywhere, head included."""
    s = shape(keys)
    return _plain(
        keys, s.fields(), keys.whole(*FFN, default=4 * s.hidden), norms_per_layer=1, parallel_attention=True, lm_head_bias=True,
        tied_embeddings=tied(keys, False), qk_norm_params=4 * s.head_dim if keys.flag("qk_layernorm") else 0, **_BIASED,
    )  # fmt: skip


def gptj(keys: Keys) -> ModelSpec:
    """GPT-J: parallel attention without biases, rotary positions, a head with biases."""
    s = shape(keys)
    return _plain(
        keys, s.fields(), keys.whole(*FFN, default=4 * s.hidden), norms_per_layer=1, parallel_attention=True, lm_head_bias=True,
        tied_embeddings=tied(keys, False), mlp_bias=True,
    )  # fmt: skip


def stablelm(keys: Keys) -> ModelSpec:
    """StableLM: a gated MLP behind layer norms with biases; norms on queries and keys or a parallel residual where the file says so."""
    s = shape(keys)
    parallel = keys.flag("use_parallel_residual")
    if keys.flag("qk_layernorm"):
        raise UnsupportedError("models.feature", place=keys.locate("qk_layernorm"), key="qk_layernorm", value=True)
    return _plain(
        keys, s.fields(), keys.whole(*FFN), mlp_matrices=3, qkv_bias=keys.flag("use_qkv_bias"), norms_per_layer=1 if parallel else 2,
        parallel_attention=parallel, tied_embeddings=tied(keys, False),
    )  # fmt: skip

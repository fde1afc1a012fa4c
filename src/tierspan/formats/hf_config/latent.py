"""Multi-head latent attention: DeepSeek V2, V3, V3.2 and R1, Kimi K2, GLM-5."""

from __future__ import annotations

from tierspan.formats.hf_config.common import FFN, HEADS, HIDDEN, LAYERS, positions, tied
from tierspan.formats.hf_config.experts import routing
from tierspan.formats.hf_config.keys import Keys
from tierspan.quantities.errors import UnsupportedError
from tierspan.specs.model import ModelSpec


def deepseek(keys: Keys) -> ModelSpec:
    """A model with latent attention; ``num_key_value_heads`` says nothing about its cache.

    V3 routes with a correction bias per expert. V3.2 and GLM-5 add an indexer that picks the tokens to attend to: its parameters are
    counted, its effect on time is said to be partial.
    """
    heads, rope = keys.whole(*HEADS), keys.whole("qk_rope_head_dim")
    layers = keys.whole(*LAYERS)
    third = keys.family != "deepseek_v2"
    r = routing(keys, layers)
    indexer = keys.optional("index_n_heads") or 0
    partial = ["sparse_indexer"] if indexer else []
    kinds = keys.items("indexer_types", layers)
    if kinds is not None and any(kind != "full" for kind in kinds):
        count = sum(1 for kind in kinds if kind != "full")
        raise UnsupportedError("models.layer_type", place=keys.locate("indexer_types"), layer="shared indexer", count=count, layers=layers)
    mtp = keys.whole("num_nextn_predict_layers", default=0, least=0)
    bias = keys.flag("attention_bias")
    keys.read.update(("num_key_value_heads", "head_dim", "qk_head_dim"))
    head_dim = keys.whole("qk_nope_head_dim") + rope
    return ModelSpec(
        id="", name="", layers=layers, hidden=keys.whole(*HIDDEN), heads=heads, kv_heads=heads, head_dim=head_dim,
        v_head_dim=keys.whole("v_head_dim"),
        ffn=keys.whole(*FFN) if r.dense else 0, mlp_matrices=3, vocab=keys.whole("vocab_size"), tied_embeddings=tied(keys, False),
        q_lora_rank=keys.optional("q_lora_rank") or 0, kv_lora_rank=keys.whole("kv_lora_rank"), rope_head_dim=rope,
        indexer_heads=indexer, indexer_head_dim=keys.whole("index_head_dim") if indexer else 0,
        indexer_topk=keys.whole("index_topk") if indexer else 0, router_bias=third, qkv_bias=bias, attention_output_bias=bias,
        mtp_layers=mtp, max_positions=positions(keys), partial=tuple(partial), **r.fields(),
    )  # fmt: skip

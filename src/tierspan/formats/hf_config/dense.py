"""Dense decoders with gated MLPs and RMS norms: Llama and the many families that differ from it in a few flags."""

from __future__ import annotations

from dataclasses import dataclass

from tierspan.formats.hf_config.common import FFN, Shape, positions, shape, tied
from tierspan.formats.hf_config.keys import Keys
from tierspan.formats.hf_config.layers import windows
from tierspan.specs.model import ModelSpec

HEAD, FULL = "head", "full"


@dataclass(frozen=True, slots=True)
class Family:
    """What a family does where its file says nothing.

    ``qkv_bias``/``out_bias``: with an ``attention_bias`` key it decides both (``out_follows``). ``qk_norm``: one norm per head size,
    or one over the full width of queries and keys. ``windowed``: ``all`` layers, ``none``, or ``late`` (from max_window_layers on).
    """

    tied: bool = False
    qkv_bias: bool = False
    out_follows: bool = True
    qk_norm: str = ""
    norms: int = 2
    norm_params: int = 1
    matrices: int = 3
    windowed: str = "none"
    parallel: bool = False
    ffn_divisor: int = 1


LLAMA_LIKE: dict[str, Family] = {
    "llama": Family(),
    "mistral": Family(windowed="all"),
    "ministral": Family(windowed="all"),
    "qwen2": Family(qkv_bias=True, out_follows=False, windowed="late"),
    "qwen2_vl": Family(qkv_bias=True, out_follows=False, windowed="late"),
    "qwen2_5_vl": Family(qkv_bias=True, out_follows=False, windowed="late"),
    "qwen2_vl_text": Family(qkv_bias=True, out_follows=False, windowed="late"),
    "qwen2_5_vl_text": Family(qkv_bias=True, out_follows=False, windowed="late"),
    "qwen3": Family(qk_norm=HEAD, windowed="late"),
    "qwen3_vl_text": Family(qk_norm=HEAD),
    "mimo": Family(qkv_bias=True, out_follows=False),
    "qwen": Family(qkv_bias=True, out_follows=False, ffn_divisor=2),
    "yi": Family(),
    "baichuan": Family(),
    "internlm": Family(qkv_bias=True),
    "internlm2": Family(),
    "internlm3": Family(),
    "minicpm": Family(tied=True),
    "phi3": Family(windowed="all"),
    "granite": Family(),
    "smollm3": Family(tied=True),
    "seed_oss": Family(qkv_bias=True, out_follows=False),
    "olmo2": Family(qk_norm=FULL),
    "olmo3": Family(qk_norm=FULL),
    "olmo": Family(norm_params=0),
    "glm": Family(qkv_bias=True, out_follows=False),
    "glm4": Family(qkv_bias=True, out_follows=False, norms=4),
    "ernie4_5": Family(tied=True),
    "nemotron": Family(norm_params=2, matrices=2),
    "arcee": Family(matrices=2),
    "cohere": Family(tied=True, norms=1, parallel=True),
    "cohere2": Family(tied=True, norms=1, parallel=True),
    "hunyuan_v1_dense": Family(qk_norm=HEAD),
    "starcoder2": Family(tied=True, qkv_bias=True, norm_params=2, matrices=2, windowed="all"),
}


def qk_norm_params(kind: str, s: Shape) -> int:
    """Parameters of the norms on queries and keys of one layer."""
    return {HEAD: 2 * s.head_dim, FULL: (s.heads + s.kv_heads) * s.head_dim}.get(kind, 0)


def llama_like(keys: Keys) -> ModelSpec:
    """A dense model of one of the families above."""
    f = LLAMA_LIKE[keys.family]
    s = shape(keys)
    bias = keys.flag("attention_bias", "qkv_bias", "bias", "use_bias", default=f.qkv_bias)
    if f.qkv_bias and not f.out_follows and not keys.has("attention_bias", "qkv_bias"):
        bias = True
    out = bias and f.out_follows
    if keys.family == "seed_oss":
        out = keys.flag("attention_out_bias")
    if keys.family == "cohere2" and not keys.has("layer_types"):
        # Three layers of four have a window, as sliding_window_pattern says.
        windowed = s.layers - s.layers // keys.whole("sliding_window_pattern", default=4)
    elif keys.family == "olmo3":
        windowed = s.layers - s.layers // 4
    else:
        windowed = 0
    late = s.layers - (keys.optional("max_window_layers", least=0) or 0) if f.windowed == "late" else 0
    w = windows(keys, s.layers, {"all": s.layers, "late": max(late, 0)}.get(f.windowed, windowed))
    ffn = keys.whole(*FFN)
    qk = qk_norm_params(f.qk_norm, s)
    if keys.family == "cohere" and keys.flag("use_qk_norm"):
        qk = (s.heads + s.kv_heads) * s.head_dim
    keys.multiple(FFN[0], ffn, "2", f.ffn_divisor)
    mlp_bias = keys.flag("mlp_bias", "use_bias", default=keys.family == "starcoder2")
    return ModelSpec(
        id="", name="", **s.fields(), ffn=ffn // f.ffn_divisor, mlp_matrices=f.matrices, dense_layers=s.layers,
        tied_embeddings=tied(keys, f.tied), qkv_bias=bias, attention_output_bias=out, mlp_bias=mlp_bias, qk_norm_params=qk,
        norms_per_layer=f.norms, norm_params_per_width=f.norm_params, parallel_attention=f.parallel, max_positions=positions(keys),
        mtp_layers=keys.whole("num_nextn_predict_layers", default=0, least=0), **w.fields(),
    )  # fmt: skip


def chatglm(keys: Keys) -> ModelSpec:
    """ChatGLM2, ChatGLM3 and GLM-4 in their own key names: grouped queries by ``multi_query_group_num``."""
    grouped = keys.flag("multi_query_attention")
    s = shape(keys, kv_default=keys.whole("multi_query_group_num") if grouped else None)
    bias = keys.flag("add_bias_linear")
    return ModelSpec(
        id="", name="", **s.fields(), ffn=keys.whole("ffn_hidden_size"), mlp_matrices=3, dense_layers=s.layers, tied_embeddings=tied(keys, False),
        qkv_bias=bias or keys.flag("add_qkv_bias"), attention_output_bias=bias, mlp_bias=bias,
        norm_params_per_width=1 if keys.flag("rmsnorm", default=True) else 2, max_positions=positions(keys),
    )  # fmt: skip

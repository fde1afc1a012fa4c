"""Decoders with routed experts and ordinary attention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tierspan.formats.hf_config.common import Shape, positions, shape, tied
from tierspan.formats.hf_config.keys import Keys
from tierspan.formats.hf_config.layers import dense_layers, windows
from tierspan.quantities.errors import InputError, UnsupportedError
from tierspan.specs.model import ModelSpec

EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")
TOPK = ("num_experts_per_tok", "experts_per_token", "moe_k")


@dataclass(frozen=True, slots=True)
class Routing:
    """Experts of one layer and the layers that have none."""

    experts: int
    topk: int
    moe_ffn: int
    shared_ffn: int
    dense: int

    def fields(self) -> dict[str, Any]:
        """As fields of ``ModelSpec``."""
        return {
            "experts": self.experts, "topk": self.topk, "moe_ffn": self.moe_ffn, "shared_ffn": self.shared_ffn, "dense_layers": self.dense
        }  # fmt: skip


def routing(keys: Keys, layers: int, width_keys: tuple[str, ...] = ("moe_intermediate_size",)) -> Routing:
    """Read experts, top-k, widths and the layers without experts; the top-k may not exceed the experts."""
    experts, topk = keys.whole(*EXPERTS), keys.whole(*TOPK)
    if topk > experts:
        raise InputError("models.topk", place=keys.locate(TOPK[0]), topk=topk, experts=experts)
    width = keys.whole(*width_keys)
    shared = keys.optional("shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", "shared_intermediate_size", least=0)
    if shared is None:
        shared = keys.whole("n_shared_experts", "num_shared_experts", default=0, least=0) * width
    return Routing(experts, topk, width, shared, dense_layers(keys, layers))


def _build(keys: Keys, s: Shape, r: Routing, ffn: int, **values: Any) -> ModelSpec:
    # A width that no layer uses (Qwen3-235B prints 12288) would only mislead.
    return ModelSpec(
        **{
            "id": "", "name": "", **s.fields(), **r.fields(), "ffn": ffn if r.dense else 0, "mlp_matrices": 3, "max_positions": positions(keys),
            "tied_embeddings": tied(keys, False), **values,
        }
    )  # fmt: skip


def mixtral(keys: Keys) -> ModelSpec:
    """Mixtral, Phi-3.5-MoE and OLMoE: experts in every layer, their width is ``intermediate_size``."""
    s = shape(keys)
    r = routing(keys, s.layers, ("intermediate_size",))
    w = windows(keys, s.layers, s.layers)
    bias = keys.flag("attention_bias", default=keys.family == "phimoe")
    extra: dict[str, Any] = {}
    if keys.family == "phimoe":
        extra = {"norm_params_per_width": 2, "lm_head_bias": keys.flag("lm_head_bias")}
    if keys.family == "olmoe":
        extra = {"qk_norm_params": (s.heads + s.kv_heads) * s.head_dim}
    return _build(keys, s, r, 0, qkv_bias=bias, attention_output_bias=bias, **extra, **w.fields())


def qwen_moe(keys: Keys) -> ModelSpec:
    """Qwen2-MoE (query, key and value biases, a gated shared expert) and Qwen3-MoE (norms on queries and keys, no shared expert)."""
    s = shape(keys)
    second = keys.family == "qwen2_moe"
    r = routing(keys, s.layers)
    late = max(s.layers - (keys.optional("max_window_layers", least=0) or 0), 0)
    # Windows are off in these families unless the file switches them on.
    w = windows(keys, s.layers, late if keys.flag("use_sliding_window") else 0)
    bias = keys.flag("qkv_bias" if second else "attention_bias", default=second)
    keys.read.update(("qkv_bias", "use_qk_norm"))
    return _build(
        keys, s, r, keys.optional("intermediate_size") or 0, qkv_bias=bias, attention_output_bias=bias and not second,
        shared_expert_gate=second and r.shared_ffn > 0, qk_norm_params=0 if second else 2 * s.head_dim, **w.fields(),
    )  # fmt: skip


def shared_moe(keys: Keys) -> ModelSpec:
    """Dense layers in front and shared experts on ordinary attention: DeepSeek-MoE, GLM-4.5 and 4.6, dots.

    From GLM-4.5 on routing carries a correction bias per expert; GLM's attention bias leaves out the output projection.
    """
    s = shape(keys)
    r = routing(keys, s.layers)
    bias = keys.flag("attention_bias")
    qk = keys.flag("use_qk_norm", default=keys.family == "dots1")
    return _build(
        keys, s, r, keys.whole("intermediate_size"), qkv_bias=bias, attention_output_bias=bias and keys.family != "glm4_moe",
        router_bias=keys.family != "deepseek", qk_norm_params=2 * s.head_dim if qk else 0,
        mtp_layers=keys.whole("num_nextn_predict_layers", default=0, least=0),
    )  # fmt: skip


def gpt_oss(keys: Keys) -> ModelSpec:
    """gpt-oss: biases in attention, router and experts, attention sinks, a short window on every other layer."""
    s = shape(keys)
    r = routing(keys, s.layers, ("intermediate_size",))
    w = windows(keys, s.layers, (s.layers + 1) // 2)
    bias = keys.flag("attention_bias", default=True)
    return _build(
        keys, s, r, 0, qkv_bias=bias, attention_output_bias=bias, router_bias=True, expert_bias=True, attention_sinks=True, **w.fields()
    )  # fmt: skip


def minimax_m2(keys: Keys) -> ModelSpec:
    """MiniMax-M2: experts in every layer, norms over the full width of queries and keys; its prediction modules stay apart."""
    s = shape(keys)
    r = routing(keys, s.layers, ("intermediate_size",))
    kinds = keys.items("attn_type_list", s.layers)
    if kinds is not None and any(kind != 1 for kind in kinds):
        count = sum(1 for kind in kinds if kind != 1)
        raise UnsupportedError("models.layer_type", place=keys.locate("attn_type_list"), layer="linear attention", count=count, layers=s.layers)
    wide = (s.heads + s.kv_heads) * s.head_dim
    qk = 0
    if keys.flag("use_qk_norm"):
        qk = wide if keys.word("qk_norm_type", default="per_layer") == "per_layer" else 2 * s.head_dim
    keys.read.update(("num_mtp_modules", "mtp_transformer_layers", "use_mtp"))
    return _build(keys, s, r, 0, router_bias=keys.flag("use_routing_bias"), qk_norm_params=qk, partial=("mtp_left_out",))


def llama4(keys: Keys) -> ModelSpec:
    """Llama 4 text: experts in every ``interleave_moe_layer_step``-th layer beside a shared one, chunked attention on three layers of four."""
    s = shape(keys)
    listed = keys.layer_numbers("moe_layers", s.layers)
    step = keys.whole("interleave_moe_layer_step", default=1)
    moe = len(listed) if listed is not None else len(range(step - 1, s.layers, step))
    no_rope = keys.items("no_rope_layers") or []
    # In a full list 1 marks a layer with rotary positions and chunked attention; without it every fourth layer is global.
    local = (
        sum(1 for entry in no_rope if entry) if len(no_rope) == s.layers else s.layers - s.layers // keys.whole("no_rope_layer_interval", default=4)
    )
    w = windows(keys, s.layers, local, "attention_chunk_size")
    width = keys.whole("intermediate_size")
    topk, experts = keys.whole(*TOPK), keys.whole(*EXPERTS)
    if topk > experts:
        raise InputError("models.topk", place=keys.locate(TOPK[0]), topk=topk, experts=experts)
    r = Routing(experts, topk, width, width, s.layers - moe)
    bias = keys.flag("attention_bias")
    keys.read.add("use_qk_norm")  # its norm has no parameters
    return _build(keys, s, r, keys.whole("intermediate_size_mlp"), qkv_bias=bias, attention_output_bias=bias, **w.fields())

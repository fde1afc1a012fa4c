"""Exact parameter counts: published totals, the parts, and properties that hold for every model."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierspan.laws.counts import active_parameters, total_parameters
from tierspan.laws.parameters import kv_bytes, kv_bytes_per_token, kv_elements_per_token, parameter_counts
from tierspan.specs.arrays import ModelArrays
from tierspan.specs.model import ModelSpec
from tierspan.specs.models import model, model_ids

# Totals as the publishers' checkpoints or reports state them.
PUBLISHED = {
    "llama-2-7b": 6_738_415_616,
    "llama-2-13b": 13_015_864_320,
    "llama-2-70b": 68_976_648_192,
    "llama-3.1-8b": 8_030_261_248,
    "llama-3.1-70b": 70_553_706_496,
    "llama-3.1-405b": 405_853_388_800,
    "llama-3.2-1b": 1_235_814_400,
    "llama-3.2-3b": 3_212_749_824,
    "mistral-7b": 7_241_732_096,
    "mixtral-8x7b": 46_702_792_704,
    "qwen2.5-0.5b": 494_032_768,
    "qwen2.5-7b": 7_615_616_512,
    "qwen2.5-72b": 72_706_203_648,
    "qwen1.5-moe-a2.7b": 14_315_784_192,
    "qwen3-8b": 8_190_735_360,
    "qwen3-30b-a3b": 30_532_122_624,
    "qwen3-235b-a22b": 235_093_634_560,
    "deepseek-v2": 235_741_434_880,
    "deepseek-v2-lite": 15_706_484_224,
    "deepseek-v3": 671_026_419_200,
    "gpt-oss-20b": 20_914_757_184,
    "gpt-oss-120b": 116_829_156_672,
    "gemma-2b": 2_506_172_416,
    "gemma-7b": 8_537_680_896,
    "gemma-2-9b": 9_241_705_984,
    "gemma-2-27b": 27_227_128_320,
    "gemma-3-1b": 999_885_952,
    "gpt2": 124_439_808,
    "gpt2-xl": 1_557_611_200,
    "mpt-7b": 6_658_859_008,
    "mpt-30b": 29_975_214_080,
    "falcon-7b": 6_921_720_704,
    "falcon-40b": 41_303_293_952,
    "bloom-176b": 176_247_271_424,
    "opt-6.7b": 6_658_473_984,
    "pythia-12b": 11_846_072_320,
    "gpt-neox-20b": 20_554_567_680,
    "yi-34b": 34_388_917_248,
    "phi-3-mini": 3_821_079_552,
    "phi-4": 14_659_507_200,
}
# Sizes printed in billions.
ROUNDED = {
    "megatron-gpt-1.7b": 1.7,
    "megatron-gpt-145.6b": 145.6,
    "megatron-gpt-529.6b": 529.6,
    "megatron-gpt-1008b": 1008.0,
    "nemotron-4-15b": 15.6,
    "nemotron-4-340b": 341.0,
    "llama-4-maverick": 400.7,
    "kimi-k2": 1026.4,
    "glm-4.5": 352.8,
    "qwen3-coder-480b-a35b": 480.2,
}
ACTIVE = {
    "mixtral-8x7b": 12_879_925_248,
    "qwen3-235b-a22b": 22_190_763_520,
    "gpt-oss-120b": 5_711_982_912,
}
ALL = [model(name) for name in model_ids()]


@pytest.mark.parametrize(("name", "total"), PUBLISHED.items())
def test_totals_are_exact(name, total):
    assert parameter_counts(model(name)).total == total


@pytest.mark.parametrize(("name", "billions"), ROUNDED.items())
def test_totals_meet_printed_sizes(name, billions):
    assert parameter_counts(model(name)).total / 1e9 == pytest.approx(billions, abs=0.06)


@pytest.mark.parametrize(("name", "active"), ACTIVE.items())
def test_active_parameters(name, active):
    assert parameter_counts(model(name)).active == active


def test_prediction_block_stays_outside_the_total():
    counts = parameter_counts(model("deepseek-v3"))
    assert parameter_counts(replace(model("deepseek-v3"), mtp_layers=0)).total == counts.total
    assert counts.mtp == counts.moe_layer(256) + 2 * 7168**2 + 3 * 7168


def test_sparse_indexer_adds_what_was_published():
    extra = parameter_counts(model("deepseek-v3.2")).total - parameter_counts(model("deepseek-v3")).total
    assert extra == pytest.approx(0.85e9, rel=0.01)


@pytest.mark.parametrize("spec", ALL, ids=lambda m: m.id)
def test_parts_add_up(spec):
    c = parameter_counts(spec)
    layers = spec.dense_layers * c.dense_layer + spec.moe_layers * c.moe_layer(spec.experts)
    assert c.total == c.embedding + c.head + c.final_norm + layers
    assert 0 < c.active <= c.total
    assert (c.active == c.total) == (spec.moe_layers == 0)


def test_the_arrays_of_the_planner_agree():
    m = ModelArrays.of(ALL)
    totals, active = total_parameters(m), active_parameters(m)
    for spec, total, used in zip(ALL, totals, active, strict=True):
        counts = parameter_counts(spec)
        # The arrays leave out biases and norms inside attention.
        assert total == pytest.approx(counts.total, rel=2e-3), spec.id
        assert used == pytest.approx(counts.active, rel=0.03), spec.id


def test_cache_of_latent_attention_has_no_heads():
    assert kv_elements_per_token(model("deepseek-v3")) == 61 * (512 + 64)


def test_cache_of_grouped_queries():
    assert kv_bytes_per_token(model("llama-3.1-70b")) == 80 * 2 * 8 * 128 * 2
    assert kv_bytes_per_token(model("llama-3.1-70b"), 1) == 80 * 2 * 8 * 128


def test_cache_stops_growing_in_windowed_layers():
    m = model("gpt-oss-120b")
    per_layer = kv_bytes_per_token(m) / m.layers
    assert kv_bytes(m, 128) == pytest.approx(128 * kv_bytes_per_token(m))
    assert kv_bytes(m, 1128) - kv_bytes(m, 128) == pytest.approx(1000 * 18 * per_layer)


@st.composite
def specs(draw: st.DrawFn) -> ModelSpec:
    heads = draw(st.sampled_from([4, 8, 16]))
    layers = draw(st.integers(1, 100))
    experts = draw(st.sampled_from([0, 8, 64]))
    dense = draw(st.integers(0, layers)) if experts else layers
    return ModelSpec(
        id="x", name="x", layers=layers, hidden=draw(st.integers(1, 512)) * 16, heads=heads, kv_heads=draw(st.sampled_from([1, 2, 4])),
        head_dim=draw(st.sampled_from([32, 64, 128])), v_head_dim=64, ffn=draw(st.integers(1, 20_000)), mlp_matrices=draw(st.sampled_from([2, 3])),
        vocab=draw(st.integers(1, 300_000)), dense_layers=dense, experts=experts, topk=draw(st.integers(1, 8)) if experts else 0,
        moe_ffn=draw(st.integers(1, 4096)) if experts else 0, qkv_bias=draw(st.booleans()), mlp_bias=draw(st.booleans()),
        tied_embeddings=draw(st.booleans()),
        kv_lora_rank=draw(st.sampled_from([0, 128])), rope_head_dim=16,
    )  # fmt: skip


@given(specs())
def test_more_layers_mean_more_parameters(spec):
    deeper = replace(spec, layers=spec.layers + 1, dense_layers=spec.dense_layers + (1 if not spec.experts else 0))
    assert parameter_counts(deeper).total > parameter_counts(spec).total
    assert kv_elements_per_token(deeper) > kv_elements_per_token(spec)


@given(specs())
def test_active_never_exceeds_total(spec):
    counts = parameter_counts(spec)
    assert 0 < counts.active <= counts.total


@given(specs())
def test_tying_saves_one_table(spec):
    tied, free = replace(spec, tied_embeddings=True), replace(spec, tied_embeddings=False)
    assert parameter_counts(free).total - parameter_counts(tied).total == spec.vocab * spec.hidden

"""The operators of a layer: a small layer by hand, and how they split over tensor and expert parallel ranks."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from tierspan.laws.operators import LayerTimes, Rates, layer_times, logits_time
from tierspan.specs.arrays import ModelArrays, StrategyBatch
from tierspan.specs.model import ModelSpec
from tierspan.specs.profile.constants import Constants
from tierspan.specs.strategy import Job, Strategy

LLAMA = ModelSpec("l", "l", 4, 1024, 16, 4, 64, 64, 4096, 3, 32000, 4)
MOE = replace(LLAMA, dense_layers=0, experts=16, topk=4, moe_ffn=512)
MLA = replace(LLAMA, q_lora_rank=256, kv_lora_rank=128, rope_head_dim=32, head_dim=96, kv_heads=16)


def constants(**values: float) -> Constants:
    """Free of all overheads unless said otherwise: one FLOP/s a FLOP/s (a quarter in the router), no half sizes, no passes."""
    given = (
        {f.name: 1.0 for f in fields(Constants)}
        | dict.fromkeys(
            (
                "half_m",
                "half_k",
                "grouped_half_m",
                "hidden_passes",
                "ffn_passes",
                "permute_passes",
                "softmax_bytes",
                "loss_bytes",
                "cast_bytes",
                "score_width",
            ),
            0.0,
        )
        | {"router_rate": 0.25}
    )
    return Constants(**{name: np.array([float(v)]) for name, v in (given | values).items()})


def rates(flops: float = 1e12, attention: float = 1e11, memory: float = 1e30, low: float = 0, flash: float = 1) -> Rates:
    return Rates(*(np.array([float(v)]) for v in (flops, flops, attention, memory, low, flash)))


def times(model: ModelSpec, plan: Strategy | None = None, rate: Rates | None = None, c: Constants | None = None, n: int = 64) -> LayerTimes:
    batch = StrategyBatch.of([(plan or Strategy(), Job(2048, 64), n)])
    return layer_times(ModelArrays.of([model]), batch, rate or rates(), c or constants())


def test_a_dense_layer_by_hand() -> None:
    t = times(LLAMA)
    # q 1024 x 1024, k and v 1024 x 256 each, o 1024 x 1024
    assert t.attention_gemm[0] == pytest.approx(2 * 2048 * 1024 * (1024 + 512 + 1024) / 1e12)
    assert t.dense_gemm[0] == pytest.approx(2 * 2048 * 3 * 1024 * 4096 / 1e12)
    assert t.attention_core[0] == pytest.approx(2 * 2048 * 1024 * 16 * 128 / 1e11)
    assert t.moe_gemm[0] == t.moe_pass[0] == 0


def test_memory_bound_passes_by_hand() -> None:
    t = times(LLAMA, rate=rates(memory=1e12), c=constants(hidden_passes=10, ffn_passes=2))
    qkv = 4 * 2 * 2048 * (1024 + 4 * 64)
    assert t.attention_pass[0] == pytest.approx((10 * 2 * 2048 * 1024 + qkv) / 1e12)
    # two up matrices of a gated MLP
    assert t.dense_pass[0] == pytest.approx(2 * 2 * 2048 * 4096 * 2 / 1e12)


def test_scores_that_are_written_cost_memory() -> None:
    fused = times(LLAMA, rate=rates(memory=1e12))
    plain = times(LLAMA, rate=rates(memory=1e12, flash=0), c=constants(softmax_bytes=5))
    # twice the keys, and 5 bytes a score
    assert plain.attention_core[0] == pytest.approx(2 * fused.attention_core[0] + 5 * 2048 * 2048 * 16 / 1e12)


def test_windowed_layers_see_fewer_keys() -> None:
    half = replace(LLAMA, window=512, windowed_layers=2)
    keys = (1024 + (512 - 512**2 / 4096)) / 2
    assert times(half).attention_core[0] / times(LLAMA).attention_core[0] == pytest.approx(keys / 1024)


def test_latent_attention_multiplies_its_low_rank_matrices() -> None:
    t = times(MLA)
    width = 1024 * 256 + 256 * 16 * 96 + 1024 * (128 + 32) + 128 * 16 * (64 + 64) + 16 * 64 * 1024
    assert t.attention_gemm[0] == pytest.approx(2 * 2048 * width / 1e12)
    direct = times(replace(MLA, q_lora_rank=0))
    assert direct.attention_gemm[0] == pytest.approx(2 * 2048 * (width - 1024 * 256 - 256 * 16 * 96 + 1024 * 16 * 96) / 1e12)


@pytest.mark.parametrize("tp", [2, 4])
def test_tensor_ranks_share_the_work(tp: int) -> None:
    c = constants(hidden_passes=10, ffn_passes=2)
    whole, part = (times(LLAMA, Strategy(tp=n), rates(memory=1e12), c) for n in (1, tp))
    for name in ("attention_gemm", "attention_core", "dense_gemm", "attention_pass", "dense_pass"):
        assert getattr(part, name)[0] * tp == pytest.approx(getattr(whole, name)[0]), name


def test_without_sequence_parallelism_every_rank_passes_over_all_of_the_hidden_width() -> None:
    c = constants(hidden_passes=10)
    both = (times(LLAMA, Strategy(tp=4, sp=sp), rates(memory=1e12), c).attention_pass[0] for sp in (False, True))
    assert next(both) - next(both) == pytest.approx(10 * 2 * 2048 * 1024 * (1 - 1 / 4) / 1e12)


def test_context_parallel_ranks_share_the_tokens() -> None:
    whole, part = times(LLAMA), times(LLAMA, Strategy(cp=4))
    for name in ("attention_gemm", "attention_core", "dense_gemm"):
        assert getattr(part, name)[0] * 4 == pytest.approx(getattr(whole, name)[0]), name


def test_micro_batches_add() -> None:
    one, three = times(LLAMA), times(LLAMA, Strategy(micro_batch=3))
    assert three.dense_gemm[0] == pytest.approx(3 * one.dense_gemm[0])
    assert three.attention_core[0] == pytest.approx(3 * one.attention_core[0])


def test_a_small_product_is_slower_per_token_where_tiles_are_large() -> None:
    c = constants(half_m=64, half_k=64)
    assert 4 * times(LLAMA, Strategy(tp=4), c=c).dense_gemm[0] > 1.02 * times(LLAMA, c=c).dense_gemm[0]


def test_experts_multiply_the_chosen_tokens() -> None:
    t = times(MOE)
    router = 2 * 2048 * 1024 * 16 / 0.25e12
    assert t.moe_gemm[0] == pytest.approx(2 * 2048 * 4 * 3 * 1024 * 512 / 1e12 + router)
    assert times(replace(MOE, topk=8)).moe_gemm[0] - router == pytest.approx(2 * (t.moe_gemm[0] - router))


def test_shared_experts_work_on_every_token() -> None:
    t, shared = times(MOE), times(replace(MOE, shared_ffn=512))
    assert shared.moe_gemm[0] - t.moe_gemm[0] == pytest.approx(2 * 2048 * 3 * 1024 * 512 / 1e12)


def test_expert_parallel_ranks_work_on_as_many_tokens_in_larger_groups() -> None:
    c = constants(grouped_half_m=64)
    alone, spread = times(MOE, c=c).moe_gemm[0], times(MOE, Strategy(ep=8), c=c).moe_gemm[0]
    router = 2 * 2048 * 1024 * 16 / 0.25e12
    work = 2 * 2048 * 4 * 3 * 1024 * 512 / 1e12
    # 512 tokens an expert alone, 4,096 where eight ranks bring theirs
    assert alone - router == pytest.approx(work * (1 + 64 / 512))
    assert spread - router == pytest.approx(work * (1 + 64 / 4096))


@pytest.mark.parametrize("etp", [1, 2, 4])
def test_tensor_ranks_share_the_experts_whole_or_cut(etp: int) -> None:
    """Each of four ranks does a quarter of the expert work, on whole experts for its own tokens or on slices for the tokens of its group."""
    router = 2 * 2048 * 1024 * 16 / 0.25e12
    work = 2 * 2048 * 4 * 3 * 1024 * 512 / 1e12
    assert times(MOE, Strategy(tp=4, etp=etp)).moe_gemm[0] == pytest.approx((work + router) / 4)


def test_expert_weights_are_read_at_least_once() -> None:
    slow = times(MOE, rate=rates(memory=1e9))
    assert slow.moe_gemm[0] >= 2 * 16 * 3 * 1024 * 512 / 1e9


def test_low_precision_pays_for_its_casts() -> None:
    c = constants(cast_bytes=3)
    low, plain = (times(LLAMA, rate=rates(memory=1e12, low=flag), c=c) for flag in (1, 0))
    # the operand of up and gate together, and that of down
    assert low.dense_gemm[0] - plain.dense_gemm[0] == pytest.approx(3 * 2048 * (1024 + 4096) / 1e12)


def test_dense_rows_and_expert_rows_keep_apart() -> None:
    models = ModelArrays.of([LLAMA, MOE])
    batch = StrategyBatch.of([(Strategy(), Job(2048, 64), 64)] * 2)
    both = layer_times(models, batch, rates(), constants())
    for f in fields(LayerTimes):
        alone = [getattr(times(m), f.name)[0] for m in (LLAMA, MOE)]
        np.testing.assert_array_equal(np.broadcast_to(getattr(both, f.name), (2,)), alone, err_msg=f.name)


def test_logits_by_hand() -> None:
    batch = StrategyBatch.of([(Strategy(tp=2), Job(2048, 64), 64)])
    product, loss = logits_time(ModelArrays.of([LLAMA]), batch, rates(memory=1e15), constants(logits_efficiency=0.5, loss_bytes=14))
    assert product[0] == pytest.approx(2 * 2048 * 16000 * 1024 / 0.5e12)
    assert loss[0] == pytest.approx(14 * 2048 * 16000 / 1e15)


def test_experts_with_biases_pass_over_their_rows_again() -> None:
    """Four passes over gate and up, two over the gate's product, two over the output, in 16 bits."""
    free, biased = (times(replace(MOE, expert_bias=b), rate=rates(memory=1e12)) for b in (False, True))
    routed = 2048 * 4
    assert biased.moe_pass[0] - free.moe_pass[0] == pytest.approx(2 * routed * (4 * 2 * 512 + 2 * 512 + 2 * 1024) / 1e12)
    assert biased.moe_gemm[0] == free.moe_gemm[0]
    dense = times(replace(LLAMA, expert_bias=True), rate=rates(memory=1e12))
    assert dense.dense_pass[0] == times(LLAMA, rate=rates(memory=1e12)).dense_pass[0]


def test_biases_of_split_experts_split_too() -> None:
    def extra(tp: int) -> float:
        free, biased = (times(replace(MOE, expert_bias=b), Strategy(tp=tp), rate=rates(memory=1e12)) for b in (False, True))
        return float(biased.moe_pass[0] - free.moe_pass[0])

    assert extra(4) == pytest.approx(extra(1) / 4)

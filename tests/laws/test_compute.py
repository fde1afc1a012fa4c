"""Seconds of products, attention and joint work: hand-solved cases and bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierspan.laws.compute import attention_flops, gemm_s, mean_context, soft_max_s
from tierspan.laws.flops import model_flops_per_step
from tierspan.specs.arrays import Array, ModelArrays, StrategyBatch
from tierspan.specs.model import ModelSpec
from tierspan.specs.models import model
from tierspan.specs.strategy import Job, Strategy


def a(value: float) -> Array:
    return np.array([float(value)])


def gemm(m: float, n: float, k: float, rate: float = 1e15, half_m: float = 0, half_k: float = 0, memory: float = 1e30, element: float = 2) -> float:
    return float(gemm_s(a(m), a(n), a(k), a(rate), a(half_m), a(half_k), a(memory), a(element))[0])


def context(sequence: float, window: float, causal_half: bool) -> float:
    return float(mean_context(a(sequence), a(window), a(causal_half))[0])


def joint(device: float, host: float, power: float) -> float:
    return float(soft_max_s(a(device), a(host), a(power))[0])


def test_a_large_product_runs_at_the_rate() -> None:
    # 2 x 4096 x 8192 x 1024 = 68.7 GFLOP at 1 PFLOP/s
    assert gemm(4096, 8192, 1024) == pytest.approx(6.8719476736e-5)


def test_a_product_of_half_size_takes_twice_as_long() -> None:
    plain = gemm(64, 1e9, 1e9)
    assert gemm(64, 1e9, 1e9, half_m=64) == pytest.approx(2 * plain)
    assert gemm(1e9, 1e9, 64, half_k=64) == pytest.approx(2 * gemm(1e9, 1e9, 64))


def test_a_narrow_product_waits_for_memory() -> None:
    # one row: (1 x 4096 + 4096 x 4096 + 1 x 4096) x 2 bytes at 2 TB/s
    assert gemm(1, 4096, 4096, memory=2e12) == pytest.approx(2 * (4096 + 4096**2 + 4096) / 2e12)
    assert gemm(1, 4096, 4096, memory=2e12, element=1) == pytest.approx((4096 + 4096**2 + 4096) / 2e12)


def test_attention_of_eight_heads_by_hand() -> None:
    # 2 x 1024 tokens x 512 keys x 8 heads x (128 + 128)
    assert attention_flops(a(1024), a(512), a(8), a(128), a(128))[0] == 2_147_483_648


@pytest.mark.parametrize(
    ("sequence", "window", "causal_half", "keys"),
    [
        (4096, 0, True, 2048),
        (4096, 0, False, 4096),
        (4096, 1024, True, 1024 - 1024**2 / 8192),
        (4096, 1024, False, 1024),
        (4096, 4096, True, 2048),
        (4096, 9000, True, 2048),
        (4096, 9000, False, 4096),
    ],
)
def test_mean_keys_of_a_query(sequence: int, window: int, causal_half: bool, keys: float) -> None:
    assert context(sequence, window, causal_half) == keys


def test_mean_keys_under_a_window_agree_with_counting() -> None:
    counted = np.mean([min(i + 1, 100) for i in range(1000)])
    assert context(1000, 100, True) == pytest.approx(counted, rel=0.01)


def test_joint_time_of_equal_parts() -> None:
    assert joint(3, 4, 1) == 7
    assert joint(3, 4, 2) == pytest.approx(5)
    assert joint(3, 4, 60) == pytest.approx(4)


LENGTH = st.floats(1, 1e6)
HALF = st.floats(0, 1e3)


@given(m=LENGTH, n=LENGTH, k=LENGTH, half_m=HALF, half_k=HALF, memory=st.floats(1e11, 1e13), rate=st.floats(1e13, 1e16))
def test_a_product_is_never_above_the_rate_nor_above_memory(
    m: float, n: float, k: float, half_m: float, half_k: float, memory: float, rate: float
) -> None:
    seconds = gemm(m, n, k, rate, half_m, half_k, memory)
    assert 2 * m * n * k / seconds <= rate * (1 + 1e-12)
    assert 2 * (m * k + k * n + m * n) / seconds <= memory * (1 + 1e-12)


@given(m=LENGTH, n=LENGTH, k=LENGTH, half=HALF, more=st.floats(1, 8), side=st.integers(0, 2))
def test_a_larger_product_never_takes_less_time(m: float, n: float, k: float, half: float, more: float, side: int) -> None:
    larger = [m, n, k]
    larger[side] *= more
    assert gemm(*larger, half_m=half, half_k=half, memory=1e12) >= gemm(m, n, k, half_m=half, half_k=half, memory=1e12) * (1 - 1e-12)


@given(m=LENGTH, n=LENGTH, k=LENGTH, half=HALF, scale=st.floats(0.01, 100))
def test_rate_and_memory_scale_time(m: float, n: float, k: float, half: float, scale: float) -> None:
    one = gemm(m, n, k, 1e15, half, half, 1e12)
    assert gemm(m, n, k, 1e15 * scale, half, half, 1e12 * scale) * scale == pytest.approx(one, rel=1e-9)


@given(sequence=st.floats(1, 1e6), window=st.floats(1, 1e6), wider=st.floats(1, 10), causal_half=st.booleans())
def test_a_wider_window_never_sees_less_and_never_more_than_all(sequence: float, window: float, wider: float, causal_half: bool) -> None:
    narrow, wide, full = (context(sequence, w, causal_half) for w in (window, window * wider, 0))
    assert 0 < narrow <= wide * (1 + 1e-12)
    assert wide <= full * (1 + 1e-12)


@given(device=st.floats(1e-9, 1e3), host=st.floats(1e-9, 1e3), power=st.floats(1, 60))
def test_joint_time_lies_between_the_longer_and_the_sum(device: float, host: float, power: float) -> None:
    time = joint(device, host, power)
    assert max(device, host) * (1 - 1e-12) <= time <= (device + host) * (1 + 1e-12)
    assert time == pytest.approx(joint(host, device, power))
    assert joint(device, host, power + 1) <= time * (1 + 1e-12)


@given(scale=st.floats(1e-6, 1e6), device=st.floats(1e-3, 1e3), host=st.floats(1e-3, 1e3))
def test_joint_time_is_free_of_scale(scale: float, device: float, host: float) -> None:
    assert joint(device * scale, host * scale, 3) == pytest.approx(scale * joint(device, host, 3))


# model FLOP


def flops(spec: ModelSpec, sequence: int = 8192, batch: int = 128, **plan: object) -> float:
    strategies = StrategyBatch.of([(Strategy(**plan), Job(sequence, batch), 64)])  # type: ignore[arg-type]
    return float(model_flops_per_step(ModelArrays.of([spec]), strategies)[0])


def test_llama_8b_by_hand() -> None:
    # matrices: 32 layers of (q 4096^2, k and v 4096 x 1024 each, o 4096^2, 3 x 4096 x 14336), and the head 4096 x 128256
    matrices = 32 * (2 * 4096**2 + 2 * 4096 * 1024 + 3 * 4096 * 14336) + 4096 * 128256
    assert matrices == 7_504_658_432
    tokens = 128 * 8192
    # scores and weighted sum: 2 x 2 x 4096 x (8192 / 2 keys) a token and layer, three times for both ways
    attention = 3 * 32 * 4 * 4096 * 4096 * tokens
    assert flops(model("llama-3.1-8b")) == pytest.approx(6 * matrices * tokens + attention, rel=1e-12)


def test_plan_and_recompute_change_no_model_flop() -> None:
    plain = flops(model("llama-3.1-8b"))
    assert flops(model("llama-3.1-8b"), tp=8, pp=4, recompute="full", zero=3, micro_batch=2) == plain


def test_an_idle_expert_costs_nothing_but_its_router_column() -> None:
    moe = ModelSpec("m", "m", 4, 1024, 8, 8, 128, 128, 0, 3, 1000, 0, experts=8, topk=2, moe_ffn=512)
    more = ModelSpec("m", "m", 4, 1024, 8, 8, 128, 128, 0, 3, 1000, 0, experts=16, topk=2, moe_ffn=512)
    assert flops(more) - flops(moe) == pytest.approx(6 * 128 * 8192 * 4 * 1024 * 8)


def test_windows_only_lower_attention() -> None:
    full = ModelSpec("w", "w", 4, 1024, 8, 8, 128, 128, 4096, 3, 1000, 4)
    half = ModelSpec("w", "w", 4, 1024, 8, 8, 128, 128, 4096, 3, 1000, 4, window=1024, windowed_layers=2)
    tokens, wide, narrow = 128 * 8192, 8192 / 2, 1024 - 1024**2 / (2 * 8192)
    assert flops(full) - flops(half) == pytest.approx(3 * 2 * 4 * 1024 * tokens * (wide - narrow))

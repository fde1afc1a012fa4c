"""Bytes that a rank sends: against counts by hand, against each other by tier, and against seconds x achievable bandwidth."""

import math

import numpy as np
import pytest

import tierspan as ts
from tierspan.answers.volumes import ring_share
from tierspan.laws.groups import group_span
from tierspan.specs.models import model
from tierspan.specs.stacks.stack import stack

GPT3 = {"system": "dgx-h100", "accelerators": 1024, "model": "gpt3-175b", "sequence_length": 2048, "global_batch": 1536, "tp": 8, "pp": 8}
LLAMA = {"system": "dgx-h100", "accelerators": 64, "model": "llama-3.1-8b", "sequence_length": 8192, "global_batch": 64}
DEEPSEEK = {
    "system": "hgx-b200", "accelerators": 256, "model": "deepseek-v3", "sequence_length": 4096, "global_batch": 2048, "tp": 1, "pp": 4, "vpp": 4,
    "ep": 64, "precision": "fp8", "recompute": "full",
}  # fmt: skip


def sent(prediction, kind, tier_kind=None):
    kinds = {t.name: t.kind for t in prediction.tiers}
    return sum(t.bytes_per_rank for t in prediction.traffic if t.kind == kind and tier_kind in (None, kinds[t.tier]))


@pytest.mark.parametrize("sp", [True, False])
def test_tensor_parallel_bytes_are_four_all_reduces_a_layer_and_micro_batch(sp):
    found = ts.predict(**GPT3, sp=sp)
    # 96 layers on 8 stages, 1536 sequences over 16 replicas one by one: 12 layers x 96 micro-batches; an all-reduce of s b h elements of 2 bytes
    each = 4 * 2 * 7 / 8 * (2048 * 1 * 12288 * 2)
    (traffic,) = (t for t in found.traffic if t.kind == "tp")
    assert traffic.bytes_per_layer == pytest.approx(each)
    assert traffic.bytes_per_rank == pytest.approx(12 * 96 * each)
    assert sent(found, "tp", "scale-out") == 0.0


def test_full_recomputation_sends_the_forward_part_again():
    assert sent(ts.predict(**GPT3, recompute="full"), "tp") == pytest.approx(1.5 * sent(ts.predict(**GPT3), "tp"))


def test_pipeline_bytes_are_activations_forward_and_gradients_backward():
    assert sent(ts.predict(**GPT3), "pp") == pytest.approx(2 * 96 * 2048 * 12288 * 2 / 8)
    assert sent(ts.predict(**GPT3, vpp=2), "pp") == pytest.approx(2 * 2 * 96 * 2048 * 12288 * 2 / 8)


def parameters_8b():
    # every weight of the 8B model but the output layer stands on each of 64 data-parallel ranks, as the step counts them
    m = model("llama-3.1-8b")
    attention = m.hidden * m.head_dim * (2 * m.heads + 2 * m.kv_heads)
    return m.layers * (attention + 3 * m.hidden * m.ffn + 2 * m.hidden) + m.vocab * m.hidden


@pytest.mark.parametrize(("name", "gradient"), [("megatron-core", 2), ("torchtitan", 4)])
@pytest.mark.parametrize("zero", [0, 1, 3])
def test_data_parallel_bytes_by_zero_level(zero, name, gradient):
    """An all-reduce of gradients (``gradient`` bytes a parameter); or a reduce-scatter of them and gathers of parameters in 2 bytes."""
    found = ts.predict(**LLAMA, zero=zero, stack=name, micro_batch=1)
    assert found.case.micro_batches == 1
    per_parameter = {0: 2 * gradient, 1: gradient + 2, 3: gradient + 2 * 2}[zero]
    assert sent(found, "dp") == pytest.approx(63 / 64 * parameters_8b() * per_parameter)


def test_zero_2_reduces_in_every_micro_batch():
    one, two = (ts.predict(**{**LLAMA, "global_batch": 256}, zero=zero, micro_batch=1) for zero in (1, 2))
    assert one.case.micro_batches == 4
    # a quarter of a ZeRO-1 step's reduce-scatters; both gather the parameters once
    gradients, gathered = sent(one, "dp") / 2, sent(one, "dp") / 2
    assert sent(two, "dp") == pytest.approx(4 * gradients + gathered)


def test_sharding_inside_the_node_keeps_most_bytes_there():
    whole, inside = ts.predict(**LLAMA, zero=3), ts.predict(**LLAMA, zero=3, shard_group=8)
    wire = parameters_8b()
    assert sent(inside, "dp", "scale-up") == pytest.approx(7 / 8 * wire * 6)
    # across 8 groups an all-reduce of the eighth that a rank holds
    assert sent(inside, "dp", "scale-out") == pytest.approx(2 * 7 / 8 * wire / 8 * 2)
    assert sent(whole, "dp", "scale-out") == pytest.approx(63 / 64 * wire * 6 / 8)


def test_expert_bytes_by_tier():
    found = ts.predict(**{**DEEPSEEK, "recompute": "none"}, dispatcher="alltoall", stack="megatron-core")
    m = model("deepseek-v3")
    (first, *_), kinds = [t for t in found.traffic if t.kind == "ep"], {t.name: t.kind for t in found.tiers}
    each = {kinds[t.tier]: t.bytes_per_layer for t in found.traffic if t.kind == "ep"}
    # dispatch and combine forward and backward, 8 copies of a token; of 64 ranks 7 peers stand in the node and 56 outside
    once = 2 * 4096 * 8 * m.hidden * (stack("megatron-core").dispatch_bytes + 2)
    share = 1 - m.dense_layers / m.layers
    assert each["scale-up"] == pytest.approx(once * 7 / 64 * share)
    assert each["scale-out"] == pytest.approx(once * 56 / 64 * share)
    assert kinds[first.tier] == "scale-out"
    assert [t.exposed_s for t in found.traffic if t.kind == "ep"][1] == 0.0
    # a token that goes once to a node crosses less often
    assert sent(ts.predict(**DEEPSEEK, dispatcher="deepep"), "ep", "scale-out") < 0.8 * sent(ts.predict(**DEEPSEEK), "ep", "scale-out")


@pytest.mark.parametrize(
    ("given", "kind", "most"),
    [
        ({**GPT3, "zero": 0}, "dp", 1.02),
        ({**LLAMA, "accelerators": 8}, "dp", 1.15),
        ({**LLAMA, "zero": 3, "shard_group": 8}, "dp", 1.15),
        (DEEPSEEK, "ep", 1.03),
        ({**DEEPSEEK, "system": "gb200-nvl72"}, "ep", 1.03),
        (DEEPSEEK, "pp", 1.05),
    ],
)
def test_bytes_and_seconds_agree_where_bandwidth_binds(given, kind, most):
    """Seconds (shown and hidden) x achievable bandwidth of the tier come to the bytes, and a little more for latency; never to fewer."""
    found = ts.predict(**given)
    rate = {t.name: t.achievable_Bps for t in found.tiers}
    timed = [t for t in found.traffic if t.kind == kind and t.exposed_s + t.hidden_s > 0]
    assert timed
    for t in timed:
        assert 1.0 <= (t.exposed_s + t.hidden_s) * rate[t.tier] / t.bytes_per_rank < most


@pytest.mark.parametrize("given", [GPT3, {**GPT3, "tp": 16}, LLAMA, {**LLAMA, "zero": 3}, DEEPSEEK])
def test_no_traffic_is_faster_than_its_tier(given):
    found = ts.predict(**given)
    rate = {t.name: t.achievable_Bps for t in found.tiers}
    timed = [t for t in found.traffic if t.exposed_s + t.hidden_s > 0 and t.kind != "tp"]
    assert all((t.exposed_s + t.hidden_s) * rate[t.tier] >= t.bytes_per_rank * (1 - 1e-9) for t in timed)


def test_parts_of_a_ring_add_up():
    size, stride = np.meshgrid([1.0, 2.0, 8.0, 64.0, 1000.0], [1.0, 4.0, 8.0, 128.0])
    domain = np.array([[8.0], [512.0], [np.inf], [np.inf]]) * np.ones(size.size)
    group = group_span(size.ravel(), stride.ravel(), domain)
    shares = [ring_share(group, t) for t in range(4)]
    assert all((share >= 0).all() for share in shares)
    assert sum(shares) == pytest.approx(np.ones(size.size))


def test_a_plan_that_cannot_run_sends_nothing():
    found = ts.predict(**{**GPT3, "tp": 7})
    assert found.status == "invalid"
    assert found.traffic == ()


def test_nothing_is_sent_on_one_accelerator():
    found = ts.predict(system="dgx-h100", accelerators=1, model="qwen3-0.6b", sequence_length=4096, global_batch=8)
    assert found.traffic == ()


def test_layer_bytes_belong_to_layers_only():
    found = ts.predict(**DEEPSEEK)
    assert all((t.bytes_per_layer is None) == (t.kind in ("pp", "dp")) for t in found.traffic)
    assert all(math.isfinite(t.bytes_per_rank) for t in found.traffic)

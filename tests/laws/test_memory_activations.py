"""Hand-solved cases of Korthikanti et al. 2022, table 2 and section 4.2."""

from dataclasses import replace

import numpy as np
import pytest

from tierspan.laws.memory import memory_priors, memory_terms
from tierspan.laws.memory.activations import gathered_micro_batches, layer_bytes_per_token
from tierspan.laws.memory.stages import full_stage_layers, micro_batches_in_flight, stages
from tierspan.laws.memory.transients import logit_bytes
from tierspan.specs.arrays import ModelArrays, StrategyBatch
from tierspan.specs.model import ModelSpec
from tierspan.specs.strategy import Job, Strategy

H, A, S, B = 6144, 64, 2048, 4
GPT_22B = ModelSpec("g", "g", 48, H, A, A, H // A, H // A, 4 * H, 2, 51200, 48)
GQA = replace(GPT_22B, kv_heads=8)
PAPER = memory_priors().with_values({"flash": 0.0})


def plans(*strategies: Strategy, n: int = 64, batch: int = 1024) -> StrategyBatch:
    return StrategyBatch.of([(p, Job(S, batch), n) for p in strategies])


def per_layer(strategy: Strategy, model: ModelSpec = GPT_22B) -> float:
    s = plans(strategy)
    return float(layer_bytes_per_token(ModelArrays.of([model]), s, PAPER)[0][0]) * S * strategy.micro_batch


@pytest.mark.parametrize("t", [1, 2, 8])
def test_tensor_parallel(t: int) -> None:
    assert per_layer(Strategy(tp=t, sp=False, micro_batch=B)) == pytest.approx(S * B * H * (10 + 24 / t + 5 * A * S / (H * t)))


@pytest.mark.parametrize("t", [1, 2, 8])
def test_tensor_and_sequence_parallel(t: int) -> None:
    assert per_layer(Strategy(tp=t, sp=True, micro_batch=B)) == pytest.approx(S * B * H / t * (34 + 5 * A * S / H))


def test_selective_recomputation_drops_the_scores() -> None:
    got = per_layer(Strategy(tp=8, sp=True, micro_batch=B, recompute="selective"))
    assert got == pytest.approx(S * B * H / 8 * 34 + 4 * S * B * A / 8)


def test_full_recomputation_keeps_inputs_and_one_layer() -> None:
    p = plans(Strategy(tp=8, sp=False, micro_batch=B, recompute="full"), n=8)
    terms = memory_terms(ModelArrays.of([GPT_22B]), p, PAPER)
    layer = S * B * (H * (10 + 24 / 8) + 4 * A / 8)
    ends = 2 * (2 * S * B * H)
    assert float(terms.activations[0]) == pytest.approx(48 * 2 * S * B * H + layer + ends)


def test_fewer_key_value_heads_keep_less() -> None:
    saved = per_layer(Strategy(sp=False)) - per_layer(Strategy(sp=False), GQA)
    assert saved == pytest.approx(S * 2 * 2 * H * (1 - 8 / 64))


def test_context_parallel_splits_tokens() -> None:
    m = ModelArrays.of([GPT_22B])
    c = memory_priors()
    one, four = (memory_terms(m, plans(Strategy(cp=k)), c) for k in (1, 4))
    assert float(four.activations[0]) == pytest.approx(float(one.activations[0]) / 4)


def test_routed_tokens_are_kept_topk_times() -> None:
    moe = replace(GPT_22B, dense_layers=0, experts=8, topk=2, moe_ffn=4 * H, ffn=0)
    s = plans(Strategy(sp=False))
    m = ModelArrays.of([moe])
    dense, routed = layer_bytes_per_token(m, s, PAPER)
    assert float((routed - dense)[0]) == pytest.approx(2 * 2 * (2 * H + 2 * 4 * H))


@pytest.mark.parametrize(
    ("strategy", "first", "last"),
    [
        (Strategy(pp=8), 8, 1),
        (Strategy(pp=8, vpp=4), 8 * (1 + 7 / (8 * 4)), (3 * 8 + 1) / 4),
        (Strategy(pp=8, schedule="gpipe"), 128, 128),
        (Strategy(pp=8, schedule="zb-h1"), 8, 8),
        (Strategy(pp=8, schedule="zb-h2"), 15, 15),
        (Strategy(pp=8, schedule="dualpipe"), 9, 9),
    ],
)
def test_micro_batches_in_flight(strategy: Strategy, first: float, last: float) -> None:
    s = plans(strategy)
    assert float(s.micro_batches[0]) == 128
    zero = s.pp * 0
    assert float(micro_batches_in_flight(s, zero)[0]) == pytest.approx(first)
    assert float(micro_batches_in_flight(s, s.pp - 1)[0]) == pytest.approx(last)


def test_dualpipe_without_a_pipeline_keeps_one() -> None:
    assert float(micro_batches_in_flight(plans(Strategy(schedule="dualpipe")), np.zeros(1))[0]) == 1


def test_no_more_in_flight_than_there_are() -> None:
    s = plans(Strategy(pp=8), batch=16)
    assert float(micro_batches_in_flight(s, s.pp * 0)[0]) == 2


def test_a_host_that_runs_ahead_reserves_more_gathered_copies() -> None:
    c = memory_priors().with_values({"gather_free": 2.0})
    m = ModelArrays.of([GPT_22B])

    def held(micro_batch: int, batch: int) -> float:
        s = plans(Strategy(tp=8, pp=4, micro_batch=micro_batch), batch=batch)
        return float(gathered_micro_batches(m, s, c, stages(m, s, 0.0)[0])[0])

    assert held(1, 256) == 2.0  # 4 in flight less 2
    assert held(64, 64 * 256) == 4.0  # long kernels, and more micro-batches than are in flight
    assert held(64, 64 * 4) <= 2.0 + 2.0


@pytest.mark.parametrize(("rule", "full"), [(0.0, 12.0), (1.0, 13.0), (2.0, 13.0), (3.0, 12.0)])
def test_layers_of_the_fullest_stage(rule: float, full: float) -> None:
    # The head weighs 51200 / (12 H) = 0.69 layers: (48 + 0.69) / 4 = 12.2.
    assert float(full_stage_layers(ModelArrays.of([GPT_22B]), plans(Strategy(pp=4)), rule)[0]) == full


def test_a_share_that_comes_out_even_takes_one_more_under_rule_two() -> None:
    heavy = replace(GPT_22B, vocab=0)
    s = plans(Strategy(pp=4))
    assert [float(full_stage_layers(ModelArrays.of([heavy]), s, r)[0]) for r in (1.0, 2.0)] == [12.0, 13.0]


def test_stages_hold_every_layer_once() -> None:
    mixed = replace(GPT_22B, dense_layers=3, experts=8, topk=2, moe_ffn=H)
    found = stages(ModelArrays.of([mixed]), plans(Strategy(pp=3)), 0.0)
    assert [float(found[i].dense_layers[0]) for i in (0, 1, 2)] == [3.0, 0.0, 0.0]
    assert sum(float(found[i].layers[0]) for i in (0, 1, 2)) == 48


def test_logits_stand_on_the_last_stage_and_are_split() -> None:
    m, c = ModelArrays.of([GPT_22B]), memory_priors()
    s = plans(Strategy(tp=8, pp=2, micro_batch=B))
    found = stages(m, s, 0.0)
    assert float(logit_bytes(m, s, c, found[0])[0]) == 0
    assert float(logit_bytes(m, s, c, found[2])[0]) == pytest.approx(10 * S * B * 51200 / 8)


def test_the_last_stage_takes_what_is_left() -> None:
    ten = replace(GPT_22B, layers=10, dense_layers=10)
    found = stages(ModelArrays.of([ten]), plans(Strategy(pp=4)), 0.0)
    assert [float(found[i].layers[0]) for i in (0, 2)] == [3.0, 1.0]

"""Hand-solved cases of Rajbhandari et al. 2020, figure 1: 16 bytes a parameter, 7.5 billion parameters on 64 ranks."""

import numpy as np
import pytest

from tierspan.laws import counts
from tierspan.laws.memory import memory_priors
from tierspan.laws.memory.stages import stages
from tierspan.laws.memory.static import StageParameters, stage_parameters, static_terms
from tierspan.specs.arrays import ModelArrays, StrategyBatch
from tierspan.specs.model import ModelSpec
from tierspan.specs.strategy import Job, Strategy

PAPER = memory_priors().with_values({"gradient_bytes": 2.0, "gathered_layers": 0.0})
DENSE = ModelSpec("a", "a", 8, 1024, 16, 16, 64, 64, 4096, 3, 32000, 8)
MOE = ModelSpec("m", "m", 8, 1024, 16, 16, 64, 64, 0, 3, 32000, 0, experts=16, topk=2, moe_ffn=2048)


def batch(strategy: Strategy, n: int, **job: object) -> StrategyBatch:
    return StrategyBatch.of([(strategy, Job(4096, 1024, **job), n)])  # type: ignore[arg-type]


@pytest.mark.parametrize(("zero", "gigabytes"), [(0, 120.0), (1, 31.4), (2, 16.6), (3, 1.9)])
def test_zero_paper_figure_one(zero: int, gigabytes: float) -> None:
    one = np.array([1.0])
    t = static_terms(StageParameters(7.5e9 * one, 0.0 * one, 0.0 * one, 8.0 * one), batch(Strategy(zero=zero), 64), PAPER)
    assert float((t.weights + t.gradients + t.optimizer)[0]) == pytest.approx(gigabytes * 1e9, rel=0.015)


def test_a_smaller_shard_group_shards_less() -> None:
    one = np.array([1.0])
    p = StageParameters(1e9 * one, 0.0 * one, 0.0 * one, 8.0 * one)
    t = static_terms(p, batch(Strategy(zero=3, shard_group=8), 64), PAPER)
    assert float(t.weights[0]) == 2e9 / 8


def test_experts_shard_over_the_ranks_that_hold_the_same() -> None:
    one = np.array([1.0])
    p = StageParameters(0.0 * one, 1e9 * one, 0.0 * one, 8.0 * one)
    t = static_terms(p, batch(Strategy(tp=2, ep=8, etp=1, zero=1), 64), PAPER)
    assert float(t.optimizer[0]) == pytest.approx(12e9 / 8)
    alone = static_terms(p, batch(Strategy(tp=1, ep=64, zero=1), 64), PAPER)
    assert float(alone.optimizer[0]) == pytest.approx(12e9)


def test_adapters_carry_gradients_and_states_of_their_share() -> None:
    one = np.array([1.0])
    p = StageParameters(1e9 * one, 0.0 * one, 0.0 * one, 8.0 * one)
    t = static_terms(p, batch(Strategy(zero=0), 8, lora=True), PAPER)
    assert float(t.weights[0]) == 2e9
    assert float(t.optimizer[0]) == pytest.approx(12e9 * 0.01)


def test_quantised_training_keeps_copies() -> None:
    one = np.array([1.0])
    p = StageParameters(1e9 * one, 0.0 * one, 0.0 * one, 8.0 * one)
    assert float(static_terms(p, batch(Strategy(), 8, precision="fp8"), PAPER).weights[0]) == 3e9


@pytest.mark.parametrize("model", [DENSE, MOE])
@pytest.mark.parametrize(("tp", "pp"), [(1, 1), (4, 1), (1, 4), (2, 4)])
def test_all_ranks_together_hold_the_model_once(model: ModelSpec, tp: int, pp: int) -> None:
    """dp = 1: stages of 8 / pp layers; what every tensor rank copies (norms, router) is counted tp times."""
    m, s = ModelArrays.of([model]), batch(Strategy(tp=tp, pp=pp), tp * pp)
    part = counts.rank_layer(m, s)
    found = stages(m, s, 0.0)
    held = [float((p.dense + p.experts)[0]) for p in (stage_parameters(m, s, st, part) for st in found.values())]
    layer = part.attention + (part.moe_shared + part.experts if model.experts else part.dense_mlp)
    middle = max(pp - 2, 0) * float(layer[0]) * 8 / pp
    copies = (tp - 1) * 8 * (2 * 1024 + (1024 * 16 if model.experts else 0))
    total = tp * (sum(held) + middle)
    final_norm = 1024
    assert total - copies == pytest.approx(float(counts.total_parameters(m)[0]) - final_norm)


def test_a_tied_head_is_a_second_copy_on_another_stage() -> None:
    tied = ModelSpec("t", "t", 8, 1024, 16, 16, 64, 64, 4096, 3, 32000, 8, tied_embeddings=True)
    m = ModelArrays.of([tied])
    one, two = batch(Strategy(), 1), batch(Strategy(pp=2), 2)
    alone = stage_parameters(m, one, stages(m, one, 0.0)[0], counts.rank_layer(m, one)).dense
    assert float(alone[0]) + 1024 == float(counts.total_parameters(m)[0])
    last = stage_parameters(m, two, stages(m, two, 0.0)[2], counts.rank_layer(m, two)).dense
    assert float(last[0]) == 4 * float(counts.dense_layer_parameters(m)[0]) + 32000 * 1024

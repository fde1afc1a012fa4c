from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tierspan.laws.memory import MemoryConstants, MemoryTerms, fitted_memory, memory_priors, memory_terms
from tierspan.specs.arrays import ModelArrays, StrategyBatch
from tierspan.specs.model import ModelSpec
from tierspan.specs.strategy import Job, Strategy

LLAMA = ModelSpec("a", "a", 32, 4096, 32, 32, 128, 128, 14336, 3, 128256, 32)
MOE = ModelSpec("m", "m", 32, 4096, 32, 32, 128, 128, 14336, 3, 32000, 2, experts=16, topk=2, moe_ffn=2048, shared_ffn=2048)
MODELS = st.sampled_from([LLAMA, MOE])
POWERS = st.sampled_from([1, 2, 4])
PLANS = st.builds(
    Strategy,
    tp=POWERS,
    pp=POWERS,
    cp=st.sampled_from([1, 2]),
    sp=st.booleans(),
    zero=st.sampled_from([0, 1, 2, 3]),
    micro_batch=POWERS,
    recompute=st.sampled_from(["none", "selective", "full"]),
    schedule=st.sampled_from(["1f1b", "gpipe"]),
)
CONSTANTS = st.sampled_from([memory_priors(), *fitted_memory().values()])


def reserved(model: ModelSpec, plan: Strategy, c: MemoryConstants, n: int = 256, seq: int = 4096, per_rank: int = 16) -> float:
    batch = int(per_rank * plan.micro_batch * n / (plan.tp * plan.pp * plan.cp))
    s = StrategyBatch.of([(plan, Job(seq, batch), n)])
    return float(memory_terms(ModelArrays.of([model]), s, c).reserved[0])


@settings(max_examples=60, deadline=None)
@given(MODELS, PLANS, CONSTANTS)
def test_grows_with_micro_batch_sequence_and_layers(model: ModelSpec, plan: Strategy, c: MemoryConstants) -> None:
    base = reserved(model, plan, c)
    assert base > 0
    assert reserved(model, replace(plan, micro_batch=2 * plan.micro_batch), c) > base * 0.999999
    assert reserved(model, plan, c, seq=8192) > base * 0.999999
    deeper = replace(model, layers=2 * model.layers, dense_layers=2 * model.layers if not model.experts else model.dense_layers)
    assert reserved(deeper, plan, c) > base


@settings(max_examples=60, deadline=None)
@given(MODELS, PLANS, CONSTANTS)
def test_falls_with_tensor_ranks_zero_stage_and_shard_group(model: ModelSpec, plan: Strategy, c: MemoryConstants) -> None:
    c = c.with_values({"step_bytes": 0.0, "gathered_bytes": 0.0, "gathered_layers": 0.0})
    base = reserved(model, plan, c)
    assert reserved(model, replace(plan, tp=2 * plan.tp), c) < base
    if plan.zero < 3:
        assert reserved(model, replace(plan, zero=plan.zero + 1), c) <= base * 1.000001
    small = reserved(model, replace(plan, shard_group=2), c)
    large = reserved(model, replace(plan, shard_group=8), c)
    assert large <= small * 1.000001


@settings(max_examples=60, deadline=None)
@given(MODELS, PLANS, CONSTANTS)
def test_recomputation_never_costs_memory(model: ModelSpec, plan: Strategy, c: MemoryConstants) -> None:
    none, selective, full = (reserved(model, replace(plan, recompute=r), c) for r in ("none", "selective", "full"))  # type: ignore[arg-type]
    assert full <= selective * 1.000001
    assert selective <= none * 1.000001


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(MODELS, PLANS), min_size=2, max_size=6))
def test_rows_do_not_touch_each_other(cases: list[tuple[ModelSpec, Strategy]]) -> None:
    c = memory_priors()
    s = StrategyBatch.of([(p, Job(4096, 512), 256) for _, p in cases])
    together = memory_terms(ModelArrays.of([m for m, _ in cases]), s, c).reserved
    alone = [memory_terms(ModelArrays.of([m]), StrategyBatch.of([(p, Job(4096, 512), 256)]), c).reserved[0] for m, p in cases]
    np.testing.assert_allclose(together, alone, rtol=1e-12)


def test_terms_sum_to_the_peak_of_one_stage() -> None:
    s = StrategyBatch.of([(Strategy(tp=2, pp=p), Job(4096, 512), 64) for p in (1, 4)])
    t = memory_terms(ModelArrays.of([LLAMA]), s, memory_priors())
    parts = sum(getattr(t, f.name) for f in fields(MemoryTerms) if f.name != "stage")
    np.testing.assert_allclose(parts, t.reserved)
    assert t.reserved.shape == (2,)


def test_the_head_makes_the_last_stage_the_heaviest_where_logits_rule() -> None:
    wide = replace(LLAMA, vocab=2_000_000)
    s = StrategyBatch.of([(Strategy(pp=4, micro_batch=4), Job(4096, 512), 64)])
    assert memory_terms(ModelArrays.of([wide]), s, memory_priors()).stage == [2.0]
    assert memory_terms(ModelArrays.of([replace(LLAMA, vocab=1000)]), s, memory_priors()).stage == [0.0]


def test_kept_gathers_grow_with_what_tensor_ranks_do_not_split() -> None:
    c = memory_priors()
    kept = c.with_values({"gathered_bytes": 4.0})
    s = StrategyBatch.of([(Strategy(tp=8), Job(4096, 512), 64)])
    m = ModelArrays.of([LLAMA])
    more = memory_terms(m, s, kept).activations - memory_terms(m, s, c).activations
    assert float(more[0]) == pytest.approx(4 * 4096 * 4096 * 32)


def test_a_step_counts_only_beyond_activations() -> None:
    m, s = ModelArrays.of([LLAMA]), StrategyBatch.of([(Strategy(zero=1, micro_batch=1), Job(512, 512), 64)])
    t = memory_terms(m, s, memory_priors().with_values({"step_bytes": 4.0}))
    parameters = float(t.weights[0]) / 2
    passing = float((t.activations + t.logits + t.transients)[0])
    assert float(t.step[0]) == pytest.approx(4 * parameters - passing)


def test_a_missing_or_unknown_constant_is_an_error() -> None:
    with pytest.raises(TypeError):
        MemoryConstants.of({"weight_bytes": 2.0})
    with pytest.raises(TypeError):
        memory_priors().with_values({"no_such_constant": 1.0})


def test_many_strategies_of_one_model_broadcast() -> None:
    s = StrategyBatch.of([(Strategy(tp=t), Job(4096, 512), 64) for t in (1, 2, 4)])
    t = memory_terms(ModelArrays.of([LLAMA]), s, memory_priors())
    assert all(getattr(t, f.name).shape == (3,) for f in fields(MemoryTerms))

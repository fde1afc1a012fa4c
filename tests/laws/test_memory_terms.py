from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tierspan.laws.memory import MemoryConstants, MemoryTerms, fitted_memory, memory_priors, memory_terms
from tierspan.laws.memory.terms import terms_at, terms_by_stage
from tierspan.specs.arrays import ModelArrays, StrategyBatch
from tierspan.specs.model import ModelSpec
from tierspan.specs.strategy import Job, Strategy

LLAMA = ModelSpec("a", "a", 32, 4096, 32, 32, 128, 128, 14336, 3, 128256, 32)
MOE = ModelSpec("m", "m", 32, 4096, 32, 32, 128, 128, 14336, 3, 32000, 2, experts=16, topk=2, moe_ffn=2048, shared_ffn=2048)
MODELS = st.sampled_from([LLAMA, MOE])
SHARES = st.sampled_from([0.0, 0.5, 1.0])
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
    schedule=st.sampled_from(["1f1b", "gpipe", "zb-h1", "zb-h2", "dualpipe"]),
    optimizer_offload=SHARES,
    activation_offload=SHARES,
    parameter_offload=SHARES,
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


@settings(max_examples=60, deadline=None)
@given(MODELS, PLANS, CONSTANTS)
def test_what_is_offloaded_is_on_the_host_byte_for_byte(model: ModelSpec, plan: Strategy, c: MemoryConstants) -> None:
    # without allocator and optimizer step, which grow with what stays on the device
    c = c.with_values({"fragmentation": 0.0, "step_bytes": 0.0})
    m = ModelArrays.of([model])
    kept, away = (
        terms_by_stage(m, StrategyBatch.of([(p, Job(4096, 1024), 256)]), c)[0]
        for p in (replace(plan, optimizer_offload=0.0, activation_offload=0.0, parameter_offload=0.0), plan)
    )
    assert float(kept.host[0]) == 0.0
    assert float((away.reserved + away.host)[0]) == pytest.approx(float(kept.reserved[0]))
    for term in ("weights", "optimizer", "activations"):
        assert float(getattr(away, term)[0]) >= 0.0
        assert float(getattr(away, f"host_{term}")[0]) >= 0.0


def test_half_of_the_optimizer_leaves_with_a_share_of_one_half() -> None:
    m = ModelArrays.of([LLAMA])
    whole, half = (
        memory_terms(m, StrategyBatch.of([(Strategy(tp=8, optimizer_offload=x), Job(4096, 512), 64)]), memory_priors()) for x in (0.0, 0.5)
    )
    assert float(half.optimizer[0]) == pytest.approx(float(whole.optimizer[0]) / 2)
    assert float(half.host_optimizer[0]) == pytest.approx(float(half.optimizer[0]))


def test_the_layer_at_work_stays_on_the_device() -> None:
    m = ModelArrays.of([LLAMA])
    t = memory_terms(m, StrategyBatch.of([(Strategy(activation_offload=1.0), Job(4096, 512), 64)]), memory_priors())
    assert float(t.activations[0]) == pytest.approx(float((t.activations + t.host_activations)[0]) / 32, rel=0.1)


def test_dualpipe_holds_two_copies_of_the_parameters_and_the_logits_on_the_first_rank() -> None:
    m = ModelArrays.of([LLAMA])
    one, two = (
        terms_by_stage(m, StrategyBatch.of([(Strategy(pp=4, zero=0, schedule=name), Job(4096, 512), 64)]), memory_priors())[0]
        for name in ("1f1b", "dualpipe")
    )
    assert float(two.weights[0]) == pytest.approx(2 * float(one.weights[0]))
    assert float(one.logits[0]) == 0.0
    assert float(two.logits[0]) > 0.0
    assert float(two.in_flight[0]) == 5.0


def test_gradients_that_are_added_up_whole_are_not_sharded_before_the_last_micro_batch() -> None:
    m, c = ModelArrays.of([LLAMA]), memory_priors().with_values({"whole_gradients": 1.0})
    many, single = (memory_terms(m, StrategyBatch.of([(Strategy(zero=3), Job(4096, b), 64)]), c) for b in (512, 64))
    assert float(many.gradients[0]) == pytest.approx(64 * float(single.gradients[0]))


def test_a_stage_in_the_middle_lies_between() -> None:
    m, s = ModelArrays.of([LLAMA]), StrategyBatch.of([(Strategy(pp=4), Job(4096, 512), 64)])
    first, middle = (terms_at(m, s, memory_priors(), np.array([i])) for i in (0.0, 2.0))
    assert (float(first.in_flight[0]), float(middle.in_flight[0])) == (4.0, 2.0)
    assert float(middle.weights[0]) < float(first.weights[0])
    np.testing.assert_allclose(first.reserved, terms_by_stage(m, s, memory_priors())[0].reserved)


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
    away = ("stage", "in_flight", "layers", "host_weights", "host_optimizer", "host_activations")
    parts = sum(getattr(t, f.name) for f in fields(MemoryTerms) if f.name not in away)
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

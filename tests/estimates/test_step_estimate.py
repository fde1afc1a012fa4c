"""The step as a whole: terms, traffic by tier, and a batch against its cases one by one."""

from __future__ import annotations

import random
from dataclasses import fields, replace

import numpy as np
import pytest

from tierspan.estimates.cases import Case, arrays_of
from tierspan.estimates.step import COMMUNICATION, Cases, StepEstimate, estimate_step, network_of
from tierspan.laws.pipeline import pipeline_time, stage_layers
from tierspan.specs.arrays import ClusterArrays, ModelArrays, StrategyBatch
from tierspan.specs.catalog import cluster
from tierspan.specs.hardware import Tier
from tierspan.specs.models import model
from tierspan.specs.profile.profile import Profile, shipped_profile
from tierspan.specs.stacks.stack import StackArrays, stack
from tierspan.specs.strategy import Job, Strategy

PRIORS = Profile("priors", {})
SYSTEMS = ("dgx-a100", "dgx-h100", "gb200-nvl72", "cloudmatrix384", "mi300x-node8", "atlas-800-910b", "tpu-v5p-pod", "l40s-node8")
MODELS = ("llama-3.1-8b", "llama-3.1-70b", "gpt-3-175b", "deepseek-v3", "mixtral-8x7b", "gpt-oss-20b", "qwen3-30b-a3b")
STACKS = ("megatron-core", "torchtitan", "nanotron", "megatron-lm-2021", "modellink", "megatron-bridge", "unknown")


def case(n: int = 64, system: str = "dgx-h100", spec: str = "llama-3.1-8b", name: str = "megatron-core", batch: int = 256, **plan: object) -> Case:
    return Case(model(spec), cluster(system, n), Job(4096, batch), Strategy(**plan), stack(name))  # type: ignore[arg-type]


def random_case(seed: int) -> Case:
    pick = random.Random(seed).choice
    tp, pp, cp = pick((1, 2, 4, 8, 16)), pick((1, 2, 4)), pick((1, 1, 2))
    dp = pick((1, 2, 8, 16))
    spec = model(pick(MODELS))
    ep = pick((1, 2, 4)) if spec.experts else 1
    strategy = Strategy(
        tp=tp, pp=pp, cp=cp, ep=min(ep, dp * cp), vpp=pick((1, 2)) if pp > 1 else 1, sp=pick((True, False)), zero=pick((0, 1, 2, 3)),
        etp=pick((None, 1)) if spec.experts else None, shard_group=pick((None, 8)), micro_batch=pick((1, 2)),
        recompute=pick(("none", "selective", "full")), overlap_grad_reduce=pick((True, False)), overlap_tp=pick((True, False)),
        overlap_p2p=pick((True, False)),
    )  # fmt: skip
    job = Job(pick((2048, 8192)), dp * 32, pick(("bf16", "bf16", "fp8")), lora=pick((False, False, True)))
    return Case(spec, cluster(pick(SYSTEMS), tp * pp * cp * dp), job, strategy, stack(pick(STACKS)))


def estimate(*cases: Case, profile: Profile = PRIORS) -> StepEstimate:
    return estimate_step(arrays_of(cases, profile))


def at(values: np.ndarray, i: int) -> float:
    return float(np.broadcast_to(values, (max(i + 1, values.shape[-1]),))[i])


@pytest.mark.parametrize("profile", [PRIORS, shipped_profile()], ids=["priors", "shipped"])
def test_a_batch_of_cases_is_each_case_alone(profile: Profile) -> None:
    cases = [random_case(seed) for seed in range(50)]
    together = estimate(*cases, profile=profile)
    finite = np.isfinite(together.step_time_s)
    assert 30 <= finite.sum() < 50  # some accelerators have no FP8 units
    for i, c in enumerate(cases):
        alone = estimate(c, profile=profile)
        np.testing.assert_allclose(at(together.step_time_s, i), at(alone.step_time_s, 0), rtol=1e-12, err_msg=str(i))
        for name, value in together.terms.items():
            expected = at(alone.terms[name], 0) if name in alone.terms else 0.0
            if finite[i]:
                np.testing.assert_allclose(at(value, i), expected, rtol=1e-12, atol=1e-15, err_msg=f"{i} {name}")


def test_one_model_and_cluster_serve_many_plans() -> None:
    """What a search does: arrays of one row beside a batch of plans."""
    plans = [Strategy(tp=tp, pp=pp, zero=z) for tp in (1, 2, 8, 16) for pp in (1, 2) for z in (0, 1, 3)]
    c = case()
    shared = Cases(
        ModelArrays.of([c.model]), ClusterArrays.of([c.cluster]), StrategyBatch.of([(p, c.job, 64) for p in plans]), StackArrays.of([c.stack]),
        PRIORS.gather([c.keys]),
    )  # fmt: skip
    alone = [estimate(replace(c, strategy=p)).step_time_s[0] for p in plans]
    np.testing.assert_allclose(estimate_step(shared).step_time_s, alone, rtol=1e-12)


def test_terms_add_up_to_the_step_and_traffic_to_its_terms() -> None:
    cases = [random_case(seed) for seed in range(50)]
    e = estimate(*cases)
    finite = np.isfinite(e.step_time_s)
    total = sum(np.broadcast_to(v, (50,)) for v in e.terms.values())
    np.testing.assert_allclose(np.asarray(total)[finite], e.step_time_s[finite], rtol=1e-12)
    for kind in COMMUNICATION:
        split = sum(np.broadcast_to(v, (50,)) for (k, _), v in e.traffic.items() if k == kind)
        np.testing.assert_allclose(np.asarray(split)[finite], np.broadcast_to(e.terms[kind], (50,))[finite], rtol=1e-12, atol=1e-15, err_msg=kind)


def test_no_term_is_negative() -> None:
    e = estimate(*(random_case(seed) for seed in range(50)))
    for name, value in e.terms.items():
        assert np.nanmin(value) >= -1e-12, name


def test_what_compute_hides_is_never_negative() -> None:
    cases = [random_case(seed) for seed in range(50)]
    e = estimate(*cases)
    for kind, value in e.hidden.items():
        assert np.nanmin(value) >= -1e-12, kind


def test_the_step_is_its_pipeline_with_its_ends_and_jitter() -> None:
    """The sum of the terms against the closed form put together from the other side."""
    c = case(n=128, spec="llama-3.1-70b", tp=8, pp=8, batch=64)
    e = estimate(c)
    s, k = arrays_of([c], PRIORS).strategies, PRIORS.gather([c.keys])
    t = {name: v[0] for name, v in e.terms.items()}
    m = s.micro_batches[0]
    layer = (t["matmul"] + t["attention"] + t["memory_bound"] + t["recompute"] + t["host"] + t["tp"]) * 8 / m / 80
    logits = t["logits"] * 8 / m
    stages = stage_layers(np.array([80.0]), s.pp, s.vpp)
    heaviest = max(stages.heaviest[0] * layer, stages.last[0] * layer + logits)
    run = pipeline_time(s.micro_batches, np.array([heaviest]), np.array([80 * layer + logits]), s.pp, s.vpp)
    inside = run.work[0] + run.imbalance[0] + run.bubble[0]
    whole = (inside + t["pp"] + t["dp"] + t["optimizer"] + t["constant"]) * (1 + k.jitter[0] * np.log2(16))
    assert e.step_time_s[0] == pytest.approx(whole, rel=1e-9)


def test_one_accelerator_has_compute_alone() -> None:
    e = estimate(case(n=1, batch=1))
    assert sum(float(np.sum(e.terms[kind])) for kind in COMMUNICATION if kind in e.terms) == 0
    assert e.terms["bubble"][0] == e.terms["imbalance"][0] == e.terms["jitter"][0] == 0


def test_traffic_runs_where_its_group_stands() -> None:
    e = estimate(case(n=64, tp=8, pp=2))
    on = {kind: [t for (k, t), v in e.traffic.items() if k == kind and np.sum(v) > 0] for kind in ("tp", "pp", "dp")}
    assert on == {"tp": [0], "pp": [1], "dp": [1]}
    inside = estimate(case(n=8, tp=2, pp=2))
    assert {t for (_, t), v in inside.traffic.items() if np.sum(v) > 0} == {0}


def slower(a: Case, b: Case) -> float:
    """Step time of b over that of a."""
    return float(estimate(b).step_time_s[0] / estimate(a).step_time_s[0])


def with_tier(c: Case, index: int, **change: object) -> Case:
    tiers = list(c.cluster.tiers)
    tiers[index] = replace(tiers[index], **change)  # type: ignore[arg-type]
    return replace(c, cluster=replace(c.cluster, tiers=tuple(tiers)))


@pytest.mark.parametrize("seed", range(0, 50, 5))
def test_a_slower_or_farther_network_never_helps(seed: int) -> None:
    c = random_case(seed)
    c = replace(c, job=replace(c.job, precision="bf16"))
    for i, tier in enumerate(c.cluster.tiers):
        pair = tier.pair_bandwidth_Bps
        assert slower(c, with_tier(c, i, bandwidth_Bps=tier.bandwidth_Bps / 2, pair_bandwidth_Bps=pair and pair / 2)) >= 1 - 1e-12
        assert slower(c, with_tier(c, i, latency_s=tier.latency_s * 4)) >= 1 - 1e-12


def test_recompute_costs_a_forward_pass() -> None:
    plain, full = estimate(case(recompute="none")), estimate(case(recompute="full"))
    forward = plain.terms["matmul"][0] / 3 + plain.terms["attention"][0] / (1 + 3) + plain.terms["memory_bound"][0] / 2.5
    assert full.terms["recompute"][0] == pytest.approx(forward)
    assert plain.terms["recompute"][0] == 0


def test_twice_the_batch_adds_steady_work_alone() -> None:
    one, two = estimate(case(batch=256, pp=4)), estimate(case(batch=512, pp=4))
    for name in ("matmul", "attention", "memory_bound", "logits", "host"):
        assert two.terms[name][0] == pytest.approx(2 * one.terms[name][0]), name
    for name in ("bubble", "optimizer", "constant"):
        assert two.terms[name][0] == pytest.approx(one.terms[name][0]), name


def test_fewer_tiers_than_the_widest_row_do_not_matter() -> None:
    flat = case()
    inner, outer = flat.cluster.tiers
    tiers = (inner, replace(outer, domain_size=32), Tier("far", "dci", None, 1e9, 1e-3, "ethernet"))
    deep = replace(flat, cluster=replace(flat.cluster, tiers=tiers))
    both = arrays_of([flat, deep], PRIORS)
    assert network_of(both).tiers == 3
    e = estimate_step(both)
    np.testing.assert_allclose(e.step_time_s, [estimate(c).step_time_s[0] for c in (flat, deep)], rtol=1e-12)
    assert e.step_time_s[1] > e.step_time_s[0]


def test_zero_three_gathers_for_every_micro_batch() -> None:
    few, many = (estimate(case(system="dgx-a100", name="torchtitan", zero=3, micro_batch=mb, batch=256)) for mb in (4, 1))
    assert many.terms["dp"][0] > 3 * few.terms["dp"][0]


def test_host_bound_is_said_where_the_host_takes_longer() -> None:
    small = estimate(Case(model("llama-3.2-1b"), cluster("dgx-h100", 8), Job(256, 8), Strategy(tp=8), stack("nanotron")))
    large = estimate(case(n=8, tp=8, batch=8, micro_batch=8))
    assert (small.host_bound[0], large.host_bound[0]) == (1, 0)
    assert small.terms["host"][0] > small.terms["matmul"][0]


def test_unknown_units_are_not_a_number() -> None:
    c = case(system="dgx-a100")
    assert np.isnan(estimate(replace(c, job=replace(c.job, precision="fp8"))).step_time_s[0])


def test_every_result_has_the_shape_of_the_batch() -> None:
    e = estimate(*(random_case(seed) for seed in range(3)))
    for f in fields(StepEstimate):
        value = getattr(e, f.name)
        for v in value.values() if isinstance(value, dict) else [value]:
            assert v.shape in ((3,), (1,)), f.name

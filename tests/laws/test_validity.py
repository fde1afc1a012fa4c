"""Every rule of a plan: broken once, kept once, and told in every language."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from tierspan.laws.validity import RULES, explain, valid
from tierspan.quantities.findings import Finding
from tierspan.quantities.messages import has, languages, render_finding, set_strict
from tierspan.specs.arrays import ClusterArrays, ModelArrays, StrategyBatch
from tierspan.specs.hardware import Accelerator, Cluster, Tier
from tierspan.specs.model import ModelSpec
from tierspan.specs.strategy import Job, Strategy

DENSE = ModelSpec("d", "d", 32, 4096, 32, 8, 128, 128, 14336, 3, 128256, 32)
MOE = replace(DENSE, dense_layers=0, experts=64, topk=4, moe_ffn=1024)
CARD = Accelerator("a", "a", "any", {"bf16": 1e15}, 80e9, 3e12)
TIERS = (Tier("in", "scale-up", 8, 4e11, 1e-6, "nvlink"), Tier("out", "scale-out", None, 5e10, 5e-6, "infiniband"))


@dataclass(frozen=True)
class Plan:
    """What a rule looks at."""

    model: ModelSpec
    strategy: Strategy
    n: int
    batch: int
    sequence: int
    tiers: tuple[Tier, ...] = TIERS

    def arrays(self) -> tuple[ModelArrays, StrategyBatch, ClusterArrays]:
        cluster = Cluster(CARD, self.n, 8, self.tiers)
        job = Job(self.sequence, self.batch)
        return ModelArrays.of([self.model]), StrategyBatch.of([(self.strategy, job, self.n)]), ClusterArrays.of([cluster])

    def broken(self) -> dict[str, Finding]:
        return {f.id.removeprefix("strategy."): f for f in explain(*self.arrays())}


def plan(model: ModelSpec = DENSE, n: int = 64, batch: int = 256, sequence: int = 4096, **strategy: object) -> Plan:
    return Plan(model, Strategy(**strategy), n, batch, sequence)  # type: ignore[arg-type]


ODD_HEADS = replace(DENSE, heads=30, kv_heads=30)
ODD_FFN = replace(DENSE, ffn=14330)
LATENT = replace(DENSE, kv_heads=1, kv_lora_rank=512, rope_head_dim=64)

# rule -> (broken, kept, values of the broken one)
CASES: dict[str, tuple[Plan, Plan, dict[str, float]]] = {
    "world_size": (plan(tp=8, pp=3), plan(tp=8, pp=4), {"accelerators": 64, "group": 24}),
    "heads": (plan(ODD_HEADS, tp=4), plan(ODD_HEADS, tp=2), {"heads": 30, "tp": 4}),
    "kv_heads": (plan(tp=16), plan(tp=8), {"kv_heads": 8, "tp": 16, "copies": 2}),
    "ffn": (plan(ODD_FFN, tp=4), plan(ODD_FFN, tp=2), {"ffn": 14330, "tp": 4}),
    "experts_without_moe": (plan(ep=8), plan(MOE, ep=8), {"ep": 8}),
    "experts": (plan(MOE, ep=48, n=48, batch=48), plan(MOE, ep=32), {"experts": 64, "ep": 48}),
    "expert_group": (plan(MOE, ep=64, n=32), plan(MOE, ep=32, n=32), {"ep": 64, "ranks": 32}),
    "more_stages_than_layers": (plan(pp=8, vpp=8), plan(pp=8, vpp=4), {"slots": 64, "layers": 32}),
    "uneven_stages": (plan(pp=3, n=48, batch=48), plan(pp=4), {"layers": 32, "slots": 3}),
    "vpp_without_pp": (plan(vpp=2), plan(pp=2, vpp=2), {"vpp": 2}),
    "batch": (plan(batch=96), plan(batch=128), {"global_batch": 96, "product": 64}),
    "interleaved_batches": (plan(pp=8, vpp=2, n=64, batch=32), plan(pp=8, vpp=2, n=64, batch=64), {"micro_batches": 4, "pp": 8}),
    "schedule_chunks": (plan(pp=4, vpp=2, schedule="zb-h1"), plan(pp=4, vpp=2, schedule="interleaved"), {"vpp": 2}),
    "dualpipe": (plan(pp=8, batch=64, schedule="dualpipe"), plan(pp=8, batch=128, schedule="dualpipe"), {"pp": 8, "micro_batches": 8}),
    "few_micro_batches": (plan(pp=8, batch=64), plan(pp=8, batch=128), {"micro_batches": 8, "pp": 8, "share": 0.875}),
    "sequence": (plan(sequence=4100, tp=8), plan(sequence=4096, tp=8), {"sequence_length": 4100}),
    "shard_group": (plan(shard_group=24), plan(shard_group=16), {"shard_group": 24, "ranks": 64}),
    "tp_across_domains": (plan(tp=16), plan(tp=8), {"tp": 16, "domain": 8}),
    "ep_across_domains": (plan(MOE, ep=16), plan(MOE, ep=8), {"ep": 16, "domain": 8}),
    "zero3_with_pipeline": (plan(zero=3, pp=2), plan(zero=3), {"pp": 2}),
}


def test_every_rule_has_a_case() -> None:
    assert [r.id for r in RULES] == [f"strategy.{name}" for name in CASES]


@pytest.mark.parametrize("name", CASES)
def test_a_rule_is_broken_and_kept(name: str) -> None:
    bad, good, values = CASES[name]
    found = bad.broken()
    assert name in found
    assert found[name].values.items() >= values.items()
    assert name not in good.broken()
    assert valid(*good.arrays()).all()
    assert valid(*bad.arrays()).all() == (found[name].severity != "error" and not any(f.severity == "error" for f in found.values()))


@pytest.mark.parametrize("lang", languages())
@pytest.mark.parametrize("name", CASES)
def test_a_broken_rule_says_what_and_what_to_do(name: str, lang: str) -> None:
    finding = CASES[name][0].broken()[name]
    earlier = set_strict(True)
    try:
        told = render_finding(finding, lang)
    finally:
        set_strict(earlier)
    assert has(f"{finding.id}.remedy")
    rule, remedy = told.splitlines()
    assert "{" not in told
    assert remedy.strip()
    # the figure that decides stands in the text
    figure = str(next(iter(CASES[name][2].values())))
    assert figure in rule
    if lang == "zh":
        assert any("\u4e00" <= c <= "\u9fff" for c in rule)
        assert any("\u4e00" <= c <= "\u9fff" for c in remedy)


def test_the_missing_precision_is_told_in_every_language() -> None:
    finding = Finding("strategy.precision", "error", {"accelerator": "A100", "precision": "fp8", "known": "bf16, fp16"})
    earlier = set_strict(True)
    try:
        texts = [render_finding(finding, lang) for lang in languages()]
    finally:
        set_strict(earlier)
    assert all("A100" in t and "fp8" in t and "bf16, fp16" in t for t in texts)


def test_a_plain_plan_breaks_nothing() -> None:
    assert plan().broken() == {}
    assert valid(*plan().arrays()).tolist() == [True]


def test_context_parallelism_cuts_the_sequence_too() -> None:
    assert "sequence" in plan(sequence=4098, cp=4).broken()
    assert "sequence" not in plan(sequence=4100, cp=4).broken()
    # without sequence parallelism the tensor ranks need not divide it
    assert "sequence" not in plan(sequence=4100, tp=8, sp=False).broken()


def test_two_slots_more_than_layers_hold_embedding_and_loss() -> None:
    framed = replace(DENSE, layers=126, dense_layers=126)
    broken = plan(framed, pp=8, vpp=16, n=64, batch=64).broken()
    assert "more_stages_than_layers" not in broken
    assert broken["uneven_stages"].severity == "info"
    assert "more_stages_than_layers" in plan(replace(framed, layers=125, dense_layers=125), pp=8, vpp=16, n=64, batch=64).broken()


def test_latent_attention_has_no_key_value_heads_to_copy() -> None:
    assert "kv_heads" not in plan(LATENT, tp=8).broken()


def test_a_cluster_of_one_tier_has_no_domain_to_leave() -> None:
    inside = replace(plan(tp=32), tiers=(replace(TIERS[0], domain_size=None),))
    assert "tp_across_domains" not in inside.broken()


def test_a_batch_of_plans_is_judged_row_by_row() -> None:
    plans = [pair[i] for pair in CASES.values() for i in (0, 1)]
    alone = [bool(valid(*p.arrays())[0]) for p in plans]
    clusters = ClusterArrays.of([Cluster(CARD, p.n, 8, p.tiers) for p in plans])
    batch = StrategyBatch.of([(p.strategy, Job(p.sequence, p.batch), p.n) for p in plans])
    together = valid(ModelArrays.of([p.model for p in plans]), batch, clusters)
    assert together.tolist() == alone
    assert 0 < np.sum(alone) < len(alone)

"""The shapes that a prediction must have, through the public questions, with the constants that ship (or the priors before a fit)."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence

import pytest

from tierspan.answers.predict import predict
from tierspan.answers.question import Question, build_question
from tierspan.answers.results import Prediction, ScalePoint, Scaling
from tierspan.answers.scale import scale
from tierspan.quantities.errors import InputError

DOUBLINGS = (8, 16, 32, 64, 128, 256, 512, 1024)


def seconds(p: Prediction, name: str, tier: str | None = None) -> float:
    return sum(t.seconds for t in p.terms if t.name == name and tier in (None, t.tier))


def llama_405b() -> Question:
    return build_question(
        system="dgx-h100", accelerators=512, model="llama-3.1-405b", sequence_length=8192, global_batch=252, tp=8, pp=8, cp=2, vpp=8
    )


def gpt_175b() -> Question:
    return build_question(
        system="dgx-a100", accelerators=128, model="gpt-3-175b", sequence_length=2048, global_batch=512, tp=8, pp=8, precision="bf16"
    )


def conserves(points: Sequence[ScalePoint]) -> None:
    """Losses by cause add up to the loss; each cause below 0.05 points is left out."""
    for p in points:
        assert sum(p.losses.values()) == pytest.approx(1 - p.efficiency, abs=2e-3)


def test_weak_scaling_of_llama_405b_loses_little() -> None:
    s = scale(llama_405b(), [512, 1024, 2048], weak=True)
    assert [(p.dp, p.global_batch, p.status) for p in s.points] == [(4, 252, "predicted"), (8, 504, "predicted"), (16, 1008, "predicted")]
    assert s.points[0].efficiency == 1
    assert 0.97 <= s.points[-1].efficiency <= 1
    assert s.knee is None
    conserves(s.points)


def test_strong_scaling_of_gpt_3_loses_to_the_bubble() -> None:
    sizes = [128, 256, 512, 1024, 2048]
    s = scale(gpt_175b(), sizes)
    efficiency = [p.efficiency for p in s.points]
    assert [p.global_batch for p in s.points] == [512] * 5
    assert efficiency == sorted(efficiency, reverse=True)
    assert efficiency[-1] < 0.75
    assert [p.main_cause for p in s.points] == ["", *["bubble"] * 4]
    # 16 micro-batches on 8 stages: the bubble is 7/16 of the work, against 7/256
    assert s.points[-1].losses["bubble"] > 0.15
    assert s.knee in sizes[:4]
    assert s.advice[0].id == "scale.advice.bubble"
    conserves(s.points)


def test_speedup_is_tokens_over_tokens() -> None:
    s = scale(gpt_175b(), [128, 512])
    first, last = s.points
    assert last.speedup == pytest.approx(first.step_time_s / last.step_time_s)
    assert last.efficiency == pytest.approx(last.speedup / 4)


def test_tensor_parallelism_over_two_nodes_is_clearly_slower() -> None:
    inside, across = (
        predict(build_question(system="dgx-h100", accelerators=64, model="llama-3.1-70b", sequence_length=4096, global_batch=64, tp=tp))
        for tp in (8, 16)
    )
    assert across.step_time_s > 1.1 * inside.step_time_s
    nvlink, network = (t.name for t in across.tiers)
    assert seconds(inside, "tp", nvlink) == seconds(inside, "tp") > 0
    assert seconds(across, "tp", network) == seconds(across, "tp") > 2 * seconds(inside, "tp")
    assert "strategy.tp_across_domains" in [f.id for f in across.findings]
    assert across.status == "predicted"


def test_experts_are_faster_in_a_domain_of_72_than_of_8() -> None:
    small, large = (
        predict(
            build_question(
                system="gb200-nvl72", accelerators=576, domain_size=d, model="deepseek-v3", sequence_length=4096, global_batch=4608, ep=64, pp=9
            )
        )
        for d in (8, 72)
    )
    assert large.step_time_s < 0.9 * small.step_time_s
    assert seconds(small, "ep", small.tiers[1].name) == seconds(small, "ep") > 0
    assert seconds(large, "ep", large.tiers[0].name) == seconds(large, "ep") > 0
    assert small.binds == "ep"
    (place,) = (g for g in small.placement if g.kind == "ep")
    assert (place.size, place.members_per_domain, place.tier) == (64, 8, small.tiers[1].name)


@pytest.mark.parametrize(("nic", "times"), [("1.25Gb/s", 10), ("156.25MB/s", 10)])
def test_zero_three_over_slow_ethernet_is_ten_times_slower(nic: str, times: float) -> None:
    """10 Gb/s a node, 1.25 Gb/s an accelerator."""
    plan = {"system": "dgx-a100", "model": "llama-2-7b", "sequence_length": 2048, "zero": 3, "stack": "torchtitan"}
    one = predict(build_question(accelerators=8, global_batch=32, **plan))
    two = predict(build_question(accelerators=16, global_batch=64, nic=nic, **plan))
    assert two.tiers[1].bandwidth_Bps == pytest.approx(10e9 / 8 / 8)
    assert two.step_time_s > times * one.step_time_s
    assert two.binds == "dp"


def test_sharding_inside_a_node_gains_more_as_the_job_grows() -> None:
    def step(n: int, group: int | None) -> float:
        return predict(
            build_question(
                system="dgx-a100", accelerators=n, model="llama-2-7b", sequence_length=4096, global_batch=n, zero=1, shard_group=group, nic="50Gb/s"
            )
        ).step_time_s

    everywhere, inside = ({n: step(n, group) for n in DOUBLINGS} for group in (None, 8))
    ratio = {n: everywhere[n] / inside[n] for n in DOUBLINGS}
    gap = {n: everywhere[n] - inside[n] for n in DOUBLINGS}
    assert ratio[8] == 1
    assert all(ratio[n] > 1 for n in DOUBLINGS[1:])
    assert ratio[1024] > ratio[64]
    assert gap[8] == 0 < gap[64] < gap[1024]
    # an all-reduce over few nodes still grows by its factor 2 (g - 1) / g, which eats part of the gain up to sixteen of them
    assert all(gap[b] > gap[a] for a, b in itertools.pairwise(DOUBLINGS[4:]))


def test_a_site_of_supernodes_is_as_quick_as_eight_cards() -> None:
    def question(n: int) -> Question:
        return build_question(system="cloudmatrix384", accelerators=n, model="llama-3.1-8b", sequence_length=4096, global_batch=n)

    def cpu_s(q: Question) -> float:
        best = 1e9
        for _ in range(5):
            start = time.process_time()
            predict(q)
            best = min(best, time.process_time() - start)
        return best

    few, many = question(8), question(432 * 384)
    predict(few)
    assert cpu_s(many) < min(0.2, 5 * cpu_s(few))
    p = predict(many)
    assert (p.case.accelerators, p.case.dp) == (165_888, 165_888)
    assert [t.domain_size for t in p.tiers][:2] == [384, 165_888]


def test_scaling_down_and_fewer_cards_a_node() -> None:
    q = build_question(system="dgx-h100", accelerators=512, model="llama-3.1-70b", sequence_length=4096, global_batch=512, tp=4, pp=4)
    down = scale(q, [512, 256, 128, 64])
    assert all(p.efficiency > 1 for p in down.points[1:])
    # what is gained, told as a loss below zero: most of it from the bubble, as each pipeline has more micro-batches
    assert all(p.losses[p.main_cause] == min(p.losses.values()) < 0 for p in down.points[1:])
    assert [p.main_cause for p in down.points[1:]] == ["bubble"] * 3
    conserves(down.points)
    both = scale(q, [512, 64], node_sizes=[8, 4])
    assert [(p.accelerators, p.node_size) for p in both.points] == [(512, 8), (64, 8), (512, 4), (64, 4)]
    fuller, emptier = both.points[0], both.points[2]
    # four cards a node: half the members of a data-parallel ring inside, more nodes to wait for
    assert emptier.efficiency < fuller.efficiency
    assert [p.tiers[0].domain_size for p in both.predictions] == [8, 8, 4, 4]
    conserves(both.points)


def test_fewer_cards_than_the_plan_needs_is_said() -> None:
    q = build_question(system="dgx-h100", accelerators=64, model="llama-3.1-70b", sequence_length=4096, global_batch=64, tp=8, pp=4)
    s = scale(q, [64, 16])
    assert [p.status for p in s.points] == ["predicted", "invalid"]
    assert s.knee is None


def test_a_reference_that_cannot_run_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        scale(llama_405b(), [100, 512])
    assert (caught.value.message_id, caught.value.values["rule"]) == ("scale.reference", "strategy.world_size")
    with pytest.raises(InputError) as empty:
        scale(llama_405b(), [])
    assert empty.value.message_id == "scale.no_sizes"


def whole(s: Scaling) -> list[tuple[int, float]]:
    return [(p.accelerators, p.step_time_s) for p in s.points]


def test_a_curve_is_its_single_predictions() -> None:
    s = scale(gpt_175b(), [128, 1024])
    alone = predict(build_question(
        system="dgx-a100", accelerators=1024, model="gpt-3-175b", sequence_length=2048, global_batch=512, tp=8, pp=8, precision="bf16"
    ))  # fmt: skip
    assert whole(s)[1] == (1024, pytest.approx(alone.step_time_s, rel=1e-12))


@pytest.mark.parametrize("question", [llama_405b(), gpt_175b()], ids=["llama", "gpt"])
def test_a_prediction_adds_up(question: Question) -> None:
    p = predict(question)
    assert sum(t.seconds for t in p.terms) == pytest.approx(p.step_time_s)
    assert sum(t.share for t in p.terms) == pytest.approx(1)
    traffic = sum(t.exposed_s for t in p.traffic)
    assert traffic == pytest.approx(sum(t.seconds for t in p.terms if t.tier)) == pytest.approx(sum(t.exposed_s for t in p.tiers))
    assert all(t.hidden_s >= 0 for t in p.traffic)
    tokens = question.job.global_batch * question.job.sequence_length
    assert p.tokens_per_s == pytest.approx(tokens / p.step_time_s)
    assert 0.2 < p.mfu < 0.7
    assert p.low_s <= p.step_time_s <= p.high_s or p.interval_basis == ""

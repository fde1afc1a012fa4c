"""The closed form and the timeline engine held against each other on real plans."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tierspan.engines.timeline import make_schedule, play
from tierspan.estimates.cases import Case, arrays_of
from tierspan.estimates.memory import estimate_memory
from tierspan.estimates.step import estimate_step
from tierspan.estimates.timeline import estimate_timeline, step_work
from tierspan.quantities.errors import InputError
from tierspan.specs.catalog import cluster
from tierspan.specs.models import model
from tierspan.specs.profile.profile import Profile, shipped_profile
from tierspan.specs.stacks.stack import stack
from tierspan.specs.strategy import SCHEDULE_CODE, Job, Strategy

AGREE = 0.03


def case(
    spec: str = "llama-3.1-70b", dp: int = 4, m: int = 32, system: str = "dgx-h100", seq: int = 4096, name: str = "megatron-core", **plan: object
) -> Case:
    strategy = Strategy(**plan)  # type: ignore[arg-type]
    ranks = strategy.tp * strategy.pp * strategy.cp * dp
    return Case(model(spec), cluster(system, ranks), Job(seq, dp * m * strategy.micro_batch), strategy, stack(name))


def difference(c: Case) -> float:
    return estimate_timeline(c, shipped_profile()).difference


@pytest.mark.parametrize("schedule", ["1f1b", "gpipe", "zb-h1", "zb-h2"])
@pytest.mark.parametrize(("pp", "m"), [(2, 8), (4, 4), (4, 8), (4, 32), (8, 8), (8, 16), (8, 64), (16, 32)])
@pytest.mark.parametrize("spec", ["llama-3.1-70b", "llama-3.1-405b", "deepseek-v3"])
def test_plain_schedules_agree(schedule: str, pp: int, m: int, spec: str) -> None:
    """Even stages (80 layers), embedding and loss as layers (126 + 2), MoE with a heavy output (61 + 1 + 2); logits on the last stage."""
    assert abs(difference(case(spec, dp=8, m=m, tp=4, pp=pp, ep=8 if spec == "deepseek-v3" else 1, schedule=schedule))) < AGREE


@pytest.mark.parametrize(
    ("spec", "pp", "vpp"), [("llama-3.1-70b", 4, 2), ("llama-3.1-70b", 8, 5), ("llama-3.1-405b", 8, 8), ("gpt-3-175b", 16, 3), ("deepseek-v3", 8, 4)]
)
@pytest.mark.parametrize("rounds", [1, 2, 8])
def test_interleaved_agrees(spec: str, pp: int, vpp: int, rounds: int) -> None:
    assert abs(difference(case(spec, dp=1, m=rounds * pp, tp=8, pp=pp, vpp=vpp, schedule="interleaved"))) < AGREE


@pytest.mark.parametrize(("spec", "pp", "vpp", "tp"), [("llama-3.1-70b", 4, 2, 8), ("gpt-3-175b", 8, 3, 2)])
def test_interleaved_gradients_hide_behind_the_last_passes_of_every_chunk(spec: str, pp: int, vpp: int, tp: int) -> None:
    """The closed form lets C seconds of gradients hide behind one backward pass B of the whole stage.

    In Megatron's order the chunks but the first end a group of p micro-batches earlier, so the first stage shows
    ``max(C/v - B/v, C - B/v - p B (v - 1)/v)``; the timeline agrees (n layers a chunk: the first bucket is ready after 1/n of its pass).
    """
    c = case(spec, dp=64, m=pp, seq=2048, tp=tp, pp=pp, vpp=vpp, schedule="interleaved")
    # with the priors, whatever the fit says: the first stage has to be the one that shows its gradients
    work = step_work(c, arrays_of([c], Profile("priors", {})))
    bare = replace(work, chunks=tuple(tuple(replace(x, reduce=()) for x in row) for row in work.chunks))
    schedule = make_schedule("interleaved", pp, pp, vpp)
    adds = play(schedule, work, record=False).makespan_s - play(schedule, bare, record=False).makespan_s
    bulks = [bulk for chunk in work.chunks[0] for bulk in chunk.reduce]
    first = work.chunks[0]
    b = sum(x.backward.compute_s + x.weight.compute_s + sum(y.exposed_s for y in x.backward.traffic) for x in first) / vpp
    c_s = sum(bulk.seconds for bulk in bulks)
    ready = b * (1 - 1 / bulks[0].parts)
    shown = max(c_s / vpp - ready, c_s - ready - pp * b * (vpp - 1))
    assert adds == pytest.approx(sum(bulk.exposed_s for bulk in bulks) + shown, rel=0.01)


@pytest.mark.parametrize(("spec", "pp"), [("llama-3.1-70b", 4), ("llama-3.1-70b", 8), ("llama-3.1-405b", 16), ("deepseek-v3", 16)])
@pytest.mark.parametrize("rounds", [3, 4, 8])
def test_dualpipe_agrees(spec: str, pp: int, rounds: int) -> None:
    ep = 8 if spec == "deepseek-v3" else 1
    assert abs(difference(case(spec, dp=8, m=rounds * pp, pp=pp, ep=ep, schedule="dualpipe"))) < AGREE


@pytest.mark.parametrize("zero", [2, 3])
@pytest.mark.parametrize(("dp", "micro_batch"), [(8, 2), (64, 1), (512, 1)])
def test_sharded_data_parallelism_agrees(zero: int, dp: int, micro_batch: int) -> None:
    assert abs(difference(case("llama-3.1-8b", dp=dp, m=2, seq=8192, name="torchtitan", zero=zero, micro_batch=micro_batch))) < AGREE


def test_uneven_chunks_are_where_the_closed_form_is_slow() -> None:
    """80 layers on 16 x 4 places of 2: 40 are filled, the heaviest stage holds 6 layers; the closed form counts 8."""
    found = estimate_timeline(case(m=64, dp=1, tp=2, pp=16, vpp=4, schedule="interleaved"), shipped_profile())
    assert found.difference < -AGREE


def test_one_stage_is_its_work() -> None:
    """Without a pipeline and with nothing to overlap the timeline is the closed form itself."""
    found = estimate_timeline(case("llama-3.1-8b", dp=1, m=8, tp=8), shipped_profile())
    assert found.difference == pytest.approx(0, abs=1e-9)
    assert found.timeline.bubble_s == 0


def test_parts_and_outside_add_up() -> None:
    found = estimate_timeline(case(tp=4, pp=4, m=8), shipped_profile())
    played = found.timeline
    assert played.compute_s + played.bubble_s + played.end_s + sum(played.exposed_s.values()) == pytest.approx(played.step_s)
    assert played.step_s + found.outside_s == pytest.approx(found.step_time_s)
    assert found.difference == pytest.approx(found.step_time_s / found.closed_form_s - 1)


@pytest.mark.parametrize("schedule", ["1f1b", "zb-h1", "dualpipe"])
def test_work_of_all_stages_is_that_of_the_closed_form(schedule: str) -> None:
    """Compute and inner traffic summed over the stages: what the terms of the closed form sum up (all passes of a micro-batch)."""
    c = case("deepseek-v3", dp=8, m=32, pp=8, ep=8, schedule=schedule)
    arrays = arrays_of([c], shipped_profile())
    work = step_work(c, arrays)
    pieces = [p for row in work.chunks for chunk in row for p in (chunk.forward, chunk.backward, chunk.weight)]
    seconds = sum(p.compute_s + sum(x.exposed_s for x in p.traffic) for p in pieces)
    plain = arrays_of([replace(c, strategy=replace(c.strategy, schedule="1f1b"))], shipped_profile())
    terms = estimate_step(plain).terms
    names = ("matmul", "attention", "memory_bound", "logits", "recompute", "host", "tp", "cp", "ep")
    total = sum(float(terms[name][0]) for name in names if name in terms) * 8 / 32
    assert seconds == pytest.approx(total * (2 if schedule == "dualpipe" else 1), rel=1e-9)


@pytest.mark.parametrize(("recompute", "share"), [("none", 1 / 2), ("full", 1 / 3)])
def test_traffic_is_sent_by_forward_and_backward_as_the_law_counts_it(recompute: str, share: float) -> None:
    """Two pairs of collectives forward, two backward, the forward ones again with full recompute; none for the gradient of the weight."""
    c = case(tp=8, pp=4, recompute=recompute)
    chunk = step_work(c, arrays_of([c], shipped_profile())).chunks[0][0]
    ahead, back = chunk.forward.traffic[0].exposed_s, chunk.backward.traffic[0].exposed_s
    assert ahead / (ahead + back) == pytest.approx(share)
    assert chunk.weight.traffic == ()


def test_contention_slows_the_step() -> None:
    c = case("deepseek-v3", dp=8, m=16, pp=4, ep=8)
    free, slow = (estimate_timeline(c, shipped_profile(), contention=x).step_time_s for x in (1.0, 1.3))
    assert free < slow < 1.3 * free


def test_schedules_rank_as_published() -> None:
    """Less bubble, more memory: GPipe keeps all, 1F1B p, H1 p on every stage, H2 2 p - 1."""
    plans = [case("deepseek-v3", dp=8, m=32, pp=8, ep=8, schedule=name) for name in ("1f1b", "zb-h1", "zb-h2", "dualpipe")]
    closed = estimate_step(arrays_of(plans, shipped_profile())).step_time_s
    assert list(np.argsort(-closed)) == [0, 1, 2, 3]
    memory = estimate_memory([*plans, replace(plans[0], strategy=replace(plans[0].strategy, schedule="gpipe"))]).terms
    assert memory.activations[2] > memory.activations[1] >= memory.activations[0]
    assert memory.activations[4] > memory.activations[2]
    assert memory.weights[3] > 1.5 * memory.weights[0]


def test_a_batch_of_schedules_is_each_alone() -> None:
    plans = [case("deepseek-v3", dp=8, m=32, pp=8, ep=8, schedule=name) for name in SCHEDULE_CODE]
    together = estimate_step(arrays_of(plans, shipped_profile()))
    for i, plan in enumerate(plans):
        alone = estimate_step(arrays_of([plan], shipped_profile()))
        assert together.step_time_s[i] == pytest.approx(alone.step_time_s[0], rel=1e-12), plan.strategy.schedule
        assert sum(float(np.broadcast_to(v, (len(plans),))[i]) for v in together.terms.values()) == pytest.approx(together.step_time_s[i])


def test_a_share_of_a_micro_batch_cannot_be_played() -> None:
    c = case(m=8, tp=4, pp=4)
    with pytest.raises(InputError) as caught:
        estimate_timeline(replace(c, job=replace(c.job, global_batch=c.job.global_batch + 1)), shipped_profile())
    assert caught.value.message_id == "timeline.count"


def test_waits_of_large_jobs_stand_outside_the_pipeline_in_both_methods() -> None:
    """64 nodes under nanotron: the wait of its slots is the same on both sides, and most of the step."""
    c = case("llama-3.1-8b", dp=128, m=8, pp=4, name="nanotron")
    wait = estimate_step(arrays_of([c], shipped_profile())).terms["wait"][0]
    told = estimate_timeline(c, shipped_profile())
    assert told.outside_s >= wait > 0
    # nanotron deals its layers by cost, the timeline evenly: that much they may differ
    assert abs(told.difference) < 0.05

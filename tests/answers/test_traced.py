"""The trace of a step: order, places and waits of a pipeline as published, told independently of the engine."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tierspan.answers.predict import predict
from tierspan.answers.question import Question, build_question
from tierspan.answers.traced import trace
from tierspan.quantities.errors import InputError
from tierspan.specs.models import model
from tierspan.specs.trace import Pass, Span, Trace

TINY = replace(model("llama-3.1-8b"), layers=24)
ALL = [("gpipe", 1), ("1f1b", 1), ("interleaved", 4), ("zb-h1", 1), ("zb-h2", 1), ("dualpipe", 1)]


def asked(**more: object) -> Question:
    """Llama 3.1 405B on 1,024 H100: eight stages of eight virtual chunks, 32 micro-batches."""
    given = {"system": "dgx-h100", "accelerators": 1024, "model": "llama-3.1-405b", "sequence_length": 8192, "global_batch": 256}
    return build_question(**{**given, "tp": 8, "pp": 8, "vpp": 8, "cp": 2, "precision": "bf16", **more})  # type: ignore[arg-type]


def experts(schedule: str, vpp: int = 1, **more: object) -> Question:
    return asked(model="deepseek-v3", accelerators=256, tp=1, cp=1, ep=8, vpp=vpp, global_batch=512, sequence_length=4096, schedule=schedule, **more)


@pytest.fixture(scope="module")
def deep() -> Trace:
    return trace(asked())


def tasks_of(found: Trace, rank: int) -> list[Span]:
    return [span for span in found.spans_of(rank, "compute") if span.passes]


def megatron_order(pp: int, rank: int, vpp: int, micro_batches: int) -> list[Pass]:
    """Narayanan et al. 2021, section 2.2, as Megatron-LM runs it: virtual micro-batch k stands for a chunk and a micro-batch."""

    def one(k: int, ahead: bool) -> Pass:
        chunk = k % (pp * vpp) // pp
        return Pass("forward" if ahead else "backward", k // (pp * vpp) * pp + k % pp, chunk if ahead else vpp - 1 - chunk)

    total = micro_batches * vpp
    warm_up = min((pp - rank - 1) * 2 + (vpp - 1) * pp, total)
    out = [one(k, True) for k in range(warm_up)]
    for k in range(total - warm_up):
        out += [one(warm_up + k, True), one(k, False)]
    return out + [one(k, False) for k in range(total - warm_up, total)]


def test_each_stage_runs_the_interleaved_order_of_megatron(deep):
    assert len(deep.ranks) == 8
    for rank in deep.ranks:
        ran = [span.passes for span in tasks_of(deep, rank.rank)]
        assert ran == [(one,) for one in megatron_order(8, rank.stage, 8, 32)], f"stage {rank.stage}"


def test_a_pass_waits_for_the_place_before_and_for_its_message(deep):
    """Chunk c of stage s is place 8 c + s of 64; results go along it forward, and back again."""
    stage = {rank.rank: rank.stage for rank in deep.ranks}
    when = {(s.passes[0].kind, s.passes[0].micro_batch, 8 * s.passes[0].chunk + stage[s.rank]): s for r in deep.ranks for s in tasks_of(deep, r.rank)}
    messages = {span.end_s - span.start_s for span in deep.spans if span.kind in ("activation_send", "gradient_send")}
    message = max(messages)
    assert message == pytest.approx(min(messages), rel=1e-6)
    assert message > 0
    assert len(when) == 2 * 32 * 64
    for (kind, micro_batch, place), span in when.items():
        before = ("forward", micro_batch, place - 1) if kind == "forward" else ("backward", micro_batch, place + 1)
        if before in when:
            assert span.start_s >= when[before].end_s + message - 1e-9
        elif kind == "backward":
            assert span.start_s >= when["forward", micro_batch, place].end_s - 1e-9


def test_arrows_join_neighbours_along_the_places(deep):
    stage = {rank.rank: rank.stage for rank in deep.ranks}
    assert Counter(arrow.kind for arrow in deep.arrows) == {"activation": 32 * 63, "gradient": 32 * 63}
    for arrow in deep.arrows:
        source, target = deep.spans[arrow.source], deep.spans[arrow.target]
        assert source.kind == f"{arrow.kind}_send"
        assert target.kind == ("forward" if arrow.kind == "activation" else "backward")
        assert source.passes[0].micro_batch == target.passes[0].micro_batch == arrow.micro_batch
        places = [8 * span.passes[0].chunk + stage[span.rank] for span in (source, target)]
        assert places[1] - places[0] == (1 if arrow.kind == "activation" else -1)
        assert source.end_s <= target.start_s + 1e-9


def test_ranks_layers_and_tiers_have_their_names(deep):
    assert [rank.rank for rank in deep.ranks] == [128 * stage for stage in range(8)]
    assert [stream.name for stream in deep.streams] == ["compute", "host", "NVLink 4 (NVSwitch)", "InfiniBand NDR"]
    # 126 layers and two ends fill 64 places of two
    assert deep.ranks[0].layers[:2] == ((0, 0), (15, 16))
    assert deep.ranks[7].layers[-1] == (125, 125)
    held = [layer for rank in deep.ranks for first, last in rank.layers for layer in range(first, last + 1)]  # type: ignore[misc]
    assert sorted(held) == list(range(126))
    carried = {(span.kind, deep.streams[span.stream].name) for span in deep.spans if deep.streams[span.stream].kind == "tier"}
    assert carried == {
        ("tp", "NVLink 4 (NVSwitch)"), ("cp", "InfiniBand NDR"), ("activation_send", "InfiniBand NDR"), ("gradient_send", "InfiniBand NDR"),
        ("parameter_gather", "InfiniBand NDR"), ("gradient_reduce", "InfiniBand NDR"),
    }  # fmt: skip


def test_another_rank_order_numbers_the_stages_otherwise():
    assert [rank.rank for rank in trace(asked(rank_order="tp-pp-cp-ep-dp")).ranks] == [8 * stage for stage in range(8)]


def test_dualpipe_holds_the_model_twice():
    found = trace(experts("dualpipe"))
    first, second = ([layers for rank in found.ranks for layers in [rank.layers[copy]]] for copy in (0, 1))
    assert first == second[::-1]
    assert {span.kind for span in found.spans} >= {"pair", "weight_gradient", "input_gradient", "backward"}
    pairs = [span for span in found.spans if span.kind == "pair"]
    assert all([one.kind for one in span.passes] == ["forward", "backward"] and span.passes[0].chunk != span.passes[1].chunk for span in pairs)


@pytest.mark.parametrize(("schedule", "vpp"), ALL)
def test_what_holds_of_every_schedule(schedule: str, vpp: int):
    asks = experts(schedule, vpp)
    found, told = trace(asks), predict(asks, timeline=True).timeline
    assert told is not None
    assert (found.step_time_s, found.schedule) == (told.step_time_s, told.schedule)
    assert found.bubble_s / found.step_time_s == pytest.approx(told.bubble_share)
    assert [counter.peak for counter in found.counters] == pytest.approx(list(told.in_flight))
    holds(found)
    exposed = {kind: sum(span.exposed_s for span in found.spans if span.kind == kind) / 8 for kind in ("tp", "cp", "ep")}
    said = {part.kind: part.exposed_s for part in told.traffic}
    assert exposed == pytest.approx({kind: said.get(kind, 0.0) for kind in exposed}, rel=1e-6)


def holds(found: Trace) -> None:
    """What no trace may break."""
    assert list(found.spans) == sorted(found.spans, key=lambda s: (s.rank, s.stream, s.start_s, -s.end_s, s.kind))
    assert all(0 <= span.start_s <= span.end_s <= found.makespan_s + 1e-9 for span in found.spans)
    assert all(0 <= span.exposed_s <= span.end_s - span.start_s + 1e-9 for span in found.spans if not span.kind.endswith("_send"))
    chunks = len(found.ranks[0].layers)
    for rank in found.ranks:
        for one, other in pairwise(found.spans_of(rank.rank, "compute")):
            assert one.end_s <= other.start_s + 1e-9
        ran = Counter(one for span in tasks_of(found, rank.rank) for one in span.passes)
        assert set(ran.values()) == {1}
        # each micro-batch passes each chunk forward once, and its weight gradient is computed once
        forward = {(one.micro_batch, one.chunk) for one in ran if one.kind == "forward"}
        assert forward == {(one.micro_batch, one.chunk) for one in ran if one.kind in ("backward", "weight_gradient")}
        assert forward == {(one.micro_batch, one.chunk) for one in ran if one.kind in ("backward", "input_gradient")}
        assert len(forward) == found.micro_batches * (1 if found.schedule == "dualpipe" else chunks)
    assert [counter.points[-1][1] for counter in found.counters] == [0.0] * len(found.ranks)
    places = len(found.ranks) * (1 if found.schedule == "dualpipe" else chunks)
    if len(found.ranks) > 1:
        assert len(found.arrows) == 2 * found.micro_batches * (places - 1)
    assert all(found.spans[a.source].end_s <= found.spans[a.target].start_s + 1e-9 for a in found.arrows)


@st.composite
def plans(draw: st.DrawFn) -> Question:
    schedule, _ = draw(st.sampled_from(ALL))
    pp = draw(st.sampled_from([2, 4, 8] if schedule == "dualpipe" else [2, 3, 4, 8] if schedule == "interleaved" else [1, 2, 3, 4, 8]))
    vpp = draw(st.sampled_from([2, 3])) if schedule == "interleaved" else 1
    micro_batches = (2 * pp if schedule == "dualpipe" else pp if vpp > 1 else 1) + 2 * draw(st.integers(0, 6))
    tp, dp = draw(st.sampled_from([1, 2, 8])), draw(st.sampled_from([1, 4]))
    return build_question(
        system="dgx-h100", accelerators=tp * pp * dp, model=TINY, sequence_length=2048, global_batch=dp * micro_batches, precision="bf16",
        tp=tp, pp=pp, vpp=vpp, schedule=schedule, recompute=draw(st.sampled_from(["none", "full"])),
        micro_batch=1, zero=draw(st.sampled_from([0, 1, 3] if pp == 1 else [1])),
    )  # fmt: skip


@given(plans())
@settings(max_examples=40, deadline=None)
def test_what_holds_of_every_plan(asks: Question):
    holds(trace(asks))


def test_chunks_without_layers_are_passed_all_the_same():
    """80 layers on 16 x 4 places of two: the last 24 places are empty, and micro-batches go through them."""
    found = trace(asked(model="llama-3.1-70b", tp=2, cp=1, pp=16, vpp=4, global_batch=32 * 16, sequence_length=4096))
    assert found.ranks[15].layers == ((30, 31), (62, 63), None, None)
    holds(found)


def test_sharded_parameters_are_gathered_and_scattered_for_every_pass():
    found = trace(asked(model="llama-3.1-8b", accelerators=64, tp=1, pp=1, vpp=1, cp=1, zero=3, micro_batch=1, global_batch=128, stack="torchtitan"))
    kinds = Counter(span.kind for span in found.spans if span.passes)
    assert kinds["forward"] == kinds["backward"] == found.micro_batches == 2
    assert kinds["parameter_gather"] >= 4
    assert kinds["gradient_reduce"] >= 2
    assert {found.streams[span.stream].name for span in found.spans if span.kind == "parameter_gather"} == {"InfiniBand NDR"}


def test_a_plan_that_cannot_run_has_no_trace():
    with pytest.raises(InputError) as caught:
        trace(asked(schedule="zb-h1"))
    assert caught.value.message_id == "trace.invalid"
    assert "strategy." in str(caught.value)

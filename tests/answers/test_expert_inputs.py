"""Uneven experts and dispatchers: what they do to a step, for any plan."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tierspan.answers.predict import case_of, predict
from tierspan.answers.question import Question, build_question
from tierspan.estimates.cases import arrays_of
from tierspan.estimates.layer import pieces_of
from tierspan.estimates.step import StepEstimate, estimate_step
from tierspan.specs.profile.profile import shipped_profile
from tierspan.specs.strategy import OF_STACK

DISPATCHERS = ("alltoall", "deepep", "hybridep")
ONCE = ("deepep", "hybridep")
EXPERTS = {"mixtral-8x7b": (2, 4, 8), "qwen3-30b-a3b": (2, 8, 16, 32), "deepseek-v3": (2, 8, 32, 64)}


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """A plan of a model with experts on 128 accelerators that keeps every rule or most of them."""
    model = draw(st.sampled_from(sorted(EXPERTS)))
    return build_question(
        system=draw(st.sampled_from(("dgx-h100", "dgx-b200", "gb200-nvl72"))), accelerators=128, domain_size=draw(st.sampled_from((2, 4, 8))),
        model=model, sequence_length=4096, global_batch=512, ep=draw(st.sampled_from(EXPERTS[model])), tp=draw(st.sampled_from((1, 2))),
        pp=draw(st.sampled_from((1, 2))), recompute=draw(st.sampled_from(("none", "full"))), precision=draw(st.sampled_from(("bf16", "fp8"))),
        stack=draw(st.sampled_from(("megatron-core", "megatron-bridge", "torchtitan"))),
        schedule=draw(st.sampled_from((None, "zb-h1"))),
    )  # fmt: skip


def estimate(question: Question, **plan: object) -> StepEstimate:
    return estimate_step(arrays_of([case_of(replace(question, strategy=replace(question.strategy, **plan)))], shipped_profile()))


def step(question: Question, **plan: object) -> float:
    return float(estimate(question, **plan).step_time_s[0])


def experts(question: Question, **plan: object) -> float:
    """Exposed traffic of experts in s."""
    return float(np.ravel(estimate(question, **plan).terms["ep"])[0])


@settings(max_examples=40, deadline=None)
@given(questions(), st.sampled_from(DISPATCHERS), st.floats(1.0, 8.0), st.floats(1.0, 8.0))
def test_a_busier_rank_never_makes_a_step_faster(question: Question, dispatcher: str, one: float, other: float) -> None:
    low, high = sorted((one, other))
    for told in (step, experts):
        busier = told(question, dispatcher=dispatcher, expert_imbalance=high)
        assert told(question, dispatcher=dispatcher, expert_imbalance=low) <= busier * (1 + 1e-12)
    assert step(question, dispatcher=dispatcher, expert_imbalance=8.0) > step(question, dispatcher=dispatcher)


@settings(max_examples=30, deadline=None)
@given(questions())
def test_saying_what_is_taken_anyway_changes_nothing(question: Question) -> None:
    usual = question.strategy.dispatcher
    said = step(question, expert_imbalance=1.0, dispatcher=usual)
    assert said == step(question) == step(question, dispatcher=None)
    assert step(question, dispatcher="deepep") == step(question, dispatcher="hybridep")


@settings(max_examples=40, deadline=None)
@given(questions(), st.sampled_from(ONCE), st.floats(1.0, 4.0))
def test_a_copy_a_domain_is_never_slower_than_a_copy_an_expert(question: Question, once: str, imbalance: float) -> None:
    for told in (step, experts):
        assert told(question, dispatcher=once, expert_imbalance=imbalance) <= told(question, dispatcher="alltoall", expert_imbalance=imbalance)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(DISPATCHERS), st.sampled_from((8, 16, 32, 64)), st.floats(1.0, 4.0), st.integers(0, 5), st.integers(0, 5))
def test_a_larger_domain_never_slows_the_dispatch(dispatcher: str, ep: int, imbalance: float, one: int, other: int) -> None:
    small, large = (
        build_question(
            system="gb200-nvl72", accelerators=256, domain_size=2**exponent, model="deepseek-v3", sequence_length=4096, global_batch=512, ep=ep, pp=4
        )
        for exponent in sorted((one, other))
    )
    assert experts(large, dispatcher=dispatcher, expert_imbalance=imbalance) <= experts(small, dispatcher=dispatcher, expert_imbalance=imbalance) * (
        1 + 1e-12
    )


def test_only_routed_tokens_are_multiplied() -> None:
    """Doubled: the traffic but its latency, and the passes over routed tokens; the same: attention, logits, host, bubble's cause apart."""
    question = build_question(
        system="dgx-h100",
        accelerators=64,
        model="mixtral-8x7b",
        sequence_length=4096,
        global_batch=256,
        ep=8,
        precision="bf16",
        stack="megatron-core",
    )
    even, busy = estimate(question), estimate(question, expert_imbalance=2.0)
    for name in ("attention", "logits", "optimizer", "constant"):
        assert busy.terms[name] == pytest.approx(even.terms[name])
    assert float(busy.flops_per_step[0]) == float(even.flops_per_step[0])
    assert experts(question, expert_imbalance=2.0) == pytest.approx(2.0 * experts(question), rel=0.02)
    pieces = [
        pieces_of(arrays_of([case_of(replace(question, strategy=replace(question.strategy, expert_imbalance=x)))], shipped_profile())) for x in (1, 2)
    ]
    products = [float(p.forward["matmul"][0]) for p in pieces]
    assert products[0] < products[1] < 2.0 * products[0], "attention and the router stay"
    assert (
        predict(replace(question, strategy=replace(question.strategy, expert_imbalance=2.0))).memory.total_bytes
        == predict(question).memory.total_bytes
    )


def test_without_a_dispatcher_the_stack_decides() -> None:
    for name, kind in (("megatron-core", "alltoall"), ("megatron-bridge", "deepep")):
        question = build_question(
            system="dgx-h100", accelerators=64, model="deepseek-v3", sequence_length=4096, global_batch=256, ep=32, pp=2, stack=name
        )
        blank = replace(question, strategy=replace(question.strategy, dispatcher=None))
        assert arrays_of([case_of(blank)], shipped_profile()).strategies.dispatcher[0] == OF_STACK
        assert step(blank) == step(question, dispatcher=kind)
        assert step(question, dispatcher="deepep") < step(question, dispatcher="alltoall")

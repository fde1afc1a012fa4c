"""Laws of one layer: host time of crossing pipelines, tensor-parallel waits and calls, dispatch, sinks, biases, dropped tokens."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tierspan.estimates.cases import Case, arrays_of
from tierspan.estimates.exchange import layer_exchange
from tierspan.estimates.layer import Cases, network_of, pieces_of, rates_of
from tierspan.laws.collectives import all_reduce_s, gather_s
from tierspan.laws.groups import group_span
from tierspan.specs.catalog import cluster
from tierspan.specs.models import model
from tierspan.specs.profile.profile import Profile
from tierspan.specs.stacks.stack import stack
from tierspan.specs.strategy import Job, Strategy

PRIORS = Profile("priors", {})
few = settings(max_examples=30, deadline=None)


def case(n: int = 64, spec: str = "llama-3.1-8b", name: str = "nanotron", system: str = "dgx-h100", **plan: object) -> Case:
    return Case(model(spec), cluster(system, n), Job(4096, 256), Strategy(**plan), stack(name))  # type: ignore[arg-type]


def arrays(c: Case, **constants: float) -> Cases:
    """The case with some constants replaced."""
    found = arrays_of([c], PRIORS)
    return replace(found, constants=replace(found.constants, **{name: np.array([value]) for name, value in constants.items()}))


def tp_s(cases: Cases) -> float:
    """Exposed tensor-parallel seconds of a layer."""
    return float(sum(v[0] for kind, _, v in layer_exchange(cases, network_of(cases), np.zeros(1)).by_tier if kind == "tp"))


def pair_s(cases: Cases) -> float:
    """A pair of collectives around a block, unhidden."""
    s = cases.strategies
    tp = group_span(s.tp, s.tp_stride, cases.clusters.domain_size)
    volume = 2.0 * s.micro_batch * s.sequence_length * cases.models.hidden
    network = network_of(cases)
    return float((2 * gather_s(volume, tp, network) if s.sp[0] else all_reduce_s(volume, tp, network))[0])


# host


def host_s(c: Case, **constants: float) -> float:
    return float(pieces_of(arrays(c, **constants)).host[0])


@pytest.mark.parametrize(
    ("n", "plan", "expected"),
    [
        # no pipeline, and one that stays inside the node: launches alone
        (64, {"tp": 8}, 1e-3),
        (8, {"tp": 2, "pp": 4}, 1e-3),
        # stages of 8 ranks on different nodes: 2 ms for each of the tensor-parallel ranks
        (64, {"tp": 4, "pp": 2}, 1e-3 + 4 * 2e-3),
        (64, {"tp": 8, "pp": 2}, 1e-3 + 8 * 2e-3),
        # tensor parallelism over two nodes: half as much again
        (64, {"tp": 16, "pp": 2}, 1e-3 + 16 * 2e-3 * 1.5),
        # the pipeline's launches are not repeated by a recompute
        (64, {"tp": 4, "pp": 2, "recompute": "full"}, 4e-3 / 3 + 4 * 2e-3),
    ],
)
def test_host_time_of_a_pipeline_that_leaves_the_domain(n: int, plan: dict[str, object], expected: float) -> None:
    assert host_s(case(n, **plan), host_layer_s=1e-3, host_pipeline_s=2e-3, host_cross_factor=1.5) == pytest.approx(expected)


def test_other_stacks_do_not_wait_for_python() -> None:
    far, near = case(name="megatron-core", tp=8, pp=2), case(name="megatron-core", tp=8)
    assert host_s(far) == host_s(near)


@few
@given(a=st.floats(1e-5, 1e-2), more=st.floats(1, 5), tp=st.sampled_from([1, 2, 4, 8, 16]), cross=st.floats(1, 5))
def test_host_time_grows_with_its_cost_and_the_ranks(a: float, more: float, tp: int, cross: float) -> None:
    c = case(tp=tp, pp=2)
    here = host_s(c, host_pipeline_s=a, host_cross_factor=cross)
    assert here <= host_s(c, host_pipeline_s=a * more, host_cross_factor=cross) * (1 + 1e-12)
    assert here <= host_s(c, host_pipeline_s=a, host_cross_factor=cross * more) * (1 + 1e-12)
    if tp < 16:
        assert here < host_s(case(tp=2 * tp, pp=2), host_pipeline_s=a, host_cross_factor=cross)


def test_dropped_tokens_spare_the_host_its_wait() -> None:
    c = case(spec="mixtral-8x7b", name="megatron-core", ep=8)
    drops = replace(c, stack=replace(c.stack, drops_tokens=1.0))
    assert host_s(c, host_layer_s=1e-3, host_moe_s=3e-3) == pytest.approx(4e-3)
    assert host_s(drops, host_layer_s=1e-3, host_moe_s=3e-3) == pytest.approx(1e-3)
    dense = case(name="megatron-core")
    assert host_s(dense) == host_s(replace(dense, stack=replace(dense.stack, drops_tokens=1.0)))


# tensor-parallel collectives


@few
@given(skew=st.floats(1e-6, 5e-3), tp=st.sampled_from([2, 4, 8]), sp=st.booleans())
def test_nobody_waits_inside_the_domain(skew: float, tp: int, sp: bool) -> None:
    c = case(tp=tp, sp=sp)
    assert tp_s(arrays(c, rank_skew_s=skew)) == tp_s(arrays(c, rank_skew_s=0.0))


@pytest.mark.parametrize(("tp", "crossed"), [(16, 1), (32, 3)])
@pytest.mark.parametrize("sp", [True, False])
def test_a_crossing_collective_is_cut_into_the_best_chunks(tp: int, crossed: int, sp: bool) -> None:
    """2 collectives a pair with sequence parallelism, else 1; 2 pairs forward and 2 backward."""
    c = arrays(case(tp=tp, sp=sp), rank_skew_s=1e-3, tp_exposed=1.0)
    calls = 2 if sp else 1
    wire, wait = pair_s(c) / calls, crossed * 1e-3
    best = (np.sqrt(wire) + np.sqrt(wait)) ** 2
    assert tp_s(c) == pytest.approx(4 * calls * best)
    # x chunks through two stages take x + 1 slots; no cut is better, the best x reaches it
    for x in np.geomspace(0.1, 100, 50):
        assert (x + 1) * (wire / x + wait) >= best * (1 - 1e-12)
    x = np.sqrt(wire / wait)
    assert (x + 1) * (wire / x + wait) == pytest.approx(best)


@few
@given(skew=st.floats(1e-6, 5e-3), more=st.floats(1, 10), sp=st.booleans())
def test_the_wait_grows_with_the_skew_and_the_domains_crossed(skew: float, more: float, sp: bool) -> None:
    def extra(tp: int, s: float) -> float:
        c = case(tp=tp, sp=sp)
        return tp_s(arrays(c, rank_skew_s=s)) - tp_s(arrays(c, rank_skew_s=0.0))

    assert 0 < extra(16, skew) <= extra(16, skew * more) * (1 + 1e-9)
    assert extra(16, skew) < extra(32, skew)
    # at least the wait itself, for every collective
    assert extra(16, skew) >= 4 * (2 if sp else 1) * skew * (1 - 1e-9)


def test_without_a_pipeline_crossing_traffic_comes_on_top() -> None:
    # the host takes a hundred times longer than the device: it would hide all traffic that runs beside compute
    p = pieces_of(arrays(case(tp=16), host_layer_s=1.0))
    outside = sum(v[0] for kind, t, v in p.traffic.by_tier if kind == "tp" and t > 0)
    assert outside > 0
    assert p.layer[0] == pytest.approx(1.0 + outside, rel=1e-6)
    piped = pieces_of(arrays(case(tp=16, pp=2), host_layer_s=1.0, host_pipeline_s=0.0))
    assert piped.layer[0] == pytest.approx(1.0, rel=1e-6)
    inside = pieces_of(arrays(case(tp=8), host_layer_s=1.0))
    assert inside.layer[0] == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize(
    ("plan", "calls"),
    [
        ({"tp": 1}, 0),
        ({"tp": 4}, 8),
        ({"tp": 4, "sp": False}, 4),
        # a full recompute sends the forward part once more
        ({"tp": 4, "recompute": "full"}, 12),
    ],
)
def test_every_collective_costs_a_call(plan: dict[str, object], calls: int) -> None:
    c = case(name="megatron-core", **plan)
    assert tp_s(arrays(c, tp_call_s=1e-5)) - tp_s(arrays(c, tp_call_s=0.0)) == pytest.approx(calls * 1e-5)
    # where Python drives the launches their time stands in the host terms
    driven = replace(c, stack=replace(c.stack, host_driven=1.0))
    assert tp_s(arrays(driven, tp_call_s=1e-5)) == tp_s(arrays(driven, tp_call_s=0.0))


def test_what_compute_hides_does_not_pay_for_waits_and_calls() -> None:
    c = case(name="megatron-core", tp=16)
    for skew, call in ((0.0, 0.0), (0.0, 2e-4), (5e-3, 2e-4)):
        a = arrays(c, rank_skew_s=skew, tp_call_s=call, tp_exposed=0.9)
        hidden = layer_exchange(a, network_of(a), np.zeros(1)).hidden["tp"][0]
        assert hidden == pytest.approx(0.1 * 4 * pair_s(a))


# experts


def ep_s(c: Case) -> float:
    a = arrays(c)
    return float(sum(v[0] for kind, _, v in layer_exchange(a, network_of(a), np.ones(1)).by_tier if kind == "ep"))


def once(c: Case) -> Case:
    return replace(c, stack=replace(c.stack, dispatch_once=1.0))


@few
@given(
    ep=st.sampled_from([2, 4, 8, 16, 32, 64]), spec=st.sampled_from(["mixtral-8x7b", "deepseek-v3", "qwen3-30b-a3b"]), full=st.booleans(),
)  # fmt: skip
def test_dispatch_once_is_never_more_than_all_copies(ep: int, spec: str, full: bool) -> None:
    c = case(64, spec, "megatron-core", ep=ep, recompute="full" if full else "none")
    copies, single = ep_s(c), ep_s(once(c))
    assert 0 < single <= copies * (1 + 1e-12)


def test_one_of_two_experts_may_live_on_the_same_rank() -> None:
    """Two experts a token over 2, 4 and 8 ranks of a node: 2 (1 - (1 - 1/g)^2 ...) ranks are reached in place of 2."""
    for g in (2, 4, 8):
        c = case(8, "mixtral-8x7b", "megatron-core", ep=g)
        reached = g * (1 - (1 - 1 / g) ** 2)
        assert ep_s(once(c)) / ep_s(c) == pytest.approx(reached / 2)


def test_sinks_that_are_not_fused_write_their_scores() -> None:
    def flash(spec: str, fuses: float) -> float:
        c = case(spec=spec, name="megatron-bridge")
        return float(np.broadcast_to(rates_of(arrays(replace(c, stack=replace(c.stack, fuses_sinks=fuses)))).flash, (1,))[0])

    assert [flash("gpt-oss-20b", f) for f in (1.0, 0.0)] == [1.0, 0.0]
    # a model without sinks does not notice
    assert [flash("llama-3.1-8b", f) for f in (1.0, 0.0)] == [1.0, 1.0]
    assert stack("megatron-bridge-26.02").fuses_sinks == 0
    assert stack("megatron-bridge-26.06").fuses_sinks == 1


def test_the_moe_factor_slows_passes_alone() -> None:
    c = case(spec="mixtral-8x7b", name="megatron-core", ep=8)
    plain, double = pieces_of(arrays(c, moe_factor=1.0)), pieces_of(arrays(c, moe_factor=2.0))
    assert double.forward["matmul"][0] == plain.forward["matmul"][0]
    assert double.forward["memory_bound"][0] > plain.forward["memory_bound"][0]
    dense = case(name="megatron-core")
    assert pieces_of(arrays(dense, moe_factor=2.0)).layer[0] == pieces_of(arrays(dense, moe_factor=1.0)).layer[0]

"""Laws of the step: waits of large jobs, gradients hidden by chunks, gathers tensor by tensor, attention kernels, stages by cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tierspan.estimates.cases import Case, arrays_of
from tierspan.estimates.exchange import bulk_traffic, step_exchange
from tierspan.estimates.layer import Cases, network_of, pieces_of
from tierspan.estimates.step import estimate_step
from tierspan.laws.collectives import ring_latency_s
from tierspan.laws.counts import dense_layer_parameters, head_parameters
from tierspan.laws.pipeline import balanced_stage_layers, stage_layers
from tierspan.specs.catalog import cluster
from tierspan.specs.models import model
from tierspan.specs.profile.profile import Profile
from tierspan.specs.stacks.stack import stack
from tierspan.specs.strategy import Job, Strategy

PRIORS = Profile("priors", {})
few = settings(max_examples=40, deadline=None)


def case(n: int = 64, spec: str = "llama-3.1-8b", name: str = "nanotron", batch: int = 1024, **plan: object) -> Case:
    return Case(model(spec), cluster("dgx-h100", n), Job(4096, batch), Strategy(**plan), stack(name))  # type: ignore[arg-type]


def arrays(c: Case, **constants: float) -> Cases:
    """The case with some constants replaced."""
    found = arrays_of([c], PRIORS)
    return replace(found, constants=replace(found.constants, **{name: np.array([value]) for name, value in constants.items()}))


# waits of large jobs


def wait_s(c: Case, wait: float = 0.9) -> float:
    return float(estimate_step(arrays(c, slot_wait_s=wait)).terms["wait"][0])


def test_slots_wait_from_64_nodes_on() -> None:
    # 1024 / (512 / 4) = 8 micro-batches, 4 stages: 11 slots, of each stage 3 of 4 are handed on
    assert wait_s(case(512, pp=4)) == pytest.approx(0.9 * 0.75 * 11)
    assert wait_s(case(1024, pp=4, batch=2048)) == pytest.approx(0.9 * 0.75 * 11)


@few
@given(nodes=st.integers(1, 63), pp=st.sampled_from([1, 2, 4, 8]), tp=st.sampled_from([1, 8]), wait=st.floats(0.1, 2))
def test_smaller_jobs_do_not_wait(nodes: int, pp: int, tp: int, wait: float) -> None:
    assert wait_s(case(8 * nodes, pp=pp, tp=tp), wait) == 0


def test_other_stacks_and_jobs_without_pipeline_do_not_wait() -> None:
    assert wait_s(case(512)) == wait_s(case(1024, tp=8)) == 0
    for name in ("megatron-core", "torchtitan", "unknown"):
        assert float(estimate_step(arrays(case(1024, name=name, pp=4))).terms["wait"][0]) == 0


@few
@given(pp=st.sampled_from([2, 4, 8]), wait=st.floats(0.1, 2), more=st.floats(1, 4), batch=st.sampled_from([512, 1024, 4096]))
def test_the_wait_grows_with_its_cost_and_the_slots(pp: int, wait: float, more: float, batch: int) -> None:
    here = wait_s(case(512, pp=pp, batch=batch), wait)
    assert here > 0
    assert wait_s(case(512, pp=pp, batch=batch), wait * more) == pytest.approx(here * more)
    assert wait_s(case(512, pp=2 * pp, batch=batch), wait) > here
    assert wait_s(case(512, pp=pp, batch=2 * batch), wait) > here


# gradients under chunks


def exposed_s(c: Case, backward_s: float, least: float = 0.2) -> tuple[float, float]:
    """(exposed, cost) of the gradient all-reduce of a ZeRO-0 plan beside a backward pass of ``backward_s`` a micro-batch."""
    a = arrays(c, dp_exposed=least)
    s = a.strategies
    stages = stage_layers(a.models.layers, s.pp, s.vpp)
    network = network_of(a)
    window = np.array([backward_s]) / stages.heaviest
    ends = step_exchange(a, network, s.micro_batches, stages, window, window)
    return float(sum(v[0] for kind, _, v in ends.by_tier if kind == "dp")), float(bulk_traffic(a, network, stages).grads[0])


def plan(vpp: int = 1, batch: int = 1024) -> Case:
    return case(64, name="megatron-core", pp=4, vpp=vpp, zero=0, batch=batch)


@few
@given(backward=st.floats(0, 1), least=st.floats(0.01, 1))
def test_without_chunks_the_last_backward_pass_hides_gradients(backward: float, least: float) -> None:
    exposed, cost = exposed_s(plan(), backward, least)
    assert exposed == pytest.approx(least * cost + max((1 - least) * cost - backward, 0), rel=1e-9)


@few
@given(
    backward=st.floats(0, 1),
    more=st.floats(1, 10),
    least=st.floats(0.01, 1),
    vpp=st.sampled_from([1, 2, 4, 8]),
    batch=st.sampled_from([16, 32, 1024]),
)
def test_hidden_gradients_cost_between_the_least_and_all(backward: float, more: float, least: float, vpp: int, batch: int) -> None:
    exposed, cost = exposed_s(plan(vpp, batch), backward, least)
    assert least * cost * (1 - 1e-9) <= exposed <= cost * (1 + 1e-9)
    # a longer backward pass never shows more
    assert exposed_s(plan(vpp, batch), backward * more, least)[0] <= exposed * (1 + 1e-9)


def test_chunks_by_hand() -> None:
    """Four chunks, 64 micro-batches, four stages: three chunks are done up to 12 chunk passes early."""
    cost = exposed_s(plan(4), 0.0, 0.5)[1]
    rest = cost / 2
    # nothing runs beside it: all shows
    assert exposed_s(plan(4), 0.0, 0.5)[0] == pytest.approx(cost)
    # passes so short that 13 of them (12 early ones and the last) do not cover it
    assert exposed_s(plan(4), rest * 4 / 20, 0.5)[0] == pytest.approx(cost / 2 + rest - 13 / 20 * rest)
    # the group covers the rest: a quarter less the last chunk's own pass
    assert exposed_s(plan(4), rest * 4 / 10, 0.5)[0] == pytest.approx(cost / 2 + rest / 4 - rest / 10)
    # the last chunk's pass covers its own part
    assert exposed_s(plan(4), rest, 0.5)[0] == pytest.approx(cost / 2)


def test_not_overlapped_gradients_show_whole() -> None:
    c = plan(4)
    exposed, cost = exposed_s(replace(c, strategy=replace(c.strategy, overlap_grad_reduce=False)), 1.0)
    assert exposed == pytest.approx(cost)


# parameters gathered tensor by tensor


def params_s(tensors: float, layers_like: str = "llama-3.1-8b", pp: int = 1) -> tuple[float, float, float]:
    """(gather of the parameters, trip round the ring, layers of the heaviest stage)."""
    c = case(64, layers_like, "nanotron", zero=1, pp=pp)
    a = arrays(replace(c, stack=replace(c.stack, gathered_tensors=tensors)))
    stages, network = stage_layers(a.models.layers, a.strategies.pp, a.strategies.vpp), network_of(a)
    bulk = bulk_traffic(a, network, stages)
    return float(bulk.params[0]), float(ring_latency_s(bulk.shard, network)[0]), float(stages.heaviest[0])


@pytest.mark.parametrize("pp", [1, 4])
def test_every_tensor_is_a_gather_of_its_own(pp: int) -> None:
    six, trip, layers = params_s(6.0, pp=pp)
    three = params_s(3.0, pp=pp)[0]
    assert six - three == pytest.approx(3 * layers * trip, rel=1e-6)
    assert trip > 0


def test_the_gather_grows_with_the_tensors() -> None:
    costs = [params_s(float(t))[0] for t in (1, 2, 6, 12)]
    assert costs == sorted(costs)
    assert costs[0] < costs[-1]
    # one bucket for all has the first trip alone
    assert params_s(0.0)[0] < costs[0]


# attention by architecture and kernel


def test_attention_runs_at_the_rate_of_the_design_and_the_kernel() -> None:
    own = Profile("own", {"attention_efficiency": {"hopper|flash-2": 0.3, "hopper|cudnn": 0.6}})

    def attention(name: str, system: str = "dgx-h100") -> float:
        c = replace(case(8, name=name), cluster=cluster(system, 8))
        return float(arrays_of([c], own).constants.attention_efficiency[0])

    assert attention("nanotron") == attention("nanotron", "dgx-h200") == 0.3
    assert attention("megatron-core") == 0.6
    assert attention("nanotron", "dgx-a100") not in (0.3, 0.6)


def test_a_slower_kernel_is_a_slower_core() -> None:
    slow, fast = (pieces_of(arrays(case(), attention_efficiency=x)).forward["attention"][0] for x in (0.3, 0.6))
    assert slow == pytest.approx(2 * fast)


# stages by cost


def test_a_stack_deals_stages_by_cost_or_equally() -> None:
    c = case(64, pp=4)
    a = arrays(c)
    head = head_parameters(a.models) / dense_layer_parameters(a.models)
    dealt, equal = balanced_stage_layers(a.models.layers, head, a.strategies.pp), stage_layers(a.models.layers, a.strategies.pp, a.strategies.vpp)
    assert pieces_of(a).stages.last[0] == dealt.last[0] < equal.last[0]
    plain = pieces_of(arrays(replace(c, stack=replace(c.stack, balances_stages=0.0)))).stages
    assert (plain.heaviest[0], plain.last[0]) == (equal.heaviest[0], equal.last[0]) == (8, 8)
    both = pieces_of(arrays_of([c, case(64, name="megatron-core", pp=4)], PRIORS)).stages
    np.testing.assert_array_equal(both.last, [dealt.last[0], 8])

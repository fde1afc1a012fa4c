"""The probability of running out: half at the limit, corrected where the law is known to be low, wider where it was never checked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tierspan.estimates.cases import Case
from tierspan.estimates.memory import estimate_memory
from tierspan.specs.catalog import cluster
from tierspan.specs.models import model
from tierspan.specs.stacks.stack import stack
from tierspan.specs.strategy import Job, Strategy


def case(name: str, *, pp: int = 1, usable_bytes: float | None = None) -> Case:
    where = cluster("dgx-h100", 64)
    if usable_bytes is not None:
        where = replace(where, accelerator=replace(where.accelerator, memory_usable_bytes=usable_bytes))
    return Case(model("llama-3.1-8b"), where, Job(8192, 64), Strategy(tp=2, pp=pp), stack(name))


def at_the_limit(name: str, *, pp: int = 1) -> float:
    """The probability where the peak, as the law tells it, is just what is usable."""
    first = estimate_memory([case(name, pp=pp)])
    offered = case(name, pp=pp).cluster.accelerator.memory_usable_bytes or 0.0
    outside = offered - float(first.usable_bytes[0])
    return float(estimate_memory([case(name, pp=pp, usable_bytes=float(first.terms.reserved[0]) + outside)]).oom_probability[0])


def test_a_peak_at_the_limit_is_as_likely_to_fit_as_not_where_the_law_is_unbiased():
    assert at_the_limit("nanotron") == pytest.approx(0.5, abs=0.15)


def test_a_law_that_is_known_to_be_low_makes_running_out_likelier():
    assert at_the_limit("torchtitan", pp=2) > 0.7


@pytest.mark.parametrize("share", [0.7, 0.9, 1.1])
def test_less_memory_is_never_safer(share: float):
    peak = float(estimate_memory([case("nemo")]).terms.reserved[0])
    tight, wide = (estimate_memory([case("nemo", usable_bytes=peak * share + more)]).oom_probability[0] for more in (2.5e9, 6e9))
    assert 0.0 <= wide <= tight <= 1.0


def test_a_stack_that_was_never_checked_is_less_sure():
    def ten_percent_over(name: str) -> tuple[float, bool]:
        first = estimate_memory([case(name)])
        offered = case(name).cluster.accelerator.memory_usable_bytes or 0.0
        limit = float(first.terms.reserved[0]) / 1.1 + offered - float(first.usable_bytes[0])
        found = estimate_memory([case(name, usable_bytes=limit)])
        return float(found.oom_probability[0]), found.measured_stack[0]

    (sure, checked), (unsure, unchecked) = ten_percent_over("nemo"), ten_percent_over("modellink")
    assert (checked, unchecked) == (True, False)
    assert 0.5 < unsure < sure - 0.05

"""A rank that takes its whole share of the batch by habit takes the share of each size, not that of the first."""

from __future__ import annotations

import pytest

from tierspan.answers.fit import fit
from tierspan.answers.question import build_question, resized
from tierspan.answers.scale import scale

JOB = {"system": "dgx-h100", "model": "llama-3.1-8b", "sequence_length": 4096, "global_batch": 512}


def question(n: int, **more: object):
    return build_question(**JOB, accelerators=n, **{"zero": 3, **more})


@pytest.mark.parametrize(("sizes", "shares"), [([4, 8, 64], [128, 64, 8]), ([512, 64], [1, 8]), ([64, 1024], [8, 1])])
def test_strong_scaling_cuts_the_share(sizes, shares):
    found = scale(question(sizes[0]), sizes)
    assert [p.case.strategy.micro_batch for p in found.predictions] == shares
    assert [p.status for p in found.points] == ["invalid" if n > 512 else p.status for n, p in zip(sizes, found.points, strict=True)]
    assert all(p.status != "invalid" for n, p in zip(sizes, found.points, strict=True) if n <= 512)


def test_each_size_is_that_of_a_question_of_its_own():
    found = scale(question(8), [8, 32]).predictions[1]
    assert found.case.strategy == question(32).strategy
    noted = next(a for a in found.assumptions if a.field == "micro_batch")
    assert (noted.value, noted.reason_id) == (16, "question.whole_share")


def test_weak_scaling_keeps_it():
    found = scale(question(8), [8, 32], weak=True)
    assert [p.case.strategy.micro_batch for p in found.predictions] == [64, 64]


@pytest.mark.parametrize("more", [{"micro_batch": 4}, {"zero": 1}, {"pp": 2}])
def test_what_was_said_or_is_no_share_stays(more):
    asked = question(8, **more)
    assert resized(asked, question(32).cluster).strategy == asked.strategy


def test_the_smallest_count_that_fits_is_looked_for_with_the_share_of_each():
    asked = question(4)
    assert fit(asked).status == "does not fit"
    smallest = fit(asked).smallest_accelerators
    assert smallest is not None
    assert smallest > 4
    assert fit(question(smallest)).status in ("fits", "borderline")

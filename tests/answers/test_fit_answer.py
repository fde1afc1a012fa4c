"""Does it fit: the least that fits, the most that fits, and remedies that can run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tierspan.answers.fit import fit
from tierspan.answers.predict import predict
from tierspan.answers.question import Question, build_question


def question(**given: object) -> Question:
    usual = {"system": "dgx-h100", "accelerators": 64, "model": "llama-3.1-70b", "sequence_length": 4096, "global_batch": 64}
    return build_question(**(usual | given))  # type: ignore[arg-type]


def changed(q: Question, remedy: str, **values: object) -> Question:
    """The question after a remedy, as its message says it."""
    s = q.strategy
    plan = {
        "recompute": {"recompute": "full"},
        "micro_batch": {"micro_batch": 1},
        "zero1": {"zero": 1},
        "zero3": {"zero": 3},
        "offload": {"optimizer_offload": 1.0},
    }.get(remedy.removeprefix("fit.remedy."), {name: values[name] for name in ("tp", "pp", "cp")})
    return replace(q, strategy=replace(s, **plan))  # type: ignore[arg-type]


def test_memory_is_that_of_the_prediction() -> None:
    q = question(tp=8, pp=2)
    assert fit(q).memory == predict(q).memory


def test_stages_tell_layers_and_micro_batches_in_flight() -> None:
    stages = fit(question(tp=4, pp=4)).stages
    assert [(s.stage, s.layers, s.in_flight) for s in stages] == [("first", 20, 4), ("middle", 20, 2), ("last", 20, 1)]
    assert [s.stage for s in fit(question(tp=8)).stages] == ["only"]


def test_allocated_and_reserved_are_told_apart() -> None:
    memory = fit(question(tp=8, pp=2)).memory
    assert memory.total_bytes - memory.allocated_bytes == pytest.approx(memory.terms["fragmentation"] + memory.terms["reserve"])


def test_offload_tells_host_memory_and_that_its_time_is_left_out() -> None:
    kept, away = fit(question(tp=8, pp=2)), fit(question(tp=8, pp=2, optimizer_offload=1.0))
    assert kept.memory.host is None
    host = away.memory.host
    assert host is not None
    assert host.available_bytes_per_node is None
    assert host.terms["optimizer"] == pytest.approx(kept.memory.terms["optimizer"])
    assert host.bytes_per_node == pytest.approx(8 * host.bytes_per_rank)
    assert away.memory.terms["optimizer"] == 0.0
    assert "question.offload_untimed" in [a.reason_id for a in away.assumptions]
    assert "question.offload_untimed" not in [a.reason_id for a in kept.assumptions]


def test_the_largest_micro_batch_fits_and_the_next_does_not() -> None:
    q = question(tp=8, pp=2)
    largest = fit(q).largest_micro_batch
    assert largest
    at, beyond = (fit(question(tp=8, pp=2, micro_batch=m, global_batch=4 * m * 8)).memory.fits for m in (largest, largest + 1))
    assert (at, beyond) == (True, False)


def test_the_largest_sequence_fits_and_the_next_does_not() -> None:
    q = question(tp=8, pp=2)
    largest = fit(q).largest_sequence_length
    assert largest
    assert largest % 1024 == 0
    assert fit(question(tp=8, pp=2, sequence_length=largest)).memory.fits
    assert not fit(question(tp=8, pp=2, sequence_length=largest + 1024)).memory.fits


def test_the_smallest_count_fits_and_a_smaller_one_does_not() -> None:
    q = question(tp=8, zero=3, micro_batch=1)
    smallest = fit(q).smallest_accelerators
    assert smallest
    assert fit(question(tp=8, zero=3, micro_batch=1, accelerators=smallest)).status in ("fits", "borderline")
    # the next smaller count that the batch divides
    assert not fit(question(tp=8, zero=3, micro_batch=1, accelerators=smallest // 2)).memory.fits


def test_no_micro_batch_fits_where_the_weights_alone_do_not() -> None:
    f = fit(question(model="llama-3.1-405b", accelerators=8, global_batch=8, tp=8))
    assert (f.status, f.largest_micro_batch, f.largest_sequence_length) == ("does not fit", None, None)


@pytest.mark.parametrize(
    "q",
    [
        question(tp=2, micro_batch=2),
        question(model="deepseek-v3", ep=64, global_batch=256),
        question(model="mixtral-8x22b", ep=8, accelerators=8, global_batch=8),
        question(model="llama-3.1-405b", tp=8, pp=4, zero=1, sequence_length=8190, sp=False),
        question(accelerators=24, global_batch=24),
    ],
    ids=["dense", "experts everywhere", "experts in a node", "odd sequence", "odd count"],
)
def test_every_remedy_can_run_and_does_what_it_says(q: Question) -> None:
    f = fit(q)
    assert f.status == "does not fit"
    assert f.remedies
    for remedy in f.remedies:
        after = fit(changed(q, remedy.id, **remedy.values))
        assert after.status != "invalid", remedy
        assert after.memory.fits == remedy.values["fits"], remedy
        assert after.memory.total_bytes / 1e9 == pytest.approx(remedy.values["total_gb"], abs=0.051), remedy
        assert after.memory.total_bytes < f.memory.total_bytes
    fits = [r.values["fits"] for r in f.remedies]
    assert fits == sorted(fits, reverse=True)

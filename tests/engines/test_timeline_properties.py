"""What holds of every timeline, whatever the durations."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tierspan.engines.timeline import Bulk, ChunkWork, Inside, Piece, Schedule, Send, Timeline, Work, make_schedule, play

UNHURRIED = settings(deadline=None)
"""A busy machine is no failure."""
SECONDS = st.floats(0.0, 5.0)
POSITIVE = st.floats(0.01, 5.0)


@st.composite
def schedules(draw: st.DrawFn) -> Schedule:
    name = draw(st.sampled_from(["1f1b", "interleaved", "gpipe", "zb-h1", "zb-h2", "dualpipe"]))
    p = draw(st.integers(1, 3)) * 2 if name == "dualpipe" else draw(st.integers(1, 5))
    m = 2 * p + 2 * draw(st.integers(0, 3)) if name == "dualpipe" else draw(st.integers(1, 10))
    v = draw(st.integers(2, 3)) if name == "interleaved" and p > 1 else 1
    return make_schedule(name, p, m, v)


def chunks_of(schedule: Schedule) -> int:
    return len({chunk for _, chunk in schedule.position})


@st.composite
def plain_works(draw: st.DrawFn, schedule: Schedule) -> Work:
    """Compute only, each stage and chunk of its own length."""
    rows = tuple(
        tuple(ChunkWork(Piece(draw(POSITIVE)), Piece(draw(POSITIVE)), Piece(draw(POSITIVE))) for _ in range(chunks_of(schedule)))
        for _ in range(schedule.stages)
    )
    return Work(rows, Send(draw(SECONDS), 1, draw(st.floats(0, 1))))


@st.composite
def works(draw: st.DrawFn, schedule: Schedule) -> Work:
    """Everything at once: traffic inside and between, gathers, scatters, reductions, launches, an optimizer."""

    def bulk() -> Bulk:
        return Bulk(draw(SECONDS), draw(st.integers(0, 1)), draw(st.integers(1, 4)), draw(SECONDS))

    def piece() -> Piece:
        return Piece(draw(POSITIVE), (Inside("ep", 1, draw(SECONDS), draw(SECONDS)), Inside("tp", 0, draw(SECONDS))), draw(SECONDS))

    one = ChunkWork(
        piece(), piece(), Piece(draw(POSITIVE)), draw(st.sampled_from([(), (bulk(), bulk())])), draw(st.sampled_from([None, bulk()])),
        draw(st.sampled_from([None, bulk()])), draw(st.sampled_from([(), (bulk(), bulk())])),
    )  # fmt: skip
    other = replace(one, forward=piece())
    rows = tuple(tuple(one if (s + c) % 2 else other for c in range(chunks_of(schedule))) for s in range(schedule.stages))
    return Work(rows, Send(draw(SECONDS), 1, draw(st.floats(0, 1))), tuple(draw(SECONDS) for _ in rows))


def parts(played: Timeline) -> float:
    return played.compute_s + played.bubble_s + played.end_s + sum(played.exposed_s.values())


def scaled(work: Work, k: float) -> Work:
    def bulk(b: Bulk) -> Bulk:
        return replace(b, seconds=k * b.seconds, exposed_s=k * b.exposed_s)

    def piece(p: Piece) -> Piece:
        inside = tuple(replace(x, exposed_s=k * x.exposed_s, hidden_s=k * x.hidden_s) for x in p.traffic)
        return Piece(k * p.compute_s, inside, k * p.host_s)

    def chunk(c: ChunkWork) -> ChunkWork:
        return ChunkWork(
            piece(c.forward), piece(c.backward), piece(c.weight), tuple(map(bulk, c.first)), bulk(c.gather) if c.gather else None,
            bulk(c.scatter) if c.scatter else None, tuple(map(bulk, c.reduce)),
        )  # fmt: skip

    send = replace(work.send, seconds=k * work.send.seconds)
    return replace(work, chunks=tuple(tuple(map(chunk, row)) for row in work.chunks), send=send, end_s=tuple(k * x for x in work.end_s))


@UNHURRIED
@given(st.data())
def test_no_step_is_shorter_than_its_longest_chain_or_its_busiest_stage(data: st.DataObject) -> None:
    schedule = data.draw(schedules())
    work = data.draw(plain_works(schedule))
    played = play(schedule, work)
    busy = [
        sum((c := work.chunks[s][t.chunk], {"F": c.forward, "B": c.backward, "W": c.weight}[t.kind].compute_s)[1] for b in blocks for t in b)
        for s, blocks in enumerate(schedule.order)
    ]
    used = {micro for blocks in schedule.order for block in blocks for _, micro, _ in block}
    chains = [sum(work.chunks[s][c].forward.compute_s + work.chunks[s][c].backward.compute_s for s, c in route) for route in schedule.routes]
    assert used == set(range(schedule.micro_batches))
    assert played.makespan_s >= max(busy) - 1e-9
    assert played.makespan_s >= max(chains) - 1e-9
    assert played.step_s >= max(busy) - 1e-9
    assert played.step_s <= played.makespan_s + 1e-9


@UNHURRIED
@given(st.data())
def test_nothing_starts_before_what_it_needs(data: st.DataObject) -> None:
    schedule = data.draw(schedules())
    work = data.draw(plain_works(schedule))
    played = play(schedule, work)
    ran = [(stage, span) for stage, spans in enumerate(played.stages) for span in spans if span.stream == "compute"]
    when = {(stage, word): span for stage, span in ran for word in span.label.split("+")}
    for route in schedule.routes:
        for micro in range(schedule.micro_batches):
            for (s, c), (t, d) in pairwise(route):
                if (s, f"F{micro}.{c}") not in when:
                    continue
                sent = work.send.seconds if s != t else 0.0
                assert when[t, f"F{micro}.{d}"].start_s >= when[s, f"F{micro}.{c}"].end_s + sent - 1e-9
                assert when[s, f"B{micro}.{c}"].start_s >= when[t, f"B{micro}.{d}"].end_s + sent - 1e-9
                assert when[s, f"W{micro}.{c}"].end_s >= when[s, f"B{micro}.{c}"].end_s - 1e-9
    for spans in played.stages:
        compute = [span for span in spans if span.stream == "compute"]
        assert all(a.end_s <= b.start_s + 1e-9 for a, b in pairwise(compute)), "one task at a time"


@UNHURRIED
@given(st.data())
def test_a_longer_task_never_makes_the_step_shorter(data: st.DataObject) -> None:
    schedule = data.draw(schedules())
    work = data.draw(works(schedule))
    s, c = data.draw(st.integers(0, schedule.stages - 1)), data.draw(st.integers(0, chunks_of(schedule) - 1))
    old = work.chunks[s][c]
    more = data.draw(SECONDS)
    longer = data.draw(st.sampled_from([
        replace(old, forward=replace(old.forward, compute_s=old.forward.compute_s + more)),
        replace(old, backward=replace(old.backward, compute_s=old.backward.compute_s + more)),
        replace(old, weight=replace(old.weight, compute_s=old.weight.compute_s + more)),
        replace(old, reduce=(*old.reduce, Bulk(more, 0, 2, more))),
        replace(old, first=(*old.first, Bulk(more, 1, 3))),
    ]))  # fmt: skip
    rows = [list(row) for row in work.chunks]
    rows[s][c] = longer
    slower = play(schedule, replace(work, chunks=tuple(map(tuple, rows))), record=False)
    assert slower.makespan_s >= play(schedule, work, record=False).makespan_s - 1e-9


@UNHURRIED
@given(st.data(), st.floats(0.1, 10))
def test_time_has_no_scale(data: st.DataObject, k: float) -> None:
    schedule = data.draw(schedules())
    work = data.draw(works(schedule))
    once, more = play(schedule, work, record=False), play(schedule, scaled(work, k), record=False)
    assert more.makespan_s == pytest.approx(k * once.makespan_s)
    assert more.bubble_s == pytest.approx(k * once.bubble_s, abs=1e-6 * more.makespan_s)


@UNHURRIED
@given(st.data())
def test_the_parts_add_up_to_the_step(data: st.DataObject) -> None:
    schedule = data.draw(schedules())
    played = play(schedule, data.draw(works(schedule)), record=False)
    if not schedule.rolls_over:
        assert parts(played) == pytest.approx(played.step_s)
    assert played.bubble_s >= -1e-9
    assert all(seconds >= 0 for seconds in played.exposed_s.values())


@UNHURRIED
@given(st.data())
def test_recording_changes_nothing(data: st.DataObject) -> None:
    schedule = data.draw(schedules())
    work = data.draw(works(schedule))
    told, silent = play(schedule, work), play(schedule, work, record=False)
    assert replace(told, stages=()) == silent
    assert max(span.end_s for spans in told.stages for span in spans) <= told.makespan_s + 1e-9


@UNHURRIED
@given(p=st.integers(1, 8), m=st.integers(1, 20), times=st.lists(POSITIVE, min_size=3, max_size=3))
def test_1f1b_keeps_no_more_than_the_stages_below(p: int, m: int, times: list[float]) -> None:
    chunk = ChunkWork(*(Piece(t) for t in times))
    played = play(make_schedule("1f1b", p, m), Work(((chunk,),) * p), record=False)
    assert played.in_flight == tuple(min(p - s, m) for s in range(p))


@UNHURRIED
@given(st.data(), st.floats(1.0, 3.0))
def test_contention_only_slows_and_never_by_more_than_its_factor(data: st.DataObject, factor: float) -> None:
    schedule = data.draw(schedules())
    work = data.draw(works(schedule))
    free = play(schedule, work, record=False)
    slow = play(schedule, replace(work, contention=factor), record=False)
    assert slow.makespan_s >= free.makespan_s - 1e-9
    assert slow.makespan_s <= factor * free.makespan_s + 1e-9

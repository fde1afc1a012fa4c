"""Traffic on the timeline, each case solved by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tierspan.engines.timeline import Bulk, ChunkWork, Inside, Piece, Send, Timeline, Work, make_schedule, play
from tierspan.quantities.errors import InputError

PLAIN = ChunkWork(Piece(1.0), Piece(1.0), Piece(1.0))


def alone(chunk: ChunkWork, m: int = 1, **more: object) -> Timeline:
    """One stage, m micro-batches of 1 s forward and 2 s backward."""
    return play(make_schedule("1f1b", 1, m), Work(((chunk,),), **more))  # type: ignore[arg-type]


def test_exposed_traffic_inside_a_task_stops_its_compute() -> None:
    chunk = replace(PLAIN, forward=Piece(1.0, (Inside("tp", 0, 0.25, 0.5),)))
    played = alone(chunk, 2)
    assert played.makespan_s == 6.5
    assert played.exposed_s == {("tp", 0): 0.5}
    assert played.compute_s == 6.0


def test_a_send_delays_the_neighbour_and_its_exposed_share_holds_up_the_sender() -> None:
    """F 0-1, send until 1.4; F 1.4-2.4, B 2.4-4.4; back until 4.8; B until 6.8."""
    work = Work(((PLAIN,),) * 2, Send(0.4, 1))
    played = play(make_schedule("1f1b", 2, 1), work)
    assert played.makespan_s == pytest.approx(6.8)
    assert played.exposed_s == {("pp", 1): pytest.approx(0.4)}  # each stage waits for one message
    held = play(make_schedule("gpipe", 2, 2), replace(work, send=Send(0.4, 1, 0.5)))
    second = [span for span in held.stages[0] if span.label == "F1.0"]
    assert second[0].start_s == pytest.approx(1.2)


def test_gradients_are_reduced_beside_the_last_backward_pass_bucket_by_bucket() -> None:
    """Backward from 1 to 3 in 4 buckets, the first is ready at 1.5: 1.6 s of traffic end at 3.4 (the last bucket), 3 s at 4.5."""
    assert alone(replace(PLAIN, reduce=(Bulk(1.6, 1, 4),))).makespan_s == pytest.approx(3.4)
    played = alone(replace(PLAIN, reduce=(Bulk(3.0, 1, 4),)))
    assert played.makespan_s == pytest.approx(4.5)
    assert played.exposed_s == {("dp", 1): pytest.approx(1.5)}
    # with two micro-batches only the last one reduces
    assert alone(replace(PLAIN, reduce=(Bulk(3.0, 1, 4),)), 2).makespan_s == pytest.approx(7.5)
    # what never overlaps comes on top
    assert alone(replace(PLAIN, reduce=(Bulk(3.0, 1, 4, exposed_s=0.5),))).makespan_s == pytest.approx(5.0)


def test_dense_and_expert_gradients_share_a_tier_and_not_two() -> None:
    both = alone(replace(PLAIN, reduce=(Bulk(3.0, 1, 4), Bulk(3.0, 1, 4))))
    apart = alone(replace(PLAIN, reduce=(Bulk(3.0, 1, 4), Bulk(3.0, 0, 4))))
    assert both.makespan_s == pytest.approx(7.5)
    assert apart.makespan_s == pytest.approx(4.5)


def test_parameters_are_gathered_ahead_from_the_start_of_the_step() -> None:
    """4 parts: the first is there at 0.5, the last at 2; its compute ends at 2.25. The second stage has all when it begins."""
    chunk = replace(PLAIN, first=(Bulk(2.0, 1, 4),))
    assert alone(chunk).makespan_s == pytest.approx(2.25 + 2.0)
    assert play(make_schedule("1f1b", 2, 1), Work(((chunk,),) * 2)).makespan_s == pytest.approx(2.25 + 1.0 + 4.0)
    blocking = replace(PLAIN, first=(Bulk(0.0, 1, 4, exposed_s=2.0),))
    assert alone(blocking).makespan_s == pytest.approx(5.0)
    assert play(make_schedule("1f1b", 2, 1), Work(((blocking,),) * 2)).makespan_s == pytest.approx(2.0 + 6.0)


def test_sharded_parameters_are_gathered_one_layer_ahead() -> None:
    """10 layers: 0.5 s of gather hide behind 1 s of forward but for the first layer; 2 s do not, and the layers wait for them."""
    short = alone(replace(PLAIN, gather=Bulk(0.5, 1, 10)), 4)
    assert short.makespan_s == pytest.approx(12.05)
    long = alone(replace(PLAIN, gather=Bulk(2.0, 1, 10)), 1)
    # forward: first layer at 0.2, then one every 0.2: ends at 2.1; backward keeps pace (0.2 a layer): gathered from 2.0 on
    assert long.makespan_s == pytest.approx(2.1 + 0.1 + 2.0)


def test_gathers_and_scatters_of_a_block_share_their_tier() -> None:
    """Backward of 2 s in 4 parts of 0.5; gather and scatter of 1.6 s each make parts of 0.8."""
    chunk = replace(PLAIN, forward=Piece(0.0), gather=Bulk(1.6, 1, 4), scatter=Bulk(1.6, 1, 4))
    played = alone(chunk)
    backward = next(span for span in played.stages[0] if span.label.startswith("B"))
    assert backward.end_s - backward.start_s == pytest.approx(3 * 0.8 + 0.5)
    # the last part's scatter, or the end of the 3.2 s on the stream
    assert played.makespan_s == pytest.approx(backward.end_s + 0.4)


def test_the_host_runs_ahead_and_binds_where_it_is_slower() -> None:
    quick = replace(PLAIN, forward=Piece(1.0, host_s=0.2), backward=Piece(1.0, host_s=0.2))
    assert alone(quick, 3).makespan_s == pytest.approx(9.0)
    slow = replace(PLAIN, forward=Piece(1.0, host_s=4.0), backward=Piece(1.0, host_s=4.0))
    assert alone(slow, 3).makespan_s == pytest.approx(24.0)


def test_compute_slows_beside_traffic() -> None:
    """1 s of hidden traffic: in it half of the compute is done, so half a second is lost; a send beside the next task likewise."""
    chunk = replace(PLAIN, forward=Piece(1.0, (Inside("tp", 0, 0.0, 1.0),)))
    assert alone(chunk, contention=2.0).makespan_s == pytest.approx(3.5)
    two = play(make_schedule("gpipe", 2, 2), Work(((PLAIN,),) * 2, Send(0.4, 1), contention=2.0))
    second = next(span for span in two.stages[0] if span.label == "F1.0")
    assert second.end_s == pytest.approx(1.0 + 1.0 + 0.2)


def test_pairs_of_dualpipe_hide_the_traffic_that_they_cover() -> None:
    def step(covered: frozenset[str]) -> Timeline:
        chunk = ChunkWork(Piece(1.0, (Inside("ep", 1, 0.3),)), Piece(1.0, (Inside("ep", 1, 0.3),)), Piece(1.0))
        return play(make_schedule("dualpipe", 4, 16), Work(((chunk, chunk),) * 4, covered=covered))

    hidden, shown = step(frozenset({"ep"})), step(frozenset())
    assert shown.exposed_s["ep", 1] == pytest.approx(16 * 0.6)
    assert hidden.exposed_s["ep", 1] < 0.5 * shown.exposed_s["ep", 1]
    assert hidden.makespan_s < shown.makespan_s
    # more traffic than compute can cover: the rest shows
    much = ChunkWork(Piece(1.0, (Inside("ep", 1, 3.0),)), Piece(1.0, (Inside("ep", 1, 3.0),)), Piece(1.0))
    pair = play(make_schedule("dualpipe", 4, 16), Work(((much, much),) * 4))
    spans = [s.end_s - s.start_s for s in pair.stages[0] if s.stream == "compute" and s.label.count("+") == 2]
    assert max(spans) == pytest.approx(6.0)


@pytest.mark.parametrize(
    ("message", "work"),
    [
        ("timeline.shape", Work(((PLAIN,),) * 3)), ("timeline.shape", Work(((PLAIN, PLAIN),) * 2)),
        ("timeline.shape", Work(((PLAIN,),) * 2, end_s=(1.0,))),
        ("timeline.time", Work(((replace(PLAIN, forward=Piece(-1.0)),),) * 2)), ("timeline.time", Work(((PLAIN,),) * 2, Send(float("nan")))),
        ("timeline.time", Work(((PLAIN,),) * 2, Send(1.0, 0, 1.5))), ("timeline.contention", Work(((PLAIN,),) * 2, contention=0.5)),
        ("timeline.time", Work(((replace(PLAIN, reduce=(Bulk(float("inf"), 0),)),),) * 2)),
    ],
)  # fmt: skip
def test_work_that_cannot_be_played(message: str, work: Work) -> None:
    with pytest.raises(InputError) as caught:
        play(make_schedule("1f1b", 2, 2), work)
    assert caught.value.message_id == message
    assert "{" not in str(caught.value)

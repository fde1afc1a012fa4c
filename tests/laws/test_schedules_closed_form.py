"""Zero-bubble and DualPipe in closed form: the published tables, and the timeline engine as the second method."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tierspan.engines.timeline import ChunkWork, Piece, Work, make_schedule, play
from tierspan.laws.schedules import Passes, dualpipe_bubble_s, dualpipe_pair_share, model_copies, peak_in_flight, zero_bubble_s
from tierspan.specs.arrays import Array
from tierspan.specs.strategy import SCHEDULE_CODE


def one(value: float) -> Array:
    return np.array([float(value)])


def passes(values: tuple[float, ...], times: float = 1.0) -> Passes:
    return Passes(*(one(times * v) for v in values))


def zero_bubble(name: str, p: int, m: int, slow: tuple[float, ...], rest: tuple[float, ...]) -> float:
    return float(zero_bubble_s(one(SCHEDULE_CODE[name]), one(p), one(m), passes(slow), passes(rest, p - 1))[0])


def chunk(values: tuple[float, ...]) -> ChunkWork:
    return ChunkWork(*(Piece(v) for v in values))


@pytest.mark.parametrize("fbw", [(1.0, 1.0, 1.0), (1.0, 1.3, 0.9)])
@pytest.mark.parametrize(("p", "m"), [(2, 8), (8, 16), (16, 64)])
def test_even_stages_have_the_published_bubble(p: int, m: int, fbw: tuple[float, float, float]) -> None:
    f, b, w = fbw
    assert zero_bubble("zb-h1", p, m, fbw, fbw) == pytest.approx((p - 1) * (f + b - w))
    assert zero_bubble("zb-h2", p, m, fbw, fbw) == pytest.approx((p - 1) * (f + b - 2 * w))
    dual = float(dualpipe_bubble_s(one(p), passes(fbw), one(f + b + w), one(0.0))[0])
    assert dual == pytest.approx((p / 2 - 1) * ((f + b + w) + (b + w) - 3 * w))


@settings(deadline=None)
@given(
    p=st.integers(1, 8), m=st.integers(1, 24), name=st.sampled_from(["zb-h1", "zb-h2"]), f=st.floats(0.8, 1.2), w=st.floats(0.7, 1.0),
    head=st.tuples(*[st.floats(0, 1)] * 3),
)  # fmt: skip
def test_a_heavy_last_stage_and_any_count_of_micro_batches(p: int, m: int, name: str, f: float, w: float, head: tuple[float, ...]) -> None:
    even = (f, 1.1, w)
    last = tuple(a + b for a, b in zip(even, (head[0], head[0], head[0]), strict=True))
    played = play(make_schedule(name, p, m), Work((*(((chunk(even),),) * (p - 1)), (chunk(last),))), record=False)
    closed = m * sum(last) + zero_bubble(name, p, m, last, even)
    assert played.step_s == pytest.approx(closed, rel=0.03)


@settings(deadline=None)
@given(p=st.sampled_from([2, 4, 8, 16]), more=st.integers(0, 16), head=st.floats(-0.5, 1.0))
def test_dualpipe_with_heavy_or_light_ends(p: int, more: int, head: float) -> None:
    m = 2 * p + 2 * more
    even, last = (1.0, 1.0, 1.0), (1.0 + head,) * 3
    at = [chunk(even)] * (p - 1) + [chunk(last)]
    played = play(make_schedule("dualpipe", p, m), Work(tuple((at[i], at[p - 1 - i]) for i in range(p))), record=False)
    heaviest = max(m * 3.0, m * (3.0 + 1.5 * head)) if p > 2 else m * (3.0 + 1.5 * head)
    closed = heaviest + float(dualpipe_bubble_s(one(p), passes(even), one(3.0), one(3.0 * head))[0])
    assert played.step_s == pytest.approx(closed, rel=0.04)


@pytest.mark.parametrize(("p", "m"), [(2, 4), (4, 8), (8, 16), (8, 40), (16, 64)])
def test_share_of_pairs_is_that_of_the_schedule(p: int, m: int) -> None:
    schedule = make_schedule("dualpipe", p, m)
    pairs = sum(len(block) == 3 for blocks in schedule.order for block in blocks)
    assert float(dualpipe_pair_share(one(p), one(m))[0]) == pytest.approx(pairs / p / m)


@pytest.mark.parametrize(
    ("name", "vpp", "m", "first", "last"),
    [
        ("1f1b", 1, 32, 8, 1), ("gpipe", 1, 32, 32, 32), ("interleaved", 2, 32, 11.5, 4.5), ("zb-h1", 1, 32, 8, 8), ("zb-h2", 1, 32, 15, 15),
        ("dualpipe", 1, 32, 9, 9), ("zb-h2", 1, 10, 10, 10), ("1f1b", 1, 3, 3, 1),
    ],
)  # fmt: skip
def test_in_flight_of_eight_stages(name: str, vpp: int, m: int, first: float, last: float) -> None:
    held = peak_in_flight(one(SCHEDULE_CODE[name]), one(8), one(vpp), one(m), np.array([0.0, 7.0]))
    assert tuple(held) == (first, last)


def test_only_dualpipe_keeps_two_copies() -> None:
    codes = np.array([float(code) for code in SCHEDULE_CODE.values()])
    assert model_copies(codes).tolist() == [1, 1, 1, 1, 1, 2]

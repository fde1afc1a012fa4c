"""Pipeline schedules: small cases solved by hand, published bubbles, what each stage keeps in flight."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from tierspan.engines.timeline import ChunkWork, Piece, Schedule, Task, Timeline, Work, make_schedule, play
from tierspan.engines.timeline.layers import layers_along
from tierspan.laws.pipeline import stage_layers
from tierspan.laws.schedules import peak_in_flight
from tierspan.quantities.errors import InputError
from tierspan.specs.strategy import SCHEDULE_CODE

NAMES = ("1f1b", "gpipe", "zb-h1", "zb-h2", "dualpipe")


def even(schedule: Schedule, f: float = 1.0, b: float = 1.0, w: float = 1.0, chunks: int = 1) -> Timeline:
    places = 2 if schedule.name == "dualpipe" else chunks
    chunk = ChunkWork(Piece(f / chunks), Piece(b / chunks), Piece(w / chunks))
    return play(schedule, Work(((chunk,) * places,) * schedule.stages))


def words(schedule: Schedule, stage: int) -> str:
    return " ".join("".join(f"{t.kind}{t.micro_batch}" for t in block) for block in schedule.order[stage])


# orders by hand


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("gpipe", "F0 F1 B0W0 B1W1", "F0 F1 B0W0 B1W1"),
        ("1f1b", "F0 F1 B0W0 B1W1", "F0 B0W0 F1 B1W1"),
        ("zb-h1", "F0 F1 B0 W0 B1 W1", "F0 B0 F1 B1 W0 W1"),
        ("zb-h2", "F0 F1 B0 W0 B1 W1", "F0 B0 F1 B1 W0 W1"),
    ],
)
def test_two_stages_and_two_micro_batches(name: str, first: str, last: str) -> None:
    schedule = make_schedule(name, 2, 2)
    assert (words(schedule, 0), words(schedule, 1)) == (first, last)


def test_zero_bubble_of_four_stages_runs_ahead_and_holds_back() -> None:
    h1, h2 = make_schedule("zb-h1", 4, 8), make_schedule("zb-h2", 4, 8)
    assert words(h1, 0).startswith("F0 F1 F2 F3 B0 W0 F4 B1 W1")
    assert words(h1, 3).startswith("F0 B0 F1 B1 F2 B2 F3 B3 W0 F4 B4 W1")
    assert words(h2, 0).startswith("F0 F1 F2 F3 F4 F5 F6 B0 W0 F7 B1 W1 B2 W2")
    assert words(h2, 3).endswith("F7 B7 W1 W2 W3 W4 W5 W6 W7")


def test_interleaved_passes_groups_through_the_chunks() -> None:
    schedule = make_schedule("interleaved", 2, 4, 2)
    told = " ".join(f"{t.kind}{t.micro_batch}.{t.chunk}" for block in schedule.order[1] for t in block if t.kind != "W")
    assert told == "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 F2.0 B0.0 F3.0 B1.0 F2.1 B2.1 F3.1 B3.1 B2.0 B3.0"


def test_dualpipe_pairs_opposite_directions() -> None:
    schedule = make_schedule("dualpipe", 4, 8)
    assert words(schedule, 0).startswith("F0 F1 F2 F4 B4 W4 F5")
    pairs = [block for blocks in schedule.order for block in blocks if block[0].kind == "F" and len(block) == 3]
    assert pairs
    assert all(f.chunk != b.chunk and (b.micro_batch, b.chunk) == (w.micro_batch, w.chunk) for f, b, w in pairs)
    # the two halves of the ranks mirror each other
    assert [[t.kind for t in block] for block in schedule.order[0]] == [[t.kind for t in block] for block in schedule.order[3]]


# times by hand


@pytest.mark.parametrize(
    ("name", "p", "m", "step"),
    [
        ("gpipe", 2, 2, 9), ("1f1b", 2, 2, 9), ("zb-h1", 2, 2, 7), ("zb-h2", 2, 4, 12),
        ("gpipe", 4, 8, 33), ("1f1b", 4, 8, 33), ("zb-h1", 4, 8, 27), ("zb-h2", 4, 8, 24), ("dualpipe", 4, 8, 26),
    ],
)  # fmt: skip
def test_steps_of_unit_passes(name: str, p: int, m: int, step: float) -> None:
    assert even(make_schedule(name, p, m)).step_s == pytest.approx(step)


def test_every_start_of_1f1b_on_two_stages() -> None:
    """Forward 1, backward 2: stage 1 starts at 1 and never waits, stage 0 waits from 2 to 4 and from 6 to 7."""
    played = even(make_schedule("1f1b", 2, 2))
    spans = [[(s.label, s.start_s, s.end_s) for s in stage] for stage in played.stages]
    assert spans[0] == [("F0.0", 0, 1), ("F1.0", 1, 2), ("B0.0+W0.0", 4, 6), ("B1.0+W1.0", 7, 9)]
    assert spans[1] == [("F0.0", 1, 2), ("B0.0+W0.0", 2, 4), ("F1.0", 4, 5), ("B1.0+W1.0", 5, 7)]
    assert played.bubble_share == pytest.approx(3 / 9)
    assert played.in_flight == (2, 1)


@pytest.mark.parametrize("fbw", [(1, 1, 1), (1, 1.2, 0.8), (2, 2.2, 1.9)])
@pytest.mark.parametrize(("p", "m"), [(2, 4), (4, 8), (8, 32), (16, 64)])
def test_published_bubbles(p: int, m: int, fbw: tuple[float, float, float]) -> None:
    """Narayanan et al. 2021, section 2.2; Qi et al. 2023, table 2; DeepSeek-V3 report, table 2 (its B is the whole backward pass)."""
    f, b, w = fbw
    published = {
        "1f1b": (p - 1) * (f + b + w), "gpipe": (p - 1) * (f + b + w), "zb-h1": (p - 1) * (f + b - w), "zb-h2": (p - 1) * (f + b - 2 * w),
    }  # fmt: skip
    for name, bubble in published.items():
        assert even(make_schedule(name, p, m), *fbw).step_s == pytest.approx(m * (f + b + w) + bubble), name
    dual = (p / 2 - 1) * ((f + b + w) + (b + w) - 3 * w)
    assert even(make_schedule("dualpipe", p, m), *fbw).step_s == pytest.approx(m * (f + b + w) + dual, rel=0.01)


@pytest.mark.parametrize(("p", "m", "v"), [(2, 4, 2), (4, 8, 2), (8, 32, 4), (16, 32, 8)])
def test_interleaving_divides_the_bubble(p: int, m: int, v: int) -> None:
    played = even(make_schedule("interleaved", p, m, v), chunks=v)
    assert played.step_s == pytest.approx(3 * m + 3 * (p - 1) / v)


# in flight


@pytest.mark.parametrize(("p", "m"), [(2, 4), (4, 8), (8, 16), (4, 32), (8, 19)])
@pytest.mark.parametrize("name", NAMES)
def test_in_flight_is_what_the_law_says(name: str, p: int, m: int) -> None:
    if name == "dualpipe" and m % 2:
        return
    law = peak_in_flight(*(np.array([float(x)]) for x in (SCHEDULE_CODE[name], p, 1, m)), np.arange(p, dtype=float))
    assert even(make_schedule(name, p, m)).in_flight == pytest.approx(tuple(law))


@pytest.mark.parametrize(("p", "m", "v"), [(4, 16, 2), (8, 32, 4), (2, 2, 3)])
def test_interleaved_in_flight_is_what_the_law_says(p: int, m: int, v: int) -> None:
    law = peak_in_flight(*(np.array([float(x)]) for x in (SCHEDULE_CODE["interleaved"], p, v, m)), np.arange(p, dtype=float))
    assert even(make_schedule("interleaved", p, m, v), chunks=v).in_flight == pytest.approx(tuple(law))


# every task once, and errors


@pytest.mark.parametrize(("p", "m", "v"), [(1, 1, 1), (2, 1, 1), (4, 3, 1), (4, 8, 1), (3, 7, 2), (4, 12, 3), (5, 8, 2)])
@pytest.mark.parametrize("name", NAMES)
def test_every_task_runs_once(name: str, p: int, m: int, v: int) -> None:
    if (v > 1 and name != "1f1b") or (name == "dualpipe" and (p % 2 or m % 2)):
        return
    schedule = make_schedule(name, p, m, v)
    schedule.check()
    for stage, blocks in enumerate(schedule.order):
        count = Counter(task for block in blocks for task in block)
        assert set(count.values()) == {1}
        assert len(count) == 3 * m * v, stage
    even(schedule, chunks=v)


@pytest.mark.parametrize("v", [2, 3, 5])
@pytest.mark.parametrize("p", [2, 3, 4, 6])
def test_no_count_of_micro_batches_makes_interleaving_wait_for_itself(p: int, v: int) -> None:
    """Counts that the stages do not divide go in larger groups; their bubble stays that of the closed form within 3 %."""
    for m in range(1, 4 * p + 1):
        step = even(make_schedule("interleaved", p, m, v), chunks=v).step_s
        if m >= p:
            assert step == pytest.approx(3 * m + 3 * (p - 1) / v, rel=0.03), m


def refused(message: str, call: object) -> None:
    with pytest.raises(InputError) as caught:
        call()  # type: ignore[operator]
    assert caught.value.message_id == message
    assert "{" not in str(caught.value)


def test_a_schedule_that_waits_for_itself_is_told() -> None:
    good = make_schedule("1f1b", 2, 2)
    swapped = (good.order[0], (good.order[1][2], good.order[1][1], good.order[1][0], good.order[1][3]))
    refused("timeline.deadlock", lambda: even(replace(good, order=swapped)))
    # two stages that each wait for the other
    late = ((good.order[0][0], good.order[0][2], good.order[0][1], good.order[0][3]), (good.order[1][0], good.order[1][2], *good.order[1][1::2]))
    refused("timeline.deadlock", lambda: even(replace(good, order=late)))


def test_an_incomplete_schedule_is_told() -> None:
    good = make_schedule("1f1b", 2, 2)
    refused("timeline.task_count", lambda: even(replace(good, order=(good.order[0][:-1], good.order[1]))))
    refused("timeline.task_count", lambda: even(replace(good, order=(good.order[0], (*good.order[1], good.order[1][0])))))
    other = (*good.order[1][:-1], (Task("B", 7, 0), Task("W", 7, 0)))
    refused("timeline.task_count", lambda: even(replace(good, order=(good.order[0], other))))
    shorter = make_schedule("1f1b", 2, 1)
    refused("timeline.route", lambda: even(replace(good, order=(good.order[0], shorter.order[1]))))


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("timeline.unknown", ("chimera", 4, 8)), ("timeline.count", ("1f1b", 0, 8)), ("timeline.count", ("1f1b", 4, 0)),
        ("timeline.chunks", ("zb-h1", 4, 8, 2)), ("timeline.dualpipe", ("dualpipe", 3, 8)), ("timeline.dualpipe", ("dualpipe", 4, 9)),
        ("timeline.dualpipe", ("dualpipe", 4, 6)),
    ],
)  # fmt: skip
def test_sizes_that_no_schedule_takes(message: str, arguments: tuple[object, ...]) -> None:
    refused(message, lambda: make_schedule(*arguments))  # type: ignore[arg-type]


# layers


@pytest.mark.parametrize(
    ("layers", "pp", "vpp"), [(80, 8, 1), (96, 8, 4), (126, 8, 8), (126, 16, 1), (61, 16, 1), (30, 8, 1), (61, 8, 2), (32, 1, 1)]
)
def test_layers_along_the_pipeline_are_those_of_the_law(layers: int, pp: int, vpp: int) -> None:
    along = layers_along(layers, pp, vpp)
    law = stage_layers(*(np.array([float(x)]) for x in (layers, pp, vpp)))
    stages = [sum(along[s::pp]) for s in range(pp)]
    assert sum(along) == layers
    assert max(stages) == law.heaviest[0]
    assert stages[-1] == law.last[0]

"""Pipeline schedules: the closed form against published bubbles and against schedules played event by event."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierspan.laws.pipeline import pipeline_time, stage_layers

Task = tuple[str, int, int]
"""("F" or "B", micro-batch, chunk in model order)."""


def layers_of(layers: int, pp: int, vpp: int = 1) -> tuple[float, float]:
    s = stage_layers(np.array([float(layers)]), np.array([float(pp)]), np.array([float(vpp)]))
    return float(s.heaviest[0]), float(s.last[0])


def closed(m: int, stages: list[float], v: int = 1) -> tuple[float, float, float]:
    t = pipeline_time(*(np.array([float(x)]) for x in (m, max(stages), sum(stages), len(stages), v)))
    return float(t.work[0]), float(t.imbalance[0]), float(t.bubble[0])


# layers in stages


@pytest.mark.parametrize(
    ("layers", "pp", "vpp", "heaviest", "last"),
    [
        (80, 8, 1, 10, 10),
        (96, 8, 4, 12, 12),
        # 126 layers, embedding and loss in 128 slots: 16 a stage, the last holds 15 and the loss
        (126, 8, 8, 16, 15),
        (126, 16, 8, 8, 7),
        (61, 16, 1, 4, 1),
        (30, 8, 1, 4, 3),
        (61, 8, 2, 8, 5),
        (10, 8, 1, 2, 0),
        (32, 1, 1, 32, 32),
        (33, 1, 4, 33, 33),
    ],
)
def test_layers_of_the_heaviest_and_the_last_stage(layers: int, pp: int, vpp: int, heaviest: float, last: float) -> None:
    assert layers_of(layers, pp, vpp) == (heaviest, last)


@given(layers=st.integers(1, 130), pp=st.integers(1, 16), vpp=st.integers(1, 4))
def test_the_heaviest_stage_holds_at_least_the_mean_and_at_most_all(layers: int, pp: int, vpp: int) -> None:
    heaviest, last = layers_of(layers, pp, vpp)
    frame = 2 if (layers + 2) % (pp * vpp) == 0 and layers % (pp * vpp) else 0
    assert layers / pp <= heaviest <= layers + frame
    assert 0 <= last <= heaviest


# published bubbles


@pytest.mark.parametrize(("p", "m"), [(4, 8), (8, 64), (16, 16), (1, 5)])
def test_bubble_of_narayanan_et_al(p: int, m: int) -> None:
    work, imbalance, bubble = closed(m, [3.0] * p)
    assert imbalance == 0
    assert bubble / work == pytest.approx((p - 1) / m)


@pytest.mark.parametrize(("p", "m", "v"), [(4, 8, 2), (8, 64, 4), (8, 8, 8)])
def test_interleaving_shrinks_the_bubble(p: int, m: int, v: int) -> None:
    work, _, bubble = closed(m, [3.0] * p, v)
    assert bubble / work == pytest.approx((p - 1) / (v * m))


# a schedule played event by event


def gpipe(p: int, m: int) -> list[list[Task]]:
    return [[("F", i, s) for i in range(m)] + [("B", i, s) for i in range(m)] for s in range(p)]


def one_f_one_b(p: int, m: int) -> list[list[Task]]:
    out = []
    for s in range(p):
        warm = min(p - 1 - s, m)
        order: list[Task] = [("F", i, s) for i in range(warm)]
        for i in range(m - warm):
            order += [("F", warm + i, s), ("B", i, s)]
        out.append(order + [("B", i, s) for i in range(m - warm, m)])
    return out


def interleaved(p: int, m: int, v: int) -> list[list[Task]]:
    """Groups of p micro-batches pass the v chunks of a stage in turn; m is a multiple of p."""

    def unit(k: int, s: int, forward: bool) -> Task:
        chunk = k % (p * v) // p
        micro = k // (p * v) * p + k % p
        return ("F", micro, chunk * p + s) if forward else ("B", micro, (v - 1 - chunk) * p + s)

    out = []
    total = m * v
    for s in range(p):
        warm = min((p - s - 1) * 2 + (v - 1) * p, total)
        order = [unit(k, s, True) for k in range(warm)]
        for k in range(total - warm):
            order += [unit(warm + k, s, True), unit(k, s, False)]
        out.append(order + [unit(k, s, False) for k in range(total - warm, total)])
    return out


def play(orders: list[list[Task]], chunk_s: list[tuple[float, float]]) -> float:
    """Makespan: each stage takes its tasks in order, each as soon as what it needs has ended. ``chunk_s`` is (forward, backward) by chunk."""
    last = len(chunk_s) - 1
    end: dict[Task, float] = {}
    free = [0.0] * len(orders)
    at = [0] * len(orders)
    while any(i < len(o) for i, o in zip(at, orders, strict=True)):
        moved = False
        for s, order in enumerate(orders):
            while at[s] < len(order):
                kind, micro, chunk = task = order[at[s]]
                if kind == "F":
                    needs = [("F", micro, chunk - 1)] if chunk else []
                else:
                    needs = [("F", micro, chunk), *([("B", micro, chunk + 1)] if chunk < last else [])]
                if not all(n in end for n in needs):
                    break
                start = max([free[s], *(end[n] for n in needs)])
                free[s] = end[task] = start + chunk_s[chunk][kind == "B"]
                at[s] += 1
                moved = True
        assert moved, "the schedule waits for itself"
    return max(end.values())


@pytest.mark.parametrize("p", [1, 2, 4, 8])
@pytest.mark.parametrize("m", [8, 16, 21])
@pytest.mark.parametrize("schedule", [gpipe, one_f_one_b])
def test_even_stages_played_take_exactly_the_closed_form(p: int, m: int, schedule: object) -> None:
    played = play(schedule(p, m), [(1.0, 2.0)] * p)  # type: ignore[operator]
    assert played == pytest.approx(sum(closed(m, [3.0] * p)), rel=1e-12)


@pytest.mark.parametrize(("p", "m", "v"), [(2, 4, 2), (4, 8, 2), (4, 16, 4), (8, 16, 2), (8, 32, 4), (4, 4, 3)])
def test_interleaved_stages_played_take_the_closed_form(p: int, m: int, v: int) -> None:
    chunk = (1.0 / v, 2.0 / v)
    played = play(interleaved(p, m, v), [chunk] * (p * v))
    assert played == pytest.approx(sum(closed(m, [3.0] * p, v)), rel=0.03)


@given(p=st.integers(2, 6), rounds=st.integers(1, 4), v=st.integers(2, 4), ratio=st.floats(1, 3))
def test_interleaved_stages_of_any_backward_stay_within_three_percent(p: int, rounds: int, v: int, ratio: float) -> None:
    played = play(interleaved(p, rounds * p, v), [(1.0 / v, ratio / v)] * (p * v))
    assert played == pytest.approx(sum(closed(rounds * p, [1.0 + ratio] * p, v)), rel=0.03)


@given(p=st.integers(2, 6), m=st.integers(8, 24), extra=st.floats(0, 1), where=st.integers(0, 5))
def test_one_heavy_stage_anywhere_sets_the_pace_of_gpipe(p: int, m: int, extra: float, where: int) -> None:
    weight = [1.0] * p
    weight[where % p] += extra
    played = play(gpipe(p, m), [(w, 2 * w) for w in weight])
    total = sum(closed(m, [3 * w for w in weight]))
    assert played == pytest.approx(total, rel=1e-9)


@given(p=st.integers(2, 6), m=st.integers(12, 32), extra=st.floats(0, 1))
def test_a_heavy_last_stage_in_1f1b(p: int, m: int, extra: float) -> None:
    weight = [1.0] * (p - 1) + [1.0 + extra]
    played = play(one_f_one_b(p, m), [(w, 2 * w) for w in weight])
    assert played == pytest.approx(sum(closed(m, [3 * w for w in weight])), rel=0.03)


@given(
    m=st.integers(1, 200), p=st.integers(1, 16), v=st.integers(1, 8), mean=st.floats(1e-3, 10), heavier=st.floats(1, 2),
)  # fmt: skip
def test_parts_add_up_and_are_never_negative(m: int, p: int, v: int, mean: float, heavier: float) -> None:
    heaviest = min(mean * heavier, mean * p)
    t = pipeline_time(*(np.array([float(x)]) for x in (m, heaviest, mean * p, p, v)))
    assert t.imbalance[0] >= -1e-12
    assert t.bubble[0] >= -1e-12
    assert t.work[0] + t.imbalance[0] + t.bubble[0] == pytest.approx(m * heaviest + (mean * p - heaviest) / v)

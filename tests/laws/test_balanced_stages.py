"""Stages dealt by cost: the closed form against blocks dealt one by one, and what no deal may break."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tierspan.laws.pipeline import balanced_stage_layers

EIGHTHS = st.integers(0, 80).map(lambda n: n / 8)


def balanced(layers: int, head: float, pp: int) -> tuple[float, float]:
    s = balanced_stage_layers(np.array([float(layers)]), np.array([head]), np.array([float(pp)]))
    return float(s.heaviest[0]), float(s.last[0])


def dealt(layers: int, head: float, pp: int) -> list[int]:
    """Blocks in order; a stage takes blocks until the running cost exceeds its share of the total (nanotron's order)."""
    total = layers + Fraction(head)
    held, stage, running = [0] * pp, 0, Fraction(0)
    for _ in range(layers):
        held[stage] += 1
        running += 1
        if stage < pp - 1 and running > total * (stage + 1) / pp:
            stage += 1
    return held


@pytest.mark.parametrize(
    ("layers", "head", "pp", "heaviest", "last"),
    [
        # a share of 8.5 layers: 9, 9, 8 and what is left beside the head
        (32, 2.0, 4, 9, 6),
        # a share is 4 layers exactly: it is exceeded by the fifth
        (16, 0.0, 4, 5, 3),
        (30, 2.5, 8, 5, 1),
        # a head heavier than the share leaves the last stage without layers
        (4, 4.0, 2, 4, 0),
        (24, 3.0, 1, 24, 24),
    ],
)
def test_stages_by_hand(layers: int, head: float, pp: int, heaviest: float, last: float) -> None:
    assert balanced(layers, head, pp) == (heaviest, last)


@given(layers=st.integers(1, 130), head=EIGHTHS, pp=st.integers(2, 16))
def test_the_closed_form_is_the_deal_block_by_block(layers: int, head: float, pp: int) -> None:
    assume(layers + head >= pp)
    held = dealt(layers, head, pp)
    heaviest, last = balanced(layers, head, pp)
    assert heaviest == max(held)
    # with a head of several shares the layers may end before the last stage is reached
    assert last == held[-1]


@given(layers=st.integers(1, 130), head=EIGHTHS, pp=st.integers(1, 64))
def test_layers_are_neither_lost_nor_made(layers: int, head: float, pp: int) -> None:
    heaviest, last = balanced(layers, head, pp)
    assert 0 <= last <= heaviest <= layers
    assert heaviest * (pp - 1) + last >= layers
    assert heaviest + last <= layers or pp == 1


@given(layers=st.integers(1, 130), head=EIGHTHS, pp=st.integers(1, 32))
def test_more_stages_or_a_lighter_model_never_make_the_heaviest_heavier(layers: int, head: float, pp: int) -> None:
    heaviest, last = balanced(layers, head, pp)
    assert balanced(layers, head, pp + 1)[0] <= heaviest <= balanced(layers + 1, head, pp)[0]
    assert heaviest <= balanced(layers, head + 1, pp)[0]
    # a heavier head takes layers away from the last stage
    if pp > 1:
        assert balanced(layers, head + 1, pp)[1] <= last


def test_rows_of_a_batch_are_each_on_their_own() -> None:
    many = balanced_stage_layers(np.array([32.0, 30.0, 24.0]), np.array([2.0, 2.5, 3.0]), np.array([4.0, 8.0, 1.0]))
    np.testing.assert_array_equal(many.heaviest, [9, 5, 24])
    np.testing.assert_array_equal(many.last, [6, 1, 24])

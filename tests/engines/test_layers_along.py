"""Which layers stand where: the engine deals them by the rules of the closed form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierspan.engines.timeline.layers import layers_along, layers_by_cost
from tierspan.laws.pipeline import balanced_stage_layers, stage_layers


def one(value: float) -> np.ndarray:
    return np.array([float(value)])


@given(st.integers(1, 130), st.floats(0.0, 6.0), st.integers(2, 32))
def test_dealt_by_cost_no_layer_is_lost_and_the_law_holds(layers: int, head: float, stages: int) -> None:
    held = layers_by_cost(layers, head, stages)
    assert sum(held) == layers
    law = balanced_stage_layers(one(layers), one(head), one(stages))
    assert max(held) == float(law.heaviest[0])
    assert held[-1] == pytest.approx(float(law.last[0]), abs=1.0), "a head heavier than a stage leaves the last ones empty"


@given(st.integers(1, 130), st.integers(2, 16), st.integers(1, 6), st.booleans())
def test_dealt_in_order_no_layer_is_lost(layers: int, stages: int, chunks: int, ends_count: bool) -> None:
    assert sum(layers_along(layers, stages, chunks, ends_count=ends_count)) == pytest.approx(layers)


def test_ends_count_only_where_they_are_asked_to() -> None:
    assert layers_along(62, 16) == (3.0, *((4.0,) * 14), 3.0)
    assert layers_along(62, 16, ends_count=False) == (*((4.0,) * 15), 2.0)
    law = stage_layers(one(62), one(16), one(1), np.array([False]))
    assert (float(law.heaviest[0]), float(law.last[0])) == (4.0, 2.0)

"""Answers as JSON values."""

from __future__ import annotations

import enum
import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tierspan.faces.cli.plain import plain


class Colour(enum.Enum):
    RED = "red"


@dataclass(frozen=True, slots=True)
class Inner:
    value_s: float


@dataclass(frozen=True)
class Outer:
    inner: tuple[Inner, ...]
    by: dict[str | int, float]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (math.nan, None),
        (math.inf, None),
        (np.float64("nan"), None),
        (np.int64(3), 3),
        (np.array([1.0, np.inf]), [1.0, None]),
        (Colour.RED, "red"),
        (Path("a/b"), "a/b"),
        (frozenset({"b", "a"}), ["a", "b"]),
        (Outer((Inner(1.5),), {"tp": 2.0, 3: 1.0}), {"inner": [{"value_s": 1.5}], "by": {"tp": 2.0, "3": 1.0}}),
        (True, True),
    ],
)
def test_plain(value, expected):
    made = plain(value)
    assert made == expected
    json.dumps(made, allow_nan=False)


@pytest.mark.parametrize(("value", "reason"), [(object(), "no plain form for object"), ({("tp", 0): 1.0}, "must be text, not tuple")])
def test_what_has_no_plain_form_is_refused(value, reason):
    with pytest.raises(TypeError, match=reason):
        plain(value)

"""What a source is worth: the vendor's page, somebody who repeats it, or no vendor's figure at all."""

import math

import pytest

from tierspan.quantities.facts import TEXT_UNIT, Fact, Source


@pytest.mark.parametrize(
    ("kind", "reference", "mark"),
    [
        ("datasheet", "https://docs.nvidia.com/x", "vendor page"),
        ("datasheet", "https://docs.nvidia.com/x via github:somebody/notes", "second hand"),
        ("secondary", "github:somebody/notes citing https://www.nvidia.com/x", "second hand"),
        ("paper", "arXiv:2506.12708", "second hand"),
        ("press", "https://example.org", "second hand"),
        ("measured", "own log", "measured"),
        ("derived", "from six links", "derived"),
        ("assumed", "as NVLink", "assumed"),
        ("inline", "offer", "given"),
    ],
)
def test_marks(kind, reference, mark):
    assert Source(reference, kind).mark == mark


def test_words_are_told_from_numbers():
    assert Fact("cooling", math.nan, TEXT_UNIT, Source("x", "press"), original="liquid").is_text
    assert not Fact("racks", 1.0, "1", Source("x", "press")).is_text

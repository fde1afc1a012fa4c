"""The units that the collected hardware facts use are read."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tierspan.quantities.units import parse_quantity

FACTS = Path(__file__).parents[2].parent / "shared" / "facts"
PHYSICAL = re.compile(r"^[kMGTPEnmupc]?(?:B|b|iB|FLOP|OP|W|Hz|s|m|J|g|A|V|gCO2e?q?|kg|lb)(?:/(?:s|kWh|m|bit))?$")


def test_units_of_the_facts():
    if not FACTS.is_dir():
        pytest.skip("the shared facts are not beside this checkout")
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(FACTS.glob("*.yaml")))
    # A bare B means billion there, which the parser rightly calls ambiguous.
    units = Counter(unit for unit in re.findall(r"unit: *'?([^,'}\n]+)", text) if PHYSICAL.match(unit) and unit != "B")
    assert len(units) > 20
    for unit in units:
        assert not parse_quantity(f"1 {unit}").ambiguous, unit

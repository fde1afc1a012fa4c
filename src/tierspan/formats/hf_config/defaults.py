"""Class defaults that published files of a family rely on.

Elsewhere a missing key is an error: the default of a class describes one model, seldom the one in hand. A few families write only
what differs from the class, so their files mean nothing without it; those defaults are data, and taking one is reported.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any


def with_class_defaults(data: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """The configuration with its family's defaults filled in, and whether any was needed."""
    known = _defaults().get(str(data.get("model_type", "")), {})
    # Null means the default, too, except where null has a meaning of its own (KV heads: as many as heads).
    missing = {key: value for key, value in known.items() if key not in data}
    return {**data, **missing}, bool(missing)


@cache
def _defaults() -> dict[str, dict[str, int]]:
    table: dict[str, dict[str, int]] = {}
    with resources.files("tierspan.formats.hf_config").joinpath("data/class_defaults.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            table.setdefault(row["family"], {})[row["key"]] = int(row["value"])
    return table

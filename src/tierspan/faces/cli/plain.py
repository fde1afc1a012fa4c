"""Answers as plain JSON values: dataclasses become objects, arrays lists, and what has no number becomes null."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import PurePath


def plain(value: object) -> object:
    """``value`` as dict, list, str, int, float, bool or None.

    NaN and infinity become None, for JSON has no word for them. NumPy arrays and scalars are told by their ``tolist``; a set is sorted.

    Raises:
        TypeError: a type that has no plain form.
    """
    if isinstance(value, Enum):
        return plain(value.value)
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {_key(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Set):
        return [plain(item) for item in sorted(value, key=str)]
    if isinstance(value, PurePath):
        return str(value)
    tolist = getattr(value, "tolist", None)
    if tolist is not None:
        return plain(tolist())
    raise TypeError(f"no plain form for {type(value).__name__}")


def _key(key: object) -> str:
    if isinstance(key, Enum):
        return _key(key.value)
    if isinstance(key, str | int):
        return str(key)
    raise TypeError(f"a key of an object must be text, not {type(key).__name__}")

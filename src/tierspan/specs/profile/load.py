"""A profile from a file: what ``tierspan calibrate`` wrote, checked before it is used."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tierspan.quantities.errors import InputError, Place
from tierspan.specs.profile.profile import Profile, priors, profile_to_json

KEYS: Final = ("version", "values", "record")
_SLACK: Final = 1e-3
"""A constant at its bound was rounded when it was written."""


def load_profile(path: str | Path) -> Profile:
    """Read a profile file.

    Raises:
        InputError: the file cannot be read, is not JSON, has not the shape of a profile, or holds a constant that is unknown or impossible.
    """
    file = str(path)
    raw = _parsed(Path(path))
    if not isinstance(raw, dict):
        raise InputError("profile.not_object", place=Place(file, line=1), value=_shown(raw))
    for key in KEYS:
        if key not in raw:
            raise InputError("profile.key_missing", place=Place(file, key=key), key=key)
    if not isinstance(raw["version"], str):
        raise InputError("profile.not_text", place=Place(file, key="version"), key="version", value=_shown(raw["version"]))
    values = {name: _constants(file, name, table) for name, table in _table(file, "values", raw["values"]).items()}
    record = _table(file, "record", raw["record"])
    _check_intervals(file, record)
    return Profile(raw["version"], values, record)


def save_profile(profile: Profile, path: str | Path) -> Path:
    """Write a profile file; returns its path.

    Raises:
        InputError: the file cannot be written.
    """
    out = Path(path)
    try:
        out.write_text(profile_to_json(profile), encoding="utf-8")
    except OSError as problem:
        raise InputError("validation.cannot_write", place=Place(str(out)), path=str(out), reason=problem.strerror or str(problem)) from None
    return out


def is_profile(path: str | Path) -> bool:
    """Whether a file looks like a profile, of this release or another."""
    try:
        raw = _parsed(Path(path))
    except InputError:
        return False
    return isinstance(raw, dict) and set(KEYS) <= raw.keys()


def _parsed(path: Path) -> Any:
    file = str(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError("file.not_found", place=Place(file), path=file) from None
    except UnicodeDecodeError as problem:
        raise InputError("file.not_text", place=Place(file), path=file, reason=problem.reason) from None
    except (OSError, ValueError) as problem:
        # ValueError: a path with a null byte.
        raise InputError("file.unreadable", place=Place(file), path=file, reason=getattr(problem, "strerror", None) or str(problem)) from None
    if not text.strip():
        raise InputError("file.empty", place=Place(file), path=file)
    try:
        return json.loads(text)
    except json.JSONDecodeError as problem:
        raise InputError("file.syntax", place=Place(file, line=problem.lineno, column=problem.colno), format="JSON", reason=problem.msg) from None
    except (RecursionError, ValueError) as problem:
        # Nested without end, or a whole number of thousands of digits.
        raise InputError("file.syntax", place=Place(file), format="JSON", reason=str(problem)) from None


def _table(file: str, key: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InputError("profile.not_table", place=Place(file, key=key), key=key, value=_shown(value))
    return value


def _constants(file: str, name: str, table: object) -> Mapping[str, float]:
    prior = priors().get(name)
    if prior is None:
        raise InputError("profile.constant_unknown", place=Place(file, key=f"values.{name}"), name=name)
    found = {}
    for key, value in _table(file, f"values.{name}", table).items():
        where = f"values.{name}[{key}]" if key else f"values.{name}"
        number = _number(file, where, value)
        if number <= 0 or not prior.low * (1 - _SLACK) <= number <= prior.high * (1 + _SLACK):
            raise InputError(
                "profile.out_of_bounds", place=Place(file, key=where), key=where, value=f"{number:g}", low=f"{prior.low:g}", high=f"{prior.high:g}"
            )
        found[key] = number
    return found


def _check_intervals(file: str, record: Mapping[str, Any]) -> None:
    """Intervals may be absent; where they are given, each is ``[low, high, rows]``, and ``all`` is among them."""
    intervals = _table(file, "record.intervals", record.get("intervals", {}))
    for name, bounds in intervals.items():
        where = f"record.intervals.{name}"
        if not isinstance(bounds, list) or len(bounds) != 3:
            raise InputError("profile.interval", place=Place(file, key=where), key=where, value=_shown(bounds))
        low, high, rows = (_number(file, where, part) for part in bounds)
        if not 0 < low <= high or rows < 0:
            raise InputError("profile.interval", place=Place(file, key=where), key=where, value=_shown(bounds))
    if intervals and "all" not in intervals:
        raise InputError("profile.key_missing", place=Place(file, key="record.intervals.all"), key="all")


def _number(file: str, key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError("profile.not_number", place=Place(file, key=key), key=key, value=_shown(value))
    return float(value)


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)[:60]

"""JSON files that people write and edit: every error names file, line and column.

NaN and Infinity are read (tools write them into keys that nobody needs); whoever needs such a number refuses it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tierspan.quantities.errors import InputError, Place

_MAX_BYTES = 32 * 2**20


@dataclass(frozen=True, slots=True)
class JsonObject:
    """A parsed object with the text it came from, so that a key can be found again."""

    data: dict[str, Any]
    text: str
    file: str

    def place(self, key: str, under: str = "") -> Place:
        """Where ``key`` stands (the first one after ``under``, if given); without a line if the text does not hold it."""
        start = 0
        if under and (match := _key_pattern(under).search(self.text)):
            start = match.end()
        match = _key_pattern(key).search(self.text, start)
        line = self.text.count("\n", 0, match.start()) + 1 if match else None
        return Place(self.file, line=line, key=f"{under}.{key}" if under else key)


def read_json(path: str | Path) -> JsonObject:
    """Read a file that holds one JSON object.

    Raises:
        InputError: missing, a directory, too large, not UTF-8, empty, not JSON, or not an object.
    """
    path = Path(path)
    place = Place(str(path))
    try:
        if path.is_dir():
            raise InputError("json.directory", place=place)
        if path.stat().st_size > _MAX_BYTES:
            raise InputError("json.size", place=place, limit=_MAX_BYTES // 2**20)
        raw = path.read_bytes()
    except FileNotFoundError:
        raise InputError("json.missing", place=place) from None
    except (OSError, ValueError) as error:
        # ValueError: a path with a null byte.
        raise InputError("json.unreadable", place=place, reason=getattr(error, "strerror", None) or str(error)) from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            "json.encoding", place=Place(str(path), line=raw.count(b"\n", 0, error.start) + 1), byte=f"0x{raw[error.start]:02x}"
        ) from None
    return parse_json(text, str(path))


def parse_json(text: str, file: str = "") -> JsonObject:
    """Parse text that holds one JSON object; ``file`` is only named in errors."""
    if not text.strip():
        raise InputError("json.empty", place=Place(file))
    try:
        data = json.loads(text, object_pairs_hook=lambda pairs: _unique(pairs, text, file))
    except json.JSONDecodeError as error:
        raise _syntax_error(error, text, file) from None
    except RecursionError:
        raise InputError("json.depth", place=Place(file)) from None
    except ValueError as error:
        # A whole number of thousands of digits.
        raise InputError("json.unreadable", place=Place(file), reason=str(error)) from None
    if not isinstance(data, dict):
        raise InputError("json.not_object", place=Place(file, line=1), found=kind_name(data))
    return JsonObject(data, text, file)


def kind_name(value: object) -> str:
    """What JSON calls the kind of a value."""
    names = {bool: "boolean", int: "number", float: "number", str: "string", list: "array", dict: "object", type(None): "null"}
    return names.get(type(value), type(value).__name__)


def _unique(pairs: Iterable[tuple[str, Any]], text: str, file: str) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for key, value in pairs:
        if key in data and data[key] != value:
            places = [m.start() for m in _key_pattern(key).finditer(text)]
            line = text.count("\n", 0, places[-1]) + 1 if places else None
            raise InputError("json.duplicate", place=Place(file, line=line, key=key), first=str(data[key])[:40], second=str(value)[:40])
        data[key] = value
    return data


def _syntax_error(error: json.JSONDecodeError, text: str, file: str) -> InputError:
    place = Place(file, line=error.lineno, column=error.colno)
    rest = text[error.pos :].lstrip()
    before = text[: error.pos].rstrip()
    if not rest:
        return InputError("json.end", place=place)
    if rest[0] in "}]" and before.endswith(","):
        comma = len(before) - 1
        return InputError("json.trailing_comma", place=_at(text, comma, file))
    if rest[0] == "," and rest[1:].lstrip()[:1] in ("}", "]"):
        return InputError("json.trailing_comma", place=place)
    if rest.startswith(("//", "/*", "#")):
        return InputError("json.comment", place=place)
    return InputError("json.syntax", place=place, found=rest.split("\n", 1)[0][:20])


def _at(text: str, position: int, file: str) -> Place:
    line_start = text.rfind("\n", 0, position) + 1
    return Place(file, line=text.count("\n", 0, position) + 1, column=position - line_start + 1)


def _key_pattern(key: str) -> re.Pattern[str]:
    return re.compile(re.escape(json.dumps(key, ensure_ascii=False)) + r"\s*:")

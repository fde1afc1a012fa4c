"""JSON with the line of every value; several objects one after another (JSON Lines) are read as a list."""

from __future__ import annotations

import json
import re

from tierspan.formats.json_text import parse_json
from tierspan.formats.sheets.limits import MAX_DEPTH, MAX_VALUES
from tierspan.formats.sheets.tree import Node
from tierspan.quantities.errors import InputError, Place

_START = re.compile(r'\s*(?:\{\s*(?:"(?:[^"\\\n]|\\.)*"\s*:|\})|\[\s*(?:[\[{"\]]|-?\d[\d.eE+-]*\s*[,\]]))')
_TOKEN = re.compile(r'\s*([{}\[\],:]|"(?:[^"\\]|\\.)*"|[^\s{}\[\],:"]+)')


def is_json(text: str) -> bool:
    """Whether a text begins as JSON does: a brace with a key in quotes, or a bracket with a value."""
    return bool(_START.match(text))


def parse_json_sheet(text: str, name: str) -> Node:
    """The tree of a JSON text.

    Raises:
        InputError: no JSON, with line and column; or nested too deeply.
    """
    scanner = _Scanner(text, name)
    try:
        found = [scanner.value(0)]
        while scanner.peek():
            found.append(scanner.value(0))
    except _BrokenError:
        parse_json(text, name)  # says what is wrong
        raise InputError("file.syntax", place=Place(name, scanner.line), format="JSON", reason=scanner.token[:20] or "...") from None
    return found[0] if len(found) == 1 else Node(1, items=found)


class _BrokenError(ValueError):
    """Not JSON; the caller says where."""


class _Scanner:
    def __init__(self, text: str, name: str) -> None:
        self._text, self._name = text, name
        self._at = 0
        self._left = MAX_VALUES
        self.line = 1
        self.token = ""

    def peek(self) -> str:
        """The next token without taking it, "" at the end."""
        match = _TOKEN.match(self._text, self._at)
        if match is None and self._text[self._at :].strip():
            raise _BrokenError
        return match[1] if match else ""

    def take(self, *allowed: str) -> str:
        """The next token; one of ``allowed``, if any are given."""
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            raise _BrokenError
        self.line += self._text.count("\n", self._at, match.start(1))
        self.token = match[1]
        if allowed and self.token not in allowed:
            raise _BrokenError
        self._at = match.end()
        self.line += self.token.count("\n")
        return self.token

    def value(self, depth: int) -> Node:
        """The value that begins here."""
        token = self.take()
        line = self.line
        self._left -= 1
        if self._left < 0:
            raise InputError("sheet.too_many_values", place=Place(self._name, line), limit=MAX_VALUES)
        if depth > MAX_DEPTH:
            raise InputError("sheet.depth", place=Place(self._name, line), limit=MAX_DEPTH)
        if token == "{":
            return Node(line, parts=self._parts(depth))
        if token == "[":
            return Node(line, items=self._items(depth))
        return Node(line, text=_scalar(token))

    def _parts(self, depth: int) -> list[tuple[str, Node]]:
        parts: list[tuple[str, Node]] = []
        if self.peek() == "}":
            self.take()
            return parts
        while True:
            key = self.take()
            if key[0] != '"':
                raise _BrokenError
            self.take(":")
            parts.append((_scalar(key), self.value(depth + 1)))
            if self.take(",", "}") == "}":
                return parts

    def _items(self, depth: int) -> list[Node]:
        items: list[Node] = []
        if self.peek() == "]":
            self.take()
            return items
        while True:
            items.append(self.value(depth + 1))
            if self.take(",", "]") == "]":
                return items


def _scalar(token: str) -> str:
    """Text of a scalar; numbers stay as they are written."""
    if token[0] == '"':
        try:
            return str(json.loads(token, strict=False))
        except ValueError:
            raise _BrokenError from None
    if token == "null":
        return ""
    if token in ("true", "false", "NaN", "Infinity", "-Infinity") or re.fullmatch(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", token):
        return token
    raise _BrokenError

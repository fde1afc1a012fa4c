"""YAML with the line of every value: no objects are made, no tags obeyed, aliases are followed within a limit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tierspan.formats.sheets.limits import MAX_DEPTH, MAX_VALUES, MAX_YAML_BYTES, mebibytes
from tierspan.formats.sheets.tree import Node
from tierspan.quantities.errors import InputError, Place

if TYPE_CHECKING:
    from ruamel.yaml.nodes import Node as YamlNode

_ENTRY = re.compile(r"^ *(?:- +)*(?:[\w(][\w.\-/ ()%]{0,79}|\"[^\"\n]{1,80}\") {0,3}:(?:\s|$)|^ *- ")


def is_yaml(lines: list[str]) -> bool:
    """Whether a text is laid out as YAML beyond doubt: a document mark, or keys with deeper keys below them and no other line."""
    said = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not said:
        return False
    if said[0].rstrip() == "---" or said[0].startswith("%YAML"):
        return True
    nested = False
    above = -1
    for line in said:
        match = _ENTRY.match(line)
        if not match:
            return False
        indent = len(line) - len(line.lstrip(" "))
        nested |= -1 < above < indent
        above = indent if line.rstrip().endswith(":") else -1
    return nested


def parse_yaml_sheet(text: str, name: str) -> Node:
    """The tree of a YAML text; several documents are a list.

    Raises:
        InputError: too large, no YAML (with line and column), nested too deeply, or aliases that explode.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    if len(text.encode("utf-8", "replace")) > MAX_YAML_BYTES:
        raise InputError("sheet.too_large_yaml", place=Place(name), limit=mebibytes(MAX_YAML_BYTES))
    _refuse_depth(text, name)
    try:
        roots = [root for root in YAML(typ="safe", pure=True).compose_all(text) if root is not None]
    except MarkedYAMLError as error:
        raise _syntax(error, text, name) from None
    except RecursionError:
        raise InputError("sheet.depth", place=Place(name), limit=MAX_DEPTH) from None
    except (YAMLError, ValueError) as error:
        reason = str(getattr(error, "reason", "") or error).split("\n", 1)[0]
        raise InputError("file.syntax", place=Place(name), format="YAML", reason=reason) from None
    if not roots:
        raise InputError("file.empty", path=name)
    builder = _Builder(name)
    found = [builder.node(root, 0) for root in roots]
    return found[0] if len(found) == 1 else Node(1, items=found)


def _refuse_depth(text: str, name: str) -> None:
    """Brackets are counted before the parser sees them: it slows down with the square of the depth."""
    depth = 0
    for match in re.finditer(r"[\[{\]}\n]|(?:- ){20,}", text):
        if match[0] == "\n":
            continue
        depth += 1 if match[0] in "[{" else -1 if depth and match[0] in "]}" else 0
        if depth > MAX_DEPTH or match[0].startswith("-"):
            raise InputError("sheet.depth", place=Place(name, text.count("\n", 0, match.start()) + 1), limit=MAX_DEPTH)


def _syntax(error: Any, text: str, name: str) -> InputError:
    mark = error.problem_mark or error.context_mark
    if not mark:
        return InputError("file.syntax", place=Place(name), format="YAML", reason=str(error.problem or error.context or ""))
    lines = text.split("\n")
    line = lines[mark.line] if mark.line < len(lines) else ""
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return InputError("scenario.tab", place=Place(name, mark.line + 1))
    reason = str(error.problem or error.context or "not readable")
    return InputError("file.syntax", place=Place(name, mark.line + 1, mark.column + 1), format="YAML", reason=reason)


class _Builder:
    def __init__(self, name: str) -> None:
        self._name = name
        self._left = MAX_VALUES

    def node(self, node: YamlNode, depth: int) -> Node:
        """A node of the tree; what an alias repeats counts again."""
        line = node.start_mark.line + 1
        self._left -= 1
        if self._left < 0:
            raise InputError("sheet.too_many_values", place=Place(self._name, line), limit=MAX_VALUES)
        if depth > MAX_DEPTH:
            raise InputError("sheet.depth", place=Place(self._name, line), limit=MAX_DEPTH)
        kind = type(node).__name__
        if kind == "MappingNode":
            return Node(line, parts=[(self._key(key), self.node(value, depth + 1)) for key, value in node.value])
        if kind == "SequenceNode":
            return Node(line, items=[self.node(item, depth + 1) for item in node.value])
        text = str(node.value)
        return Node(line, text="" if str(node.tag).endswith(":null") else text)

    def _key(self, node: YamlNode) -> str:
        if isinstance(node.value, list):
            raise InputError("scenario.key_kind", place=Place(self._name, node.start_mark.line + 1))
        return str(node.value)

"""A YAML or JSON file as plain values that remember their lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tierspan.formats.json_text import JsonObject, parse_json
from tierspan.quantities.errors import InputError, Place

if TYPE_CHECKING:
    from ruamel.yaml.nodes import Node

_MAX_BYTES: Final = 4 * 2**20
_MAX_NODES: Final = 100_000
_TRUE: Final = frozenset({"true", "True", "TRUE"})
_TAG: Final = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True)
class Document:
    """A file that holds one mapping. ``places`` maps a dotted path (list items by number) to where its key stands."""

    data: Mapping[str, Any]
    file: str
    places: Mapping[str, Place]

    def place_of(self, path: str) -> Place:
        """Where the value of ``path`` stands; for one that the file lacks, the innermost part that it has."""
        found = path
        while found not in self.places and found:
            found = found.rpartition(".")[0]
        at = self.places.get(found)
        return Place(self.file, at.line if at else None, at.column if at else None, path)


def read_document(path: str | Path) -> Document:
    """Read a file that holds one mapping: JSON where it is called ``.json``, else YAML.

    Raises:
        InputError: missing, a folder, too large, not UTF-8, empty, no valid YAML or JSON, a key twice, or no mapping.
    """
    path = Path(path)
    file = str(path)
    place = Place(file)
    try:
        if path.is_dir():
            raise InputError("scenario.folder", place=place)
        if path.stat().st_size > _MAX_BYTES:
            raise InputError("scenario.size", place=place, limit=_MAX_BYTES // 2**20)
        raw = path.read_bytes()
    except FileNotFoundError:
        raise InputError("file.not_found", path=file) from None
    except (OSError, ValueError) as error:
        # ValueError: a path with a null byte.
        raise InputError("file.unreadable", path=file.replace("\0", "?"), reason=getattr(error, "strerror", None) or str(error)) from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError("file.not_text", place=Place(file, line), path=file, reason=f"byte 0x{raw[error.start]:02x}") from None
    return parse_document(text, file, as_json=path.suffix.lower() == ".json")


def parse_document(text: str, file: str = "", *, as_json: bool = False) -> Document:
    """As ``read_document``, from text; ``file`` is only named in errors."""
    if not text.strip():
        raise InputError("file.empty", path=file)
    if as_json:
        found = parse_json(text, file)
        return Document(found.data, file, _json_places(found))
    return _parse_yaml(text, file)


def _json_places(found: JsonObject) -> dict[str, Place]:
    places: dict[str, Place] = {}

    def walk(value: object, path: str) -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                inner = f"{path}.{key}" if path else key
                places[inner] = found.place(key, path.rpartition(".")[2])
                walk(item, inner)
        elif isinstance(value, list):
            for number, item in enumerate(value):
                walk(item, f"{path}.{number}")

    walk(found.data, "")
    return places


def _parse_yaml(text: str, file: str) -> Document:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        root = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        raise _syntax(error, text, file) from None
    except (YAMLError, ValueError) as error:
        reason = str(getattr(error, "reason", "") or error).split("\n", 1)[0]
        raise InputError("file.syntax", place=Place(file), format="YAML", reason=reason) from None
    except RecursionError:
        raise InputError("scenario.depth", place=Place(file)) from None
    if root is None:
        raise InputError("file.empty", path=file)
    builder = _Builder(file)
    data = builder.value(root, "", ())
    if not isinstance(data, dict):
        raise InputError("scenario.not_mapping", place=Place(file, root.start_mark.line + 1), found=_kind(data))
    return Document(data, file, builder.places)


def _syntax(error: Any, text: str, file: str) -> InputError:
    mark = error.problem_mark or error.context_mark
    place = Place(file, mark.line + 1, mark.column + 1) if mark else Place(file)
    line = text.split("\n")[mark.line] if mark and mark.line < text.count("\n") + 1 else ""
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return InputError("scenario.tab", place=Place(file, mark.line + 1))
    problem = str(error.problem or error.context or "not readable")
    if "another document" in problem:
        return InputError("scenario.two_documents", place=place)
    return InputError("file.syntax", place=place, format="YAML", reason=problem)


class _Builder:
    """Plain values from YAML nodes, after the core schema of YAML 1.2; dates stay text."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._left = _MAX_NODES
        self.places: dict[str, Place] = {}

    def value(self, node: Node, path: str, above: tuple[int, ...]) -> Any:
        place = Place(self._file, node.start_mark.line + 1, key=path)
        self.places.setdefault(path, place)
        self._left -= 1
        if id(node) in above or self._left < 0 or len(above) > 50:
            raise InputError("scenario.depth", place=place)
        above = (*above, id(node))
        tag = str(node.tag).removeprefix(_TAG)
        if tag == "map":
            return self._mapping(node, path, above)
        if tag == "seq":
            return [self.value(item, f"{path}.{number}", above) for number, item in enumerate(node.value)]
        return self._scalar(node, tag, place)

    def _mapping(self, node: Node, path: str, above: tuple[int, ...]) -> dict[str, Any]:
        data: dict[str, Any] = {}
        first: dict[str, int] = {}
        for key_node, value_node in node.value:
            if isinstance(key_node.value, list):
                raise InputError("scenario.key_kind", place=Place(self._file, key_node.start_mark.line + 1, key=path))
            key = str(key_node.value)
            inner = f"{path}.{key}" if path else key
            place = Place(self._file, key_node.start_mark.line + 1, key=inner)
            if key in data:
                raise InputError("scenario.key_twice", place=place, key=key, first=first[key])
            self.places[inner] = place
            first[key] = place.line or 0
            data[key] = self.value(value_node, inner, above)
        return data

    def _scalar(self, node: Node, tag: str, place: Place) -> object:
        text = str(node.value)
        if tag == "null":
            return None
        if tag == "bool":
            return text in _TRUE
        if tag in ("int", "float"):
            return _number(text, tag, place)
        if tag in ("str", "timestamp"):
            return text
        raise InputError("scenario.tag", place=place, tag=str(node.tag))


def _number(text: str, tag: str, place: Place) -> int | float:
    plain = text.replace("_", "")
    try:
        if tag == "float":
            return float(plain.replace(".inf", "inf").replace(".Inf", "inf").replace(".INF", "inf").lower().replace(".nan", "nan"))
        body = plain.lstrip("+-").lower()
        return int(plain, 0) if body.startswith(("0x", "0o", "0b")) else int(plain)
    except ValueError as error:
        # A whole number of thousands of digits.
        raise InputError("scenario.number", place=place, value=text[:40]) from error


def _kind(value: object) -> str:
    return "a list" if isinstance(value, list) else "a single value"

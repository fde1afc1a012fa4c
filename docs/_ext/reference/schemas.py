"""The JSON that each verb prints with ``--json``: keys and types, from the schemas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from reference.markdown import code, page, prose, table
from tierspan.answers.schemas import known_schemas, schema


def schemas_page(lang: str) -> str:
    """One section for each verb that has a schema: the object it prints, then the objects inside that."""
    del lang  # keys and types are the same in all languages
    return page(*(_verb(verb) for verb in known_schemas()))


def _verb(verb: str) -> str:
    found = schema(verb)
    inner = found.get("$defs", {})
    return page(
        f"## {verb}",
        f"`tierspan {verb} ... --json` prints one object; `tierspan schema {verb}` prints its schema.",
        _object(found),
        *(page(f"### {verb}: {name}", _object(part)) for name, part in inner.items() if "properties" in part),
    )


def _object(part: Mapping[str, Any]) -> str:
    rows = [(code(key), _type(value)) for key, value in part.get("properties", {}).items()]
    return page(prose(part.get("description", "")), table(("key", "type"), rows))


def _type(value: Mapping[str, Any]) -> str:
    if "$ref" in value:
        return str(value["$ref"]).rpartition("/")[2]
    if "enum" in value:
        return ", ".join(code(str(choice)) for choice in value["enum"])
    if "const" in value:
        return code(str(value["const"]))
    if "anyOf" in value:
        return _either(part for choice in value["anyOf"] for part in _type(choice).split(" or "))
    kinds = value.get("type", "any value")
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    if "array" in kinds:
        first: Mapping[str, Any] = next(iter(value.get("prefixItems", ())), {})
        return f"list of {_type(value.get('items') or first)}"
    if "object" in kinds and isinstance(value.get("additionalProperties"), Mapping):
        return f"map of {_type(value['additionalProperties'])}"
    return _either(kinds)


def _either(kinds: Iterable[str]) -> str:
    return " or ".join(dict.fromkeys(kinds))

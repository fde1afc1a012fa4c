"""JSON schemas of the answers, made from the frozen result classes by pydantic."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

from tierspan.quantities.errors import UnknownNameError

RESULTS: Final[Mapping[str, str]] = {
    "audit": "tierspan.answers.audit.printed:PrintedAudit",
    "calibrate": "tierspan.answers.calibrate:Calibration",
    "catalog-compare": "tierspan.answers.catalog_compare.comparison:PartsComparison",
    "collective": "tierspan.answers.collective:CollectiveAnswer",
    "compare": "tierspan.answers.comparison.results:CompareAnswer",
    "fit": "tierspan.answers.results:Fitting",
    "predict": "tierspan.answers.results:Prediction",
    "scale": "tierspan.answers.results:Scaling",
    "validate": "tierspan.answers.validation.document:ValidationReport",
}
"""Verb -> ``module:class`` of the object that the verb prints with ``--json``. Named, not imported: one schema must not load all answers."""

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def known_schemas() -> tuple[str, ...]:
    """The verbs that have a schema."""
    return tuple(sorted(RESULTS))


def result_class(verb: str) -> type[Any]:
    """The class of the answer of a verb.

    Raises:
        UnknownNameError: no such verb, or it prints no object.
    """
    home = RESULTS.get(verb)
    if home is None:
        raise UnknownNameError("schema.unknown", verb, RESULTS, listed=", ".join(known_schemas()))
    module, _, name = home.partition(":")
    found: type[Any] = getattr(import_module(module), name)
    return found


def schema(verb: str) -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of what ``tierspan VERB --json`` prints.

    Raises:
        UnknownNameError: no such verb, or it prints no object.
    """
    from pydantic import TypeAdapter

    made = TypeAdapter(result_class(verb)).json_schema(mode="serialization")
    _let_numbers_be_null(made)
    return {"$schema": DIALECT, "$id": f"tierspan:{verb}", **made}


def _let_numbers_be_null(node: object) -> None:
    """A number that does not exist (NaN, infinity) is printed as null: say so wherever a float stands."""
    if isinstance(node, dict):
        if node.get("type") == "number":
            node["type"] = ["number", "null"]
        for item in node.values():
            _let_numbers_be_null(item)
    elif isinstance(node, list):
        for item in node:
            _let_numbers_be_null(item)

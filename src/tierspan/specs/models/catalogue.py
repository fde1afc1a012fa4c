"""The catalogue of models: one row a model, read once, on first use."""

from __future__ import annotations

import csv
from dataclasses import MISSING, fields
from functools import cache
from importlib import resources

from tierspan.quantities.errors import Place, UnknownNameError
from tierspan.specs.model import ModelSpec
from tierspan.specs.models.names import lookup_key, row_keys

_DATA = "tierspan.specs.models"


def model(name: str, place: Place | None = None) -> ModelSpec:
    """The model with this id or alias (letter case, spaces, hyphens and underscores do not matter).

    Raises:
        UnknownNameError: nobody knows the name; the error suggests the nearest ids.
    """
    return _specs()[resolve_model_id(name, place)]


def model_ids() -> tuple[str, ...]:
    """All ids, in the order of the data file."""
    return tuple(_specs())


def resolve_model_id(name: str, place: Place | None = None) -> str:
    """The id that a name stands for; raises ``UnknownNameError`` where there is none."""
    found = _names().get(lookup_key(name))
    if found is None:
        raise UnknownNameError("models.unknown", name, [*_specs(), *_aliases()], place=place)
    return found


def find_model_id(label: str) -> str | None:
    """The id behind a label of a measurement, or None.

    Labels carry more than a name ("Llama 3.1 405b FP8 (TP=8, PP=9)", "llama3_70b truncated to 12 layers"): what tells precision,
    accelerator, task or truncation is left out before the name is looked up. The caller takes sizes from the row first.
    """
    names = _names()
    return next((names[key] for key in row_keys(label) if key in names), None)


@cache
def _specs() -> dict[str, ModelSpec]:
    with resources.files(_DATA).joinpath("data/models.csv").open(encoding="utf-8") as file:
        return {row["id"]: _spec(row) for row in csv.DictReader(file)}


@cache
def _aliases() -> dict[str, str]:
    with resources.files(_DATA).joinpath("data/model_aliases.csv").open(encoding="utf-8") as file:
        return {row["alias"]: row["id"] for row in csv.DictReader(file)}


@cache
def _names() -> dict[str, str]:
    ids = {lookup_key(model_id): model_id for model_id in _specs()}
    return {lookup_key(alias): model_id for alias, model_id in _aliases().items()} | ids


def _spec(row: dict[str, str]) -> ModelSpec:
    values: dict[str, object] = {}
    for f in fields(ModelSpec):
        text = row[f.name]
        if f.name == "partial":
            values[f.name] = tuple(text.split())
        elif f.type == "str":
            values[f.name] = text
        elif not text:
            # A blank cell means the default of the field; a field without one stands in every row (a test reads them all).
            if f.default is not MISSING:
                values[f.name] = f.default
        else:
            values[f.name] = text == "yes" if f.type == "bool" else int(text)
    return ModelSpec(**values)  # type: ignore[arg-type]

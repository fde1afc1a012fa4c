"""A scenario: cluster, model, job, strategy and stack as a file says them, checked for spelling, type and range."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tierspan.formats.scenario.document import Document, read_document
from tierspan.formats.scenario.settings import BY_NAME, SETTINGS, Section, checked, meant, names_in
from tierspan.quantities.errors import InputError, Place, nearest_names

TOP_KEYS: Final = ("name", "cluster", "model", "job", "strategy", "stack", "site", "prices")
CLUSTER_KEYS: Final = (
    "system", "accelerator", "accelerators", "node_size", "domain_size", "nic", "nic_Bps", "tiers", "name", "id", "vendor", "unit_accelerators",
    "unit_power", "unit_power_W", "nics_per_node", "other_planes",
)  # fmt: skip
_SIGNS_OF_SYSTEM: Final = ("tiers", "node_size", "accelerator", "peak_flops", "unit_accelerators")
_SIGNS_OF_MODEL: Final = ("model_type", "architectures", "hidden_size", "num_hidden_layers")
_SPELLED_OTHERWISE: Final = {"training": "job", "system": "cluster", "parallel": "strategy", "parallelism": "strategy", "framework": "stack"}


@dataclass(frozen=True, slots=True)
class Scenario:
    """What a scenario says; a key that it lacks is not in the mappings.

    ``values`` holds job and strategy by the name of their setting; ``cluster`` is as written (``specs.inline`` reads it), ``model`` an
    id, a path or an inline configuration; ``other`` the sections of other questions (site, prices). Paths are relative to ``folder``.
    """

    cluster: Mapping[str, Any]
    model: str | Mapping[str, Any] | None
    values: Mapping[str, object]
    stack: str | None
    other: Mapping[str, Any]
    document: Document
    folder: Path

    def place_of(self, path: str) -> Place:
        """Where the value of a dotted path stands."""
        return self.document.place_of(path)


def read_scenario(path: str | Path) -> Scenario:
    """Read a scenario from a YAML or JSON file.

    Raises:
        InputError: the file cannot be read, or a value has the wrong type or range (file, line and key are named).
    """
    return scenario_of(read_document(path), Path(path).parent)


def scenario_of(document: Document, folder: Path | None = None) -> Scenario:
    """The scenario of a document; see ``read_scenario``."""
    _refuse_other_documents(document)
    _known_keys(document, "", document.data, TOP_KEYS)
    values: dict[str, object] = {}
    for section in ("job", "strategy"):
        values |= _section(document, section)
    stack = document.data.get("stack")
    if stack is not None and not isinstance(stack, str):
        raise InputError("scenario.type_text", place=document.place_of("stack"), key="stack", value=stack)
    model = document.data.get("model")
    if model is not None and not isinstance(model, str | dict):
        raise InputError("scenario.type_model", place=document.place_of("model"), key="model", value=model)
    other = {key: document.data[key] for key in ("site", "prices") if key in document.data}
    return Scenario(_cluster(document), model, values, stack, other, document, folder or Path())


def _refuse_other_documents(document: Document) -> None:
    """Say what a file is that another option takes: the description of a system, or the configuration of a model."""
    if not document.data.keys().isdisjoint(("cluster", "job", "strategy")):
        return
    for kind, signs in (("system", _SIGNS_OF_SYSTEM), ("model", _SIGNS_OF_MODEL)):
        found = next((key for key in document.data if key in signs), None)
        if found is not None:
            raise InputError(f"scenario.is_{kind}", place=document.place_of(found), file=document.file)


def _section(document: Document, section: Section) -> dict[str, object]:
    given = document.data.get(section)
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise InputError("scenario.type_section", place=document.place_of(section), key=section, value=given)
    names = names_in(section)
    _known_keys(document, section, given, names)
    return {key: checked(BY_NAME[key], value, document.place_of(f"{section}.{key}")) for key, value in given.items() if value is not None}


def _cluster(document: Document) -> Mapping[str, Any]:
    given = document.data.get("cluster")
    if given is None:
        return {}
    if isinstance(given, str):
        return {"system": given}
    if not isinstance(given, dict):
        raise InputError("scenario.type_section", place=document.place_of("cluster"), key="cluster", value=given)
    _known_keys(document, "cluster", given, CLUSTER_KEYS)
    for setting in SETTINGS:
        if setting.section == "cluster" and given.get(setting.name) is not None:
            checked(setting, given[setting.name], document.place_of(setting.path))
    return {key: value for key, value in given.items() if value is not None}


def _known_keys(document: Document, section: str, given: Mapping[str, Any], names: tuple[str, ...]) -> None:
    for key in given:
        if key in names:
            continue
        path = f"{section}.{key}" if section else key
        other = next((s.path for s in SETTINGS if s.name == key and s.section != section), None) if section or key in BY_NAME else None
        better = meant(key)
        near = [BY_NAME[better].path if section != BY_NAME[better].section else better] if better else nearest_names(key, names, count=1)
        near = [other] if other else [_SPELLED_OTHERWISE[key]] if not section and key in _SPELLED_OTHERWISE else near
        where = section or "scenario"
        if near:
            raise InputError("scenario.key_unknown_near", place=document.place_of(path), key=key, section=where, suggestions=", ".join(near))
        raise InputError("scenario.key_unknown", place=document.place_of(path), key=key, section=where, known=", ".join(names))

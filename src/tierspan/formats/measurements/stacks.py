"""Which software stack a row used, and what that stack does where the source says nothing (data: ``stacks.json``)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tierspan.specs.measurement import MemoryRow, Stack, TrainingRow
from tierspan.specs.strategy import Recompute

UNKNOWN_FAMILY = "unknown"


@cache
def _data() -> Mapping[str, Any]:
    loaded: Mapping[str, Any] = json.loads((Path(__file__).parent / "stacks.json").read_text(encoding="utf-8"))
    return loaded


def _matches(rule: Mapping[str, Any], fields: Mapping[str, str]) -> bool:
    return all(re.search(rule[name], text, re.IGNORECASE) for name, text in fields.items() if name in rule)


def stack_of(row: TrainingRow | MemoryRow) -> Stack:
    """The software stack of a row, from its framework, source, model, accelerator and date (first rule that fits)."""
    training = isinstance(row, TrainingRow)
    year = row.year if isinstance(row, TrainingRow) else None
    framework = row.framework if isinstance(row, TrainingRow) else ""
    fields = {"source": row.source, "framework": framework, "model": row.model, "accelerator": row.accelerator}
    for rule in _data()["rules"]:
        if not _matches(rule, fields) or (not training and "until" in rule):
            continue
        if "until" in rule and not (year is not None and year < rule["until"]):
            continue
        release = ""
        if "release" in rule:
            found = re.search(rule["release"], f"{framework}; {row.source}; {row.notes}")
            release = found[1].rstrip(".") if found else ""
        return Stack(rule["family"], release, year)
    return Stack(UNKNOWN_FAMILY, "", year)


@dataclass(frozen=True, slots=True)
class StackDefaults:
    """What a stack does unless told otherwise.

    ``sp_from`` is the year from which it splits sequences over TP (``None``: never); ``vpp_layers`` the layers in one chunk of
    its interleaved schedule (``None``: it does not interleave by default); ``absent`` the groups that have size 1 where they are
    not named; ``micro_batch`` a size, ``no accumulation``, ``pipeline`` (as many micro-batches as stages) or ``None`` (unknown);
    ``etp`` the tensor-parallel size inside an expert (``None``: as TP); ``flash_attention`` fused attention (``None``: by year).
    """

    gradient_bytes: int
    zero: int
    recompute: Recompute
    sp_from: int | None
    vpp_layers: int | None
    overlap_grad_reduce: bool
    overlap_param_gather: bool
    overlap_tp: bool
    overlap_p2p: bool
    etp: int | None
    absent: tuple[str, ...]
    precision: str | None
    micro_batch: int | str | None
    flash_attention: bool | None
    basis: str


def stack_defaults(stack: Stack) -> StackDefaults:
    """The defaults of a stack; of a family that has none, those of plain data parallelism."""
    table = _data()["defaults"]
    values = {**table["*"], **table.get(stack.family, {})}
    return StackDefaults(**{**values, "absent": tuple(values["absent"])})


def printed_vpp(stack: Stack, model: str, accelerator: str, pp: int) -> int | None:
    """The interleaving that the same publisher prints for the same model and PP elsewhere, or ``None``."""
    for entry in _data()["vpp_printed"]:
        if entry["family"] == stack.family and entry["pp"] == pp and _matches(entry, {"model": model, "accelerator": accelerator}):
            return int(entry["vpp"])
    return None


@dataclass(frozen=True, slots=True)
class HostDefaults:
    """Host and network of an accelerator where the row leaves them empty.

    ``system`` where the source names it, ``slice_limit`` for accelerators joined into one slice.
    """

    node_size: int
    nic_gbps: float | None
    slice_limit: int | None
    basis: str
    system: str | None = None


def host_defaults(accelerator: str, source: str) -> HostDefaults | None:
    """Defaults by accelerator, the network rate by source where a source tells; ``None`` for an accelerator without defaults."""
    host = next((e for e in _data()["accelerators"] if re.search(e["accelerator"], accelerator, re.IGNORECASE)), None)
    if host is None:
        return None
    told = next((e for e in _data()["sources"] if re.search(e["source"], source, re.IGNORECASE)), None)
    limit = host.get("slice")
    return HostDefaults(
        node_size=int(host["node_size"]),
        nic_gbps=(told or host)["nic_gbps"],
        slice_limit=None if limit is None else (2**31 if limit is True else int(limit)),
        basis=str((told or host)["basis"]),
        system=(told or host).get("system"),
    )


def flash_attention_from() -> float:
    """The decimal year from which a run is taken to use fused attention."""
    return float(_data()["flash_attention_from"])

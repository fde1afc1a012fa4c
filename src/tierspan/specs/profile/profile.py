"""A ``Profile``: fitted constants with the record of their fit; prior values where nothing was fitted.

A constant is known by name and key: ``gemm_efficiency`` by ``accelerator|precision``, ``host_layer_s`` by stack, ``half_m`` by nothing. A stack that
was never measured takes the constants of its family, an accelerator its measured matmul ceiling, else the prior; ``Profile.known`` says which.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tierspan.quantities.display import Shown
from tierspan.specs.hardware import Accelerator
from tierspan.specs.profile.constants import Constants
from tierspan.specs.stacks.stack import Stack

DATA = Path(__file__).parent / "data"
DOUBTED = ("gemm_efficiency", "stack_factor")
"""Constants of a case that scale nearly all of its time."""
SAME_ENGINE = ("megatron-core",)
"""Stacks whose engine is that of their family under another launcher."""


@dataclass(frozen=True, slots=True)
class Prior:
    """A row of ``constants.csv``.

    ``sigma`` is the width of the log-normal prior, ``fit`` says whether (or for which stack alone) it is fitted,
    ``neutral`` what it is for all other stacks.
    """

    name: str
    unit: str
    level: str
    prior: float
    sigma: float
    low: float
    high: float
    fit: str
    neutral: float | None
    meaning: str

    def fitted_for(self, stack: str) -> bool:
        """Whether the constant is fitted where ``stack`` runs."""
        return self.fit in ("yes", stack)


@dataclass(frozen=True, slots=True)
class Keys:
    """What the constants of one case are looked up by."""

    accelerator: Accelerator
    precision: str
    stack: Stack
    scale_up_transport: str = ""
    scale_out_transport: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Profile(Shown):
    """Fitted values by constant and key, and the record of the fit (data, rows, errors, hash of laws and data)."""

    version: str
    values: Mapping[str, Mapping[str, float]]
    record: Mapping[str, Any] = field(default_factory=dict)

    def value(self, name: str, keys: Keys) -> float:
        """The constant for a case: fitted, else of the stack's family, else its prior."""
        table = self.values.get(name, {})
        for key in lookup_keys(name, keys):
            if key in table:
                return table[key]
        return prior_value(name, keys)

    def known(self, name: str, keys: Keys) -> bool:
        """Whether the constant was fitted for this case. Plain Megatron-Core counts as measured where NeMo was: the same engine runs there."""
        fitted = self.values.get(name, {})
        own = lookup_keys(name, keys)
        return own[0] in fitted or (keys.stack.id in SAME_ENGINE and own[-1] in fitted)

    def doubt(self, keys: Keys) -> float:
        """Standard deviation of the logarithm of the predicted time from constants of the case that stand on few groups (record ``few``).

        Rates and factors of all work count in full, those of a part (attention, experts) not: they move the time by their share alone.
        """
        few = self.record.get("few", {})
        found = [few[name][lookup_keys(name, keys)[0]][1] for name in DOUBTED if lookup_keys(name, keys)[0] in few.get(name, {})]
        return float(np.sqrt(sum(e * e for e in found)))

    def gather(self, cases: Sequence[Keys]) -> Constants:
        """Constants of many cases as arrays; equal keys are looked up once."""
        seen: dict[tuple[str, ...], int] = {}
        index = []
        rows: list[list[float]] = []
        for keys in cases:
            token = (keys.accelerator.id, keys.precision, keys.stack.id, keys.scale_up_transport, keys.scale_out_transport)
            if token not in seen:
                seen[token] = len(rows)
                rows.append([self._resolve(name, keys) for name in Constants.__dataclass_fields__])
            index.append(seen[token])
        table = np.array(rows)[np.array(index)] if index else np.empty((0, len(Constants.__dataclass_fields__)))
        return Constants(**{name: table[:, i] for i, name in enumerate(Constants.__dataclass_fields__)})

    def _resolve(self, name: str, keys: Keys) -> float:
        if name == "gemm_efficiency_wide":
            wide = "bf16" if "bf16" in keys.accelerator.peak_flops else "fp16"
            return self.value("gemm_efficiency", Keys(keys.accelerator, wide, keys.stack))
        return self.value(name, keys)


@cache
def priors() -> dict[str, Prior]:
    """The constants and their priors, from ``constants.csv``."""
    with (DATA / "constants.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    number = ("prior", "sigma", "low", "high")
    out = {}
    for r in rows:
        numbers = {k: float(r[k]) for k in number}
        neutral = float(r["neutral"]) if r["neutral"] else None
        out[r["name"]] = Prior(r["name"], r["unit"], r["level"], **numbers, fit=r["fit"], neutral=neutral, meaning=r["meaning"])
    return out


@cache
def transports() -> dict[str, tuple[float, float]]:
    """Achievable share of line rate by transport as (scale-up, scale-out), from ``transports.csv``."""
    with (DATA / "transports.csv").open(newline="", encoding="utf-8") as file:
        return {r["transport"]: (float(r["efficiency"]), float(r["efficiency"])) for r in csv.DictReader(file)}


def lookup_keys(name: str, keys: Keys) -> list[str]:
    """Keys to try, the most exact first."""
    level = priors()[name].level
    # parts of one design share the efficiency of its units; what stands in no catalogue is a design of its own
    design = keys.accelerator.architecture or keys.accelerator.id
    if level == "architecture|precision":
        # FP16 and BF16 run on the same units at the same rate: one constant for both
        return [f"{design}|{'bf16' if keys.precision == 'fp16' else keys.precision}"]
    if level == "architecture|kernel":
        return [f"{design}|{keys.stack.attention_kernel}"]
    if level == "stack":
        return [keys.stack.id, keys.stack.family]
    if level == "transport":
        return [keys.scale_up_transport if name == "scale_up_efficiency" else keys.scale_out_transport]
    return [""]


def prior_value(name: str, keys: Keys) -> float:
    """What a constant is before any fit."""
    prior = priors()[name]
    if prior.neutral is not None and not prior.fitted_for(keys.stack.id):
        return prior.neutral
    if name == "gemm_efficiency":
        ceiling = keys.accelerator.achievable
        known = ceiling.get(keys.precision) or ceiling.get({"mxfp8": "fp8", "fp16": "bf16", "nvfp4": "fp8"}.get(keys.precision, ""))
        return 0.9 * known if known else prior.prior
    if prior.level == "transport":
        transport = keys.scale_up_transport if name == "scale_up_efficiency" else keys.scale_out_transport
        table = transports()
        return table[transport][0] if transport in table else prior.prior
    return prior.prior


@cache
def shipped_profile() -> Profile:
    """The profile that ships with the package; an empty one (priors alone) where none was fitted yet."""
    path = DATA / "profile.json"
    if not path.exists():
        return Profile("priors", {})
    return profile_from_json(path.read_text(encoding="utf-8"))


def profile_from_json(text: str) -> Profile:
    """Read a profile as ``profile_to_json`` writes it."""
    raw = json.loads(text)
    return Profile(raw["version"], raw["values"], raw["record"])


def profile_to_json(profile: Profile) -> str:
    """A profile as stable, readable JSON."""
    return json.dumps({"version": profile.version, "values": profile.values, "record": profile.record}, indent=1, ensure_ascii=False) + "\n"

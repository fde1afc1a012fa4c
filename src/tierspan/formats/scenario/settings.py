"""The settings of a question, declared once: scenario files, command line and Python take their names, types and spellings from here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

from tierspan.quantities.errors import InputError, Place, nearest_names
from tierspan.quantities.number_text import NUMBER, normalise, split_multiplier, split_number
from tierspan.specs.precision import PRECISIONS
from tierspan.specs.strategy import DISPATCHER_CODE, RECOMPUTE_CODE, SCHEDULE_CODE

Section = Literal["cluster", "job", "strategy"]
Kind = Literal["count", "level", "flag", "choice", "order", "share", "ratio", "amount"]

MOST: Final = 10**12
"""No count is larger: beyond it somebody mistook a unit."""
MOST_AMOUNT: Final = 10**18
"""No amount is larger."""
ORDER_PARTS: Final = ("tp", "cp", "ep", "dp", "pp")
_SCALES: Final = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its name in a scenario's section and in Python, its type, and how it is written on the command line.

    ``flags`` lists the spellings, the usual one first; the first spelling of a flag that can be switched off has the form ``--on/--off``.
    """

    name: str
    section: Section
    kind: Kind
    flags: tuple[str, ...]
    choices: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Dotted path in a scenario."""
        return f"{self.section}.{self.name}"


SETTINGS: Final = (
    Setting("accelerators", "cluster", "count", ("-n", "--accelerators")),
    Setting("node_size", "cluster", "count", ("--node-size",)),
    Setting("domain_size", "cluster", "count", ("--domain-size",)),
    Setting("kind", "job", "choice", (), ("training",)),
    Setting("sequence_length", "job", "count", ("--seq-len", "--seq-length", "--sequence-length")),
    Setting("global_batch", "job", "count", ("--global-batch", "--global-batch-size")),
    Setting("precision", "job", "choice", ("--precision",), PRECISIONS),
    Setting("lora", "job", "flag", ("--lora",)),
    Setting("tokens", "job", "amount", ("--tokens",)),
    Setting("tp", "strategy", "count", ("--tp", "--tensor-model-parallel-size")),
    Setting("pp", "strategy", "count", ("--pp", "--pipeline-model-parallel-size")),
    Setting("vpp", "strategy", "count", ("--vpp", "--num-virtual-stages-per-pipeline-rank")),
    Setting("cp", "strategy", "count", ("--cp", "--context-parallel-size")),
    Setting("ep", "strategy", "count", ("--ep", "--expert-model-parallel-size")),
    Setting("etp", "strategy", "count", ("--etp", "--expert-tensor-parallel-size")),
    Setting("dp", "strategy", "count", ("--dp", "--data-parallel-size")),
    Setting("zero", "strategy", "level", ("--zero",), ("0", "1", "2", "3")),
    Setting("shard_group", "strategy", "count", ("--shard-group",)),
    Setting("micro_batch", "strategy", "count", ("--micro-batch-size", "--micro-batch")),
    Setting("recompute", "strategy", "choice", ("--recompute",), tuple(RECOMPUTE_CODE)),
    Setting("sp", "strategy", "flag", ("--sequence-parallel/--no-sequence-parallel", "--sp/--no-sp")),
    Setting("schedule", "strategy", "choice", ("--schedule",), tuple(SCHEDULE_CODE)),
    Setting("overlap_grad_reduce", "strategy", "flag", ("--overlap-grad-reduce/--no-overlap-grad-reduce",)),
    Setting("overlap_param_gather", "strategy", "flag", ("--overlap-param-gather/--no-overlap-param-gather",)),
    Setting("overlap_tp", "strategy", "flag", ("--tp-comm-overlap/--no-tp-comm-overlap", "--overlap-tp/--no-overlap-tp")),
    Setting("overlap_p2p", "strategy", "flag", ("--overlap-p2p-communication/--no-overlap-p2p-communication", "--overlap-p2p/--no-overlap-p2p")),
    Setting("optimizer_offload", "strategy", "share", ("--optimizer-offload-fraction", "--offload-optimizer")),
    Setting("activation_offload", "strategy", "share", ("--activation-offload-fraction", "--offload-activations")),
    Setting("parameter_offload", "strategy", "share", ("--parameter-offload-fraction", "--offload-parameters")),
    Setting("expert_imbalance", "strategy", "ratio", ("--expert-imbalance",)),
    Setting("dispatcher", "strategy", "choice", ("--dispatcher",), tuple(DISPATCHER_CODE)),
    Setting("rank_order", "strategy", "order", ("--rank-order",)),
)
BY_NAME: Final = {setting.name: setting for setting in SETTINGS}


def names_in(section: Section) -> tuple[str, ...]:
    """The keys of a section of a scenario."""
    return tuple(setting.name for setting in SETTINGS if setting.section == section)


def meant(key: str) -> str | None:
    """The setting that a launcher's spelling means (``tensor_model_parallel_size``: tp), or None."""
    wanted = key.strip("-").replace("-", "_").casefold()
    for setting in SETTINGS:
        spellings = {part.strip("-").replace("-", "_") for flag in setting.flags for part in flag.split("/")}
        if wanted in spellings and wanted != setting.name:
            return setting.name
    return None


def checked(setting: Setting, value: object, place: Place) -> object:
    """``value`` where it has the type and range of the setting.

    Raises:
        InputError: wrong type, out of range, or none of the choices; the place is named.
    """
    if setting.kind == "flag":
        if isinstance(value, bool):
            return value
        raise InputError("scenario.type_flag", place=place, key=setting.path, value=_short(value))
    if setting.kind in ("count", "level"):
        return _whole(setting, value, place)
    if setting.kind == "share":
        return _share(setting, value, place)
    if setting.kind == "ratio":
        return _ratio(setting, value, place)
    if setting.kind == "amount":
        return _amount(setting, value, place)
    if not isinstance(value, str):
        raise InputError("scenario.type_text", place=place, key=setting.path, value=_short(value))
    if setting.kind == "order":
        parts = value.split("-")
        if len(set(parts)) != len(parts) or not set(ORDER_PARTS) - {"ep"} <= set(parts) <= set(ORDER_PARTS):
            raise InputError("scenario.rank_order", place=place, value=value)
        return value
    if value not in setting.choices:
        near, allowed = nearest_names(value, setting.choices, count=1), ", ".join(setting.choices)
        if near:
            raise InputError("scenario.choice_near", place=place, key=setting.path, value=_short(value), suggestion=near[0], allowed=allowed)
        raise InputError("scenario.choice", place=place, key=setting.path, value=_short(value), allowed=allowed)
    return value


def _share(setting: Setting, value: object, place: Place) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError("scenario.type_share", place=place, key=setting.path, value=_short(value))
    if not 0.0 <= value <= 1.0:
        raise InputError("value.out_of_range", place=place, key=setting.path, value=_short(value), low=0, high=1)
    return float(value)


def _ratio(setting: Setting, value: object, place: Place) -> float:
    """The most over the mean: a number of 1 or more."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 1:
        raise InputError("scenario.type_ratio", place=place, key=setting.path, value=_short(value))
    return float(value)


def _amount(setting: Setting, value: object, place: Place) -> float:
    """A large count: 1.4e12, or a text with its scale: 15T, 300B, 1.4 trillion, 15万亿; the word tokens may follow."""
    wrong = InputError("scenario.type_amount", place=place, key=setting.path, value=_short(value))
    if isinstance(value, str):
        plain = normalise(value)
        if not NUMBER.match(plain):
            raise wrong
        number, rest = split_number(plain, place=place)
        factor, unit = split_multiplier(rest)
        head = unit.casefold().removesuffix("tokens").removesuffix("token").strip()
        if head and (factor != 1.0 or head not in _SCALES):
            raise wrong
        value = number * factor * _SCALES.get(head, 1.0)
    if isinstance(value, bool) or not isinstance(value, int | float) or (isinstance(value, float) and not math.isfinite(value)):
        raise wrong
    if value <= 0:
        raise InputError("value.not_positive", place=place, key=setting.path, value=_short(value))
    if not 1 <= value <= MOST_AMOUNT:
        raise InputError("value.out_of_range", place=place, key=setting.path, value=_short(value), low=1, high=f"{MOST_AMOUNT:.0e}")
    return float(value)


def _whole(setting: Setting, value: object, place: Place) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError("scenario.type_count", place=place, key=setting.path, value=_short(value))
    if setting.kind == "level":
        if str(value) not in setting.choices:
            raise InputError("value.out_of_range", place=place, key=setting.path, value=_short(value), low=0, high=len(setting.choices) - 1)
        return value
    if value < 1:
        raise InputError("value.not_positive", place=place, key=setting.path, value=_short(value))
    if value > MOST:
        raise InputError("value.out_of_range", place=place, key=setting.path, value=_short(value), low=1, high=MOST)
    return value


def _short(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > MOST:
        return f"{'-' if value < 0 else ''}1e{len(str(abs(value))) - 1}" if abs(value) < 10**60 else "1e60"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."

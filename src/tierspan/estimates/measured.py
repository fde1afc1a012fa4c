"""Measured rows as cases: model, cluster, plan and stack of a row, or the reason why it cannot be predicted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tierspan.estimates.cases import Case
from tierspan.formats.measured_model import model_from_columns
from tierspan.formats.measurements import fill_memory, fill_training
from tierspan.quantities.errors import InputError
from tierspan.specs.catalog import cluster, fitting_system
from tierspan.specs.hardware import Cluster
from tierspan.specs.measurement import FilledRow, MemoryRow, TrainingRow
from tierspan.specs.stacks.stack import Stack, stack, stacks


@dataclass(frozen=True, slots=True)
class MeasuredCase:
    """One row as a case; ``case`` is ``None`` where ``refusal`` says why. ``assumed`` names the fields that the source leaves open."""

    row: TrainingRow | MemoryRow
    case: Case | None
    filled: FilledRow | None
    assumed: tuple[str, ...]
    refusal: InputError | None


def measured_cases(rows: Sequence[TrainingRow | MemoryRow]) -> Iterator[MeasuredCase]:
    """The case of every row, in order."""
    for row in rows:
        try:
            filled = fill_training(row) if isinstance(row, TrainingRow) else fill_memory(row)
            model, assumed = model_from_columns(row.raw)
            if "mtp" not in filled.traits:
                model = replace(model, mtp_layers=0)
            case = Case(model, _cluster(filled), filled.job, filled.strategy, _stack(filled))
        except InputError as error:
            yield MeasuredCase(row, None, None, (), error)
            continue
        yield MeasuredCase(row, case, filled, (*assumed, *(a.field for a in filled.assumptions)), None)


def _cluster(filled: FilledRow) -> Cluster:
    """The system of the accelerator that has room for the row's node and domain; a larger node or domain than any is taken at the row's word."""
    name = filled.system or fitting_system(filled.accelerator, node_size=filled.node_size, domain_size=filled.domain_size)
    try:
        return cluster(name, filled.accelerators, node_size=filled.node_size, domain_size=filled.domain_size, nic_Bps=filled.nic_bandwidth_Bps)
    except InputError:
        usual = cluster(name, filled.accelerators, nic_Bps=filled.nic_bandwidth_Bps)
        inner = replace(usual.tiers[0], domain_size=filled.domain_size)
        return replace(usual, node_size=filled.node_size, tiers=(inner, *usual.tiers[1:]))


def release_of(family: str, release: str) -> str:
    """The stack id of a family's release: the newest ``family-<release>`` that is not newer, else the family."""
    best, newest = family, -1.0
    wanted = re.match(r"\d+\.\d+", release)
    for name in stacks():
        since = re.fullmatch(re.escape(family) + r"-(\d+\.\d+)", name)
        if wanted and since and newest < float(since[1]) <= float(wanted[0]):
            best, newest = name, float(since[1])
    return best


def _stack(filled: FilledRow) -> Stack:
    """The stack of a row, with what the row itself says about it."""
    found = stack(release_of(filled.stack.family, filled.stack.release or f"{filled.stack.year or 0:.1f}"))
    return replace(
        found,
        flash_attention=float(filled.flash_attention),
        drops_tokens=float("token-drop" in filled.traits),
        gradient_bytes=float(filled.gradient_bytes),
        year=filled.stack.year or found.year,
    )

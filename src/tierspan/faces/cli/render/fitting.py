"""Will it fit: the sentence, the memory of the heaviest rank, and what else would fit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tierspan.faces.cli.render.parts import (
    MEMORY_PARTS,
    assumptions_parts,
    case_lines,
    fitted,
    gigabytes,
    lines,
    memory_parts,
    named,
    percent,
    said,
    title,
    whole,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tierspan.answers.results import Fitting
    from tierspan.faces.cli.render.table import Sheet


STAGE_PARTS = ("weights", "gradients", "optimizer", "activations")


def headline(fitting: Fitting, lang: str) -> str:
    """The answer in one sentence."""
    case, memory = fitting.case, fitting.memory
    values = {
        "model": case.model,
        "count": whole(case.accelerators),
        "accelerator": case.accelerator,
        "system": case.system,
        "need": gigabytes(memory.total_bytes),
        "usable": gigabytes(memory.usable_bytes),
        "risk": percent(memory.oom_probability, 0),
        "errors": sum(f.severity == "error" for f in fitting.findings),
    }
    return said(f"fit.headline.{fitting.status.replace(' ', '_')}", lang, **values)


def fitting_parts(fitting: Fitting, lang: str, *, brief: bool = False) -> list[RenderableType]:
    """The parts of the answer from top to bottom; ``brief``: the sentence only."""
    from rich.console import Group
    from rich.text import Text

    from tierspan.faces.cli.render.notes import findings

    first = fitted(Text(headline(fitting, lang), style="bold"))
    if brief:
        return [first]
    parts: list[RenderableType] = [Group(first, lines(case_lines(fitting.case, lang)))]
    if fitting.findings:
        parts.append(fitted(findings(fitting.findings, lang)))
    if fitting.status != "invalid":
        parts += memory_parts(fitting.memory, lang)
        parts += stages_parts(fitting, lang)
        parts.append(lines(*limit_texts(fitting, lang), head=title("fit.limits", lang)))
    if fitting.remedies:
        parts.append(remedies_part(fitting, lang))
    return parts + assumptions_parts(fitting.assumptions, lang)


def stages_parts(fitting: Fitting, lang: str) -> list[RenderableType]:
    """One row for the first, the middle and the last stage; nothing without a pipeline."""
    from tierspan.faces.cli.render.table import drawn

    sheet = stages_sheet(fitting, lang)
    return [] if sheet is None else [lines(head=title("fit.stages", lang)), fitted(drawn(sheet))]


def stages_sheet(fitting: Fitting, lang: str) -> Sheet | None:
    """One row for the first, the middle and the last stage; None without a pipeline."""
    from tierspan.faces.cli.render.table import Column, Sheet, number

    if len(fitting.stages) < 2 or not math.isfinite(fitting.memory.total_bytes):
        return None
    columns = (
        Column(said("fit.stages.stage", lang)),
        number(said("fit.stages.layers", lang)),
        number(said("fit.stages.in_flight", lang)),
        *(number(named("memory_part", part, lang), "GB") for part in STAGE_PARTS),
        number(said("fit.stages.total", lang), "GB"),
    )
    rows = tuple(
        (
            named("stage", stage.stage, lang),
            f"{stage.layers:g}",
            f"{stage.in_flight:.3g}",
            *(gigabytes(sum(stage.terms[t] for t in MEMORY_PARTS[part])) for part in STAGE_PARTS),
            gigabytes(stage.total_bytes),
        )
        for stage in fitting.stages
    )
    return Sheet(columns, rows)


def limit_texts(fitting: Fitting, lang: str) -> list[str]:
    """The smallest count and the largest batch and sequence that fit with this plan."""
    told = []
    found = (("count", fitting.smallest_accelerators), ("micro_batch", fitting.largest_micro_batch), ("sequence", fitting.largest_sequence_length))
    for name, value in found:
        told.append(said(f"fit.limits.{name}.none", lang) if value is None else said(f"fit.limits.{name}", lang, value=whole(value)))
    return told


def remedies_part(fitting: Fitting, lang: str) -> RenderableType:
    """What to change so that it fits, the best first, each with the memory that follows."""
    told = [f"{place}. {text}" for place, text in enumerate(remedy_texts(fitting, lang), 1)]
    return lines(*told, head=title("fit.remedies", lang))


def remedy_texts(fitting: Fitting, lang: str) -> list[str]:
    """What to change so that it fits, the best first, each with the memory that follows."""
    from tierspan.quantities.messages import fill

    told = []
    for finding in fitting.remedies:
        change = fill(finding.id, lang, finding.values)
        told.append(said("fit.remedies.enough" if finding.values.get("fits") else "fit.remedies.not_enough", lang, change=change))
    return told

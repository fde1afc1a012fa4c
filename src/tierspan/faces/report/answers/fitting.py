"""The page of ``fit``: does it fit, what fills the memory of each stage, what else would fit, and what to change."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tierspan.faces.cli.render.fitting import headline, limit_texts, remedy_texts, stages_sheet
from tierspan.faces.cli.render.parts import case_lines, gigabytes, memory_sheet, memory_texts, named, percent, said, whole
from tierspan.faces.figures.memory import memory_by_stage
from tierspan.faces.report.answers import shared
from tierspan.faces.report.parts import Card, Drawing, Page, Section

if TYPE_CHECKING:
    from tierspan.answers.results import Fitting, Prediction


def fitting_page(f: Fitting, lang: str, commands: Sequence[str] = (), *, placed: Prediction | None = None) -> Page:
    """The page of a memory answer; ``placed`` is the prediction of the same plan, for the drawing of its groups."""
    title = said("page.title.fit", lang, model=f.case.model, count=whole(f.case.accelerators), system=f.case.system or f.case.accelerator)
    answer = Section(
        "answer", said("page.answer", lang), (case_lines(f.case, lang),), cards=tuple(_cards(f, lang)), notes=shared.notes(f.findings, lang)
    )
    sections = [
        answer,
        _memory(f, lang) if f.status != "invalid" else None,
        _limits(f, lang) if f.status != "invalid" else None,
        shared.step_section(placed, lang) if placed is not None else None,
        shared.tiers_section(placed, lang) if placed is not None else None,
        shared.assumptions_section(f.assumptions, lang),
        shared.sources_section(placed.sources, placed.profile_version, lang) if placed is not None else None,
        shared.again_section(commands, lang),
    ]
    return shared.page(title, headline(f, lang), sections, lang, placed.profile_version if placed is not None else "")


def _cards(f: Fitting, lang: str) -> list[Card]:
    bad = f.status in ("does not fit", "invalid")
    status = Card(said("page.card.status", lang), named("fit_status", f.status.replace(" ", "_"), lang), bad=bad)
    memory = f.memory
    if f.status == "invalid" or not math.isfinite(memory.total_bytes):
        return [status]
    spare = said("page.card.spare" if memory.margin_bytes >= 0 else "page.card.missing", lang)
    share = percent(abs(memory.margin_bytes) / memory.usable_bytes, 0) if memory.usable_bytes > 0 else ""
    return [
        status,
        shared.memory_card(memory, lang),
        Card(spare, f"{gigabytes(abs(memory.margin_bytes))} GB", said("page.card.of_usable", lang, share=share), bad=memory.margin_bytes < 0),
        Card(said("page.card.risk", lang), f"{percent(memory.oom_probability, 0)} %", bad=memory.oom_probability > 0.5),
    ]


def _memory(f: Fitting, lang: str) -> Section:
    title, told = said("page.memory", lang), tuple(memory_texts(f.memory, lang))
    if not math.isfinite(f.memory.total_bytes):
        return Section("memory", title, told)
    stages = stages_sheet(f, lang)
    height = 290 if stages is None else 220 + 60 * len(stages.rows)
    name = "page.memory.figure" if stages is None else "page.memory.stages"
    drawing = Drawing("memory-stages-figure", said(name, lang), memory_by_stage(f, lang), said("page.memory.caption", lang), height)
    tables = [shared.table(memory_sheet(f.memory, lang), title=said("page.memory.table", lang))]
    if stages is not None:
        tables.append(shared.table(stages, title=said("fit.stages", lang), note=said("page.memory.stages.note", lang)))
    return Section("memory", title, told, (drawing,), tuple(tables))


def _limits(f: Fitting, lang: str) -> Section:
    items = [*limit_texts(f, lang)]
    told = [said("page.limits.text", lang)]
    if f.remedies:
        told.append(said("page.limits.remedies", lang))
        items += remedy_texts(f, lang)
    return Section("limits", said("page.limits", lang), tuple(told), items=tuple(items))

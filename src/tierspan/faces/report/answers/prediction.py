"""The page of a prediction: the answer, where the step goes, the tiers, memory, how far to trust it, and what it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tierspan.faces.cli.render.asked import pairs_texts, training_texts
from tierspan.faces.cli.render.parts import case_lines, said, whole
from tierspan.faces.cli.render.prediction import headline
from tierspan.faces.cli.render.timeline import timeline_sheet, timeline_texts
from tierspan.faces.report.answers import shared
from tierspan.faces.report.parts import Page, Section

if TYPE_CHECKING:
    from tierspan.answers.results import Prediction


def prediction_page(p: Prediction, lang: str, commands: Sequence[str] = ()) -> Page:
    """The page of a prediction."""
    title = said("page.title.predict", lang, model=p.case.model, count=whole(p.case.accelerators), system=p.case.system or p.case.accelerator)
    answer = Section(
        "answer",
        said("page.answer", lang),
        (case_lines(p.case, lang), *training_texts(p, lang), *pairs_texts(p, lang)),
        cards=tuple(shared.prediction_cards(p, lang)),
        notes=shared.notes(p.findings, lang),
    )
    sections = [
        answer,
        shared.step_section(p, lang),
        shared.tiers_section(p, lang),
        shared.memory_section(p.memory, lang) if p.status != "invalid" else None,
        timeline_section(p, lang),
        shared.trust_section(p, lang),
        shared.assumptions_section(p.assumptions, lang),
        shared.sources_section(p.sources, p.profile_version, lang),
        shared.again_section(commands, lang),
    ]
    return shared.page(title, headline(p, lang), sections, lang, p.profile_version)


def timeline_section(p: Prediction, lang: str) -> Section | None:
    """The step as the timeline played it; nothing where it was not asked for."""
    if p.timeline is None:
        return None
    sheet = timeline_sheet(p, lang)
    tables = (shared.table(sheet, title=said("page.timeline.table", lang)),) if sheet.rows else ()
    return Section("timeline", said("page.timeline", lang), tuple(timeline_texts(p, lang)), (), tables)

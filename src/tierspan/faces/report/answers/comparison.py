"""The page of two systems on the same job: side by side, why they differ, and where the groups run on each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tierspan.faces.cli.render.comparison import headline, reason_texts, sides_sheet, system_name
from tierspan.faces.cli.render.parts import case_lines, number_of, said
from tierspan.faces.figures.step import step_breakdown
from tierspan.faces.report.answers import shared
from tierspan.faces.report.parts import Drawing, Page, Section

if TYPE_CHECKING:
    from tierspan.answers.results import Comparison
    from tierspan.quantities.findings import Finding


def comparison_page(c: Comparison, lang: str, commands: Sequence[str] = ()) -> Page:
    """The page of two systems."""
    a, b = c.a, c.b
    names = [system_name(a), system_name(b)]
    if names[0] == names[1]:
        names = [f"{name} ({i})" for i, name in enumerate(names, 1)]
    title = said("page.title.beside", lang, model=a.case.model, a=names[0], b=names[1])
    cards = [card for p, name in zip((a, b), names, strict=True) for card in shared.prediction_cards(p, lang, name=name)]
    both = [taken for taken in a.assumptions if taken in b.assumptions]
    valid = [(p, name) for p, name in zip((a, b), names, strict=True) if math.isfinite(p.step_time_s)]
    drawings: tuple[Drawing, ...] = ()
    if valid:
        figure = step_breakdown([p for p, _ in valid], lang, labels=[name for _, name in valid])
        drawings = (Drawing("sides-figure", said("page.sides.figure", lang), figure, said("page.sides.caption", lang), 260),)
    peak = said("beside.peak", lang, ratio=number_of(c.peak_flops_ratio), a=names[0], b=names[1])
    sections: list[Section | None] = [
        Section("answer", said("page.answer", lang), (case_lines(a.case, lang),), cards=tuple(cards), notes=shared.notes(_once(c), lang)),
        Section("sides", said("page.sides", lang), (), drawings, (shared.table(sides_sheet(c, lang), title=said("page.sides.table", lang)),)),
        Section("why", said("beside.why", lang), (peak,), items=tuple(reason_texts(c, lang))),
    ]
    for index, (p, name) in enumerate(zip((a, b), names, strict=True), 1):
        sections.append(shared.tiers_section(p, lang, id_=f"tiers-{index}", title=said("page.tiers.of", lang, name=name)))
    sections.append(shared.assumptions_section(both, lang))
    for index, (p, name) in enumerate(zip((a, b), names, strict=True), 1):
        alone = shared.assumptions_section([taken for taken in p.assumptions if taken not in both], lang)
        if alone is not None:
            sections.append(Section(f"assumptions-{index}", said("beside.of", lang, name=name), (), items=alone.items))
    sections += [shared.sources_section([*a.sources, *b.sources], a.profile_version, lang), shared.again_section(commands, lang)]
    return shared.page(title, headline(c, lang), sections, lang, a.profile_version)


def _once(c: Comparison) -> list[Finding]:
    return [*c.a.findings, *(f for f in c.b.findings if f not in c.a.findings)]

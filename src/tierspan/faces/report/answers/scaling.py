"""The page of ``scale``: the curve, what each size loses and why, what to change, and where the groups run at the largest size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tierspan.faces.cli.render.parts import case_lines, named, percent, said, whole
from tierspan.faces.cli.render.scaling import advice_texts, headline, knee_sentence, losses_sheet, points_sheet
from tierspan.faces.figures.scaling import losses_by_cause, throughput_curve
from tierspan.faces.figures.step import step_breakdown
from tierspan.faces.report.answers import shared
from tierspan.faces.report.parts import Card, Drawing, Note, Page, Section

if TYPE_CHECKING:
    from tierspan.answers.results import Prediction, ScalePoint, Scaling


def scaling_page(s: Scaling, lang: str, commands: Sequence[str] = ()) -> Page:
    """The page of a scaling curve."""
    case = s.predictions[0].case
    title = said("page.title.scale", lang, model=case.model, system=case.system or case.accelerator)
    valid = [(p, q) for p, q in zip(s.points, s.predictions, strict=True) if p.status != "invalid" and math.isfinite(p.efficiency)]
    far = max((q for _, q in valid), key=lambda q: q.case.accelerators, default=s.predictions[0])
    rows = (case_lines(case, lang), said("page.scale.reference", lang, reference=whole(s.reference)))
    version = s.predictions[0].profile_version
    sections = [
        Section("answer", said("page.answer", lang), rows, cards=tuple(_cards(s, [p for p, _ in valid], lang)), notes=_invalid(s, lang)),
        _curve(s, lang) if valid else None,
        _losses(s, lang) if len(valid) > 1 else None,
        _shares(s, [q for _, q in valid], lang) if valid else None,
        shared.tiers_section(far, lang, title=said("page.tiers.at", lang, count=whole(far.case.accelerators))),
        shared.memory_section(far.memory, lang, title=said("page.memory.at", lang, count=whole(far.case.accelerators))) if valid else None,
        shared.trust_section(far, lang) if valid else None,
        shared.assumptions_section(s.predictions[0].assumptions, lang),
        shared.sources_section(s.predictions[0].sources, version, lang),
        shared.again_section(commands, lang),
    ]
    return shared.page(title, headline(s, lang), sections, lang, version)


def _cards(s: Scaling, points: Sequence[ScalePoint], lang: str) -> list[Card]:
    if not points:
        return [Card(said("page.card.status", lang), said("status.invalid", lang), bad=True)]
    far = max(points, key=lambda p: abs(math.log(p.accelerators / s.reference)))
    sizes = said("page.card.sizes", lang, start=whole(s.reference), end=whole(far.accelerators))
    knee = said("page.card.no_knee", lang) if s.knee is None else said("page.card.knee_at", lang, size=whole(s.knee))
    return [
        Card(said("page.card.speedup", lang), f"{far.speedup:.2f}×", sizes),
        Card(said("page.card.efficient", lang), f"{percent(far.efficiency, 0)} %", said("page.card.efficiency", lang)),
        Card(said("page.card.cause", lang), named("cause", far.main_cause, lang) if far.main_cause else said("page.card.none", lang)),
        Card(said("page.card.knee", lang), knee),
    ]


def _invalid(s: Scaling, lang: str) -> tuple[Note, ...]:
    """Sizes at which the plan cannot run, with the rule it breaks, and sizes at which it does not fit."""
    broken: dict[tuple[str, str], list[str]] = {}
    for point, prediction in zip(s.points, s.predictions, strict=True):
        for note in shared.notes([f for f in prediction.findings if f.severity == "error"], lang):
            broken.setdefault((note.text, note.remedy), []).append(whole(point.accelerators))
    comma = said("list.comma", lang)
    told = [Note("error", said("page.scale.invalid", lang, sizes=comma.join(sizes), rule=rule), remedy) for (rule, remedy), sizes in broken.items()]
    tight = [whole(p.accelerators) for p in s.points if p.status == "does not fit"]
    return (*told, Note("warning", said("page.scale.does_not_fit", lang, sizes=comma.join(tight)))) if tight else tuple(told)


def _curve(s: Scaling, lang: str) -> Section:
    drawing = Drawing("curve-figure", said("page.curve.figure", lang), throughput_curve(s, lang), said("page.curve.caption", lang), 420)
    told = (knee_sentence(s, lang),) if len({p.accelerators for p in s.points}) > 1 else ()
    return Section("curve", said("page.curve", lang), told, (drawing,), (shared.table(points_sheet(s, lang), title=said("page.curve.table", lang)),))


def _losses(s: Scaling, lang: str) -> Section | None:
    sheet = losses_sheet(s, lang)
    if sheet is None:
        return None
    drawing = Drawing("losses-figure", said("page.losses.figure", lang), losses_by_cause(s, lang), said("page.losses.caption", lang), 440)
    return Section(
        "losses", said("page.losses", lang), tuple(advice_texts(s, lang)), (drawing,), (shared.table(sheet, note=said("page.losses.note", lang)),)
    )


def _shares(s: Scaling, predictions: Sequence[Prediction], lang: str) -> Section:
    several = len({p.node_size for p in s.points}) > 1
    labels = [whole(q.case.accelerators) + (f" / {q.case.node_size}" if several else "") for q in predictions]
    drawing = Drawing(
        "shares-figure",
        said("page.shares.figure", lang),
        step_breakdown(predictions, lang, labels=labels, share=True),
        said("page.shares.caption", lang),
        110 + 44 * len(predictions),
    )
    return Section("shares", said("page.shares", lang), (), (drawing,))

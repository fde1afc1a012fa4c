"""Sections that the pages of several answers have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tierspan.faces.cli.render.asked import volume_texts
from tierspan.faces.cli.render.parts import (
    assumption_texts,
    count,
    gigabytes,
    groups_sheet,
    memory_sheet,
    memory_texts,
    named,
    neighbours_sheet,
    number_of,
    percent,
    said,
    seconds,
    tiers_remarks,
    tiers_sheet,
    whole,
)
from tierspan.faces.cli.render.prediction import binding_sentence, notes_texts, terms_sheet
from tierspan.faces.figures.machine import NARROW, WIDE, groups_drawing, tiers_drawing
from tierspan.faces.figures.memory import memory_stack
from tierspan.faces.figures.step import neighbours, shares_of, step_breakdown
from tierspan.faces.report.parts import Card, Column, Drawing, Note, Page, Picture, Section, Table
from tierspan.quantities.messages import fill, has

if TYPE_CHECKING:
    from tierspan.answers.results import MemoryView, Prediction
    from tierspan.faces.cli.render.table import Sheet
    from tierspan.quantities.findings import Assumption, Finding

_GRAVEST = ("error", "warning", "question", "info")


def page(title: str, headline: str, sections: Sequence[Section | None], lang: str, version: str) -> Page:
    """A page with its sections that have something to tell."""
    from tierspan import __version__

    shown = tuple(section for section in sections if section is not None)
    return Page(lang, title, (headline,), shown, said("page.foot", lang, version=__version__, constants=version), explains=True)


def table(sheet: Sheet, *, title: str = "", note: str = "", folded: bool = False) -> Table:
    """The cells that the terminal shows, as a table of a page."""
    columns = tuple(Column(c.head, c.unit, numeric=c.justify == "right") for c in sheet.columns)
    return Table(title or sheet.title, columns, sheet.rows, note, folded)


def notes(findings: Sequence[Finding], lang: str) -> tuple[Note, ...]:
    """Findings, the gravest first."""
    ordered = sorted(findings, key=lambda f: _GRAVEST.index(f.severity))
    return tuple(
        Note(f.severity, fill(f.id, lang, f.values), fill(f"{f.id}.remedy", lang, f.values) if has(f"{f.id}.remedy") else "") for f in ordered
    )


def prediction_cards(p: Prediction, lang: str, *, name: str = "") -> list[Card]:
    """Step time, throughput, MFU, memory, what binds, and the training where its tokens were named."""
    head = f"{name} · " if name else ""
    if p.status == "invalid" or not math.isfinite(p.step_time_s):
        return [Card(head + said("page.card.status", lang), named("status", p.status.replace(" ", "_"), lang), bad=True)]
    band = said("page.card.interval", lang, low=seconds(p.low_s, lang), high=seconds(p.high_s, lang)) if math.isfinite(p.low_s) else ""
    each = f"{number_of(p.tokens_per_s_per_accelerator, 4)} {said('unit.tokens_per_s', lang)}"
    cards = [
        Card(head + said("page.card.step", lang), seconds(p.step_time_s, lang), band),
        Card(head + said("page.card.rate", lang), each, said("page.card.rate_all", lang, value=whole(round(p.tokens_per_s)))),
        Card(head + "MFU", f"{percent(p.mfu)} %", said("page.card.mfu", lang, precision=p.case.precision.upper())),
        memory_card(p.memory, lang, head=head),
        Card(head + said("page.card.binds", lang), f"{percent(p.binds_share, 0)} %", named("term", p.binds, lang)),
    ]
    if p.training is not None:
        hours = said("training.card.remark", lang, hours=count(p.training.accelerator_hours, lang))
        about = said("training.card", lang, tokens=count(p.training.tokens, lang))
        cards.append(Card(head + about, seconds(p.training.time_s, lang), hours))
    return cards


def memory_card(memory: MemoryView, lang: str, *, head: str = "") -> Card:
    """Memory of the heaviest rank against what is usable."""
    value = f"{gigabytes(memory.total_bytes)} / {gigabytes(memory.usable_bytes)} GB"
    remark = said("page.card.fits" if memory.fits else "page.card.exceeds", lang, risk=percent(memory.oom_probability, 0))
    return Card(head + said("page.card.memory", lang), value, remark, bad=not memory.fits)


def step_section(p: Prediction, lang: str) -> Section | None:
    """Where the step goes."""
    if p.status == "invalid" or not math.isfinite(p.step_time_s):
        return None
    drawing = Drawing(
        "step-parts-figure",
        said("page.step.figure", lang, step=seconds(p.step_time_s, lang)),
        step_breakdown([p], lang),
        said("page.step.caption", lang, parts=shares_of(p, lang)),
        280,
    )
    sheet = table(terms_sheet(p, lang), title=said("page.step.table", lang), note=said("page.step.note", lang))
    return Section("step", said("page.step", lang), (binding_sentence(p, lang), *volume_texts(p, lang)), (drawing,), (sheet,))


def tiers_section(p: Prediction, lang: str, *, id_: str = "tiers", title: str = "") -> Section | None:
    """The tiers, and which group runs where."""
    if not p.tiers:
        return None
    pictures = [Picture(said("drawing.tiers", lang), tiers_drawing(p, lang, WIDE), tiers_drawing(p, lang, NARROW), said("page.tiers.caption", lang))]
    tables = [table(tiers_sheet(p.tiers, lang))]
    groups = groups_sheet(p.placement, lang)
    if groups.rows:
        about = said("page.groups.caption", lang)
        pictures.append(Picture(said("drawing.groups", lang), groups_drawing(p, lang, WIDE), groups_drawing(p, lang, NARROW), about))
        tables.append(table(groups, note=said("page.groups.note", lang)))
    return Section(id_, title or said("page.tiers", lang), tuple(tiers_remarks(p.tiers, lang)), (), tuple(tables), pictures=tuple(pictures))


def memory_section(memory: MemoryView, lang: str, *, title: str = "") -> Section:
    """Memory of the heaviest rank by term."""
    told = tuple(memory_texts(memory, lang))
    title = title or said("page.memory", lang)
    if not math.isfinite(memory.total_bytes):
        return Section("memory", title, told)
    drawing = Drawing("memory-parts-figure", said("page.memory.figure", lang), memory_stack(memory, lang), said("page.memory.caption", lang), 290)
    return Section("memory", title, told, (drawing,), (table(memory_sheet(memory, lang), title=said("page.memory.table", lang)),))


def trust_section(p: Prediction, lang: str) -> Section | None:
    """The interval, and how far the model was off on the measured jobs nearest to this one."""
    told = tuple(notes_texts(p, lang))
    known = any(math.isfinite(n.error) for n in p.neighbours)
    if not told and not p.neighbours:
        return None
    drawings: tuple[Drawing, ...] = ()
    if known:
        height = 110 + 48 * len(p.neighbours)
        drawings = (Drawing("neighbours-figure", said("page.neighbours", lang), neighbours(p, lang), said("page.neighbours.caption", lang), height),)
    tables = (table(neighbours_sheet(p.neighbours, lang), note=said("predict.neighbours.about", lang)),) if p.neighbours else ()
    return Section("trust", said("page.trust", lang), told, drawings, tables)


def assumptions_section(taken: Sequence[Assumption], lang: str) -> Section | None:
    """What nobody said and was taken, with the reason."""
    if not taken:
        return None
    return Section("assumptions", said("page.assumptions", lang), (said("page.assumptions.text", lang),), items=tuple(assumption_texts(taken, lang)))


def sources_section(sources: Sequence[str], version: str, lang: str) -> Section | None:
    """Where the figures come from."""
    told = [*dict.fromkeys(sources), *([said("predict.profile", lang, version=version)] if version else [])]
    return Section("sources", said("page.sources", lang), (said("page.sources.text", lang),), items=tuple(told)) if told else None


def again_section(commands: Sequence[str], lang: str) -> Section | None:
    """How to make the page anew."""
    return Section("again", said("page.again", lang), (said("page.again.text", lang),), commands=tuple(commands)) if commands else None

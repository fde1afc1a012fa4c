"""The page of an audit: what it means for the buyer, the four steps, the figures, claims, the room, what to ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tierspan.faces.cli.render.audit import headline, readings_sheets, reason_text, room_sheet
from tierspan.faces.cli.render.parts import named, said
from tierspan.faces.report.answers import shared
from tierspan.faces.report.parts import Card, Column, Note, Page, Section, Table
from tierspan.quantities.messages import fill, has

if TYPE_CHECKING:
    from tierspan.answers.audit.result import Audit
    from tierspan.quantities.findings import Finding


def audit_page(audit: Audit, lang: str, commands: Sequence[str] = ()) -> Page:
    """The page of an audit."""
    title = said("page.title.audit", lang, files=said("list.comma", lang).join(Path(name).name for name in audit.files))
    sections = [
        Section("answer", said("page.answer", lang), (said("page.audit.lead", lang),), cards=tuple(_cards(audit, lang))),
        Section("findings", said("audit.findings", lang), notes=tuple(_note(f, lang) for f in audit.findings)) if audit.findings else None,
        _questions(audit, lang),
        *_steps(audit, lang),
        _room(audit, lang),
        _claims(audit, lang),
        _readings(audit, lang),
        shared.again_section(commands, lang),
    ]
    return shared.page(title, headline(audit, lang), sections, lang, "")


def _readings(audit: Audit, lang: str) -> Section:
    tables = tuple(shared.table(sheet) for sheet in readings_sheets(audit, lang, reasons=True))
    return Section("readings", said("audit.readings", lang), (said("page.audit.readings.note", lang),), tables=tables)


def _cards(audit: Audit, lang: str) -> list[Card]:
    counts = {s: sum(f.severity == s for f in audit.findings) for s in ("error", "warning")}
    sure = {s: sum(r.status == s for r in audit.readings) for s in ("certain", "assumed", "ambiguous")}
    comma = said("list.comma", lang)
    return [
        Card(said("page.card.figures", lang), str(len(audit.readings)), comma.join(f"{named('audit.status', s, lang)} {n}" for s, n in sure.items())),
        Card(said("page.card.errors", lang), str(counts["error"]), bad=counts["error"] > 0),
        Card(said("page.card.warnings", lang), str(counts["warning"])),
        Card(said("page.card.questions", lang), str(len(audit.questions))),
    ]


def _note(f: Finding, lang: str) -> Note:
    where, colon = str(replace(f.place, file=Path(f.place.file).name)), said("render.colon", lang)
    text = (where + colon if where else "") + fill(f.id, lang, f.values)
    more = [fill(f"{f.id}{part}", lang, f.values) for part in (".why", ".remedy") if has(f"{f.id}{part}")]
    return Note(f.severity, text, " ".join(more))


def _questions(audit: Audit, lang: str) -> Section | None:
    told = tuple(reason_text(q.reason, lang) for q in audit.questions)
    return Section("questions", said("audit.questions", lang), items=told) if told else None


def _steps(audit: Audit, lang: str) -> list[Section]:
    sections = []
    for step in audit.steps:
        name = step.name.replace(" ", "_")
        light = named("audit.light", step.light, lang)
        card = Card(named("audit.step", name, lang), light, bad=step.light == "fail")
        told = tuple(reason_text(r, lang) for r in step.told)
        sections.append(Section(f"step-{name}", named("audit.step", name, lang), told, cards=(card,)))
    return sections


def _room(audit: Audit, lang: str) -> Section | None:
    if not audit.room:
        return None
    cards = [
        Card(named("audit.room.name", check.name, lang), named("audit.light", check.light, lang), bad=check.light == "fail") for check in audit.room
    ]
    return Section("room", said("audit.room", lang), cards=tuple(cards), tables=(shared.table(room_sheet(audit, lang)),))


def _claims(audit: Audit, lang: str) -> Section | None:
    if not audit.claims:
        return None
    rows = tuple((c.text, named("audit.verdict", c.verdict, lang), " ".join(reason_text(r, lang) for r in c.arithmetic)) for c in audit.claims)
    columns = (Column(said("audit.column.text", lang)), Column(said("audit.column.status", lang)), Column(said("audit.column.why", lang)))
    return Section("claims", said("audit.claims", lang), tables=(Table(said("audit.claims", lang), columns, rows),))

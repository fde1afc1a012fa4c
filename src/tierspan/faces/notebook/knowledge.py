"""What is known and what is asked, as a notebook and a session show it: sheets of the catalogue, a model, a question, a validation.

The tables are those of the terminal.
"""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING

from tierspan.faces.cli.render.parts import assumption_texts, count, named, number_of, percent, said, whole
from tierspan.faces.cli.session import Session
from tierspan.faces.notebook import short
from tierspan.faces.notebook.markup import folded, frame, listed, paragraph, terminal
from tierspan.quantities.printing import format_bytes, format_quantity

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tierspan.answers.audit.result import Audit
    from tierspan.answers.calibrate import Calibration
    from tierspan.answers.catalog import AcceleratorSheet, CatalogList, PartSheet, SystemSheet
    from tierspan.answers.catalog_compare.comparison import PartsComparison
    from tierspan.answers.model import ModelAnswer
    from tierspan.answers.question import Question
    from tierspan.answers.validation.result import Validation
    from tierspan.specs.profile.profile import Profile
    from tierspan.specs.trace import Trace

_FIRST = ("bf16", "fp16", "fp32")


def accelerator(sheet: AcceleratorSheet, lang: str) -> str:
    """Peak, memory, bandwidth of the memory."""
    card = sheet.accelerator
    precision = next((name for name in _FIRST if name in card.peak_flops), "")
    peak = format_quantity(card.peak_flops[precision], "FLOP/s", lang=lang) if precision else ""
    return said(
        "notebook.short.accelerator",
        lang,
        name=card.name,
        peak=said("notebook.short.accelerator.peak", lang, peak=peak, precision=precision.upper()) if precision else "",
        memory=format_bytes(card.memory_bytes),
        bandwidth=format_quantity(card.memory_bandwidth_Bps, "B/s", lang=lang),
    )


def accelerator_page(sheet: AcceleratorSheet, lang: str) -> str:
    """What ``tierspan catalog show`` tells."""
    from tierspan.faces.cli.render import sheets

    return _page(accelerator(sheet, lang), sheets.accelerator(sheet, lang), lang)


def system(sheet: SystemSheet, lang: str) -> str:
    """Accelerators of a unit, domain, ratio of the tiers."""
    ratio = "" if sheet.scale_ratio is None else said("notebook.short.system.ratio", lang, ratio=number_of(sheet.scale_ratio))
    values = {"name": sheet.system.name, "count": whole(sheet.system.unit_accelerators), "accelerator": sheet.accelerator.id}
    return said("notebook.short.system", lang, domain=whole(sheet.domain.accelerators), ratio=ratio, **values)


def system_page(sheet: SystemSheet, lang: str) -> str:
    """What ``tierspan catalog show`` tells."""
    from tierspan.faces.cli.render import sheets

    return _page(system(sheet, lang), sheets.system(sheet, lang), lang)


def part(sheet: PartSheet, lang: str) -> str:
    """Name and kind."""
    return said("notebook.short.part", lang, name=sheet.part.name, kind=said(f"cli.part.one.{sheet.part.kind}", lang))


def part_page(sheet: PartSheet, lang: str) -> str:
    """What ``tierspan catalog show`` tells."""
    from tierspan.faces.cli.render import part_sheets

    return _page(part(sheet, lang), part_sheets.part(sheet, lang), lang)


def entries(found: CatalogList, lang: str) -> str:
    """How many of each kind."""
    kinds = [entry.kind for entry in found.entries]
    return said("notebook.short.list", lang, accelerators=kinds.count("accelerator"), systems=kinds.count("system"))


def entries_page(found: CatalogList, lang: str) -> str:
    """The tables of the list."""
    from tierspan.faces.cli.render import part_sheets, sheets

    return _page(entries(found, lang), [*sheets.entries(found, (), (), lang), *part_sheets.entries(found.parts, lang)], lang)


def compared(answer: PartsComparison, lang: str) -> str:
    """Which parts, and how many rows are not compared."""
    refused = sum(bool(row.refused) for row in answer.rows)
    return said("notebook.short.compared", lang, count=len(answer.parts), ids=", ".join(part.id for part in answer.parts), refused=refused)


def compared_page(answer: PartsComparison, lang: str) -> str:
    """What ``tierspan catalog compare`` tells."""
    from tierspan.faces.cli.render import parts_compared

    return _page(compared(answer, lang), parts_compared.comparison(answer, lang), lang)


def model(answer: ModelAnswer, lang: str) -> str:
    """Parameters and layers."""
    sizes = {"total": count(answer.parameters_total, lang), "active": count(answer.parameters_active, lang)}
    return said("notebook.short.model", lang, name=answer.spec.name, layers=answer.spec.layers, **sizes)


def model_page(answer: ModelAnswer, lang: str) -> str:
    """What ``tierspan catalog model`` tells."""
    from tierspan.faces.cli.render import models

    return _page(model(answer, lang), models.model(answer, lang), lang)


def audit(found: Audit, lang: str) -> str:
    """How many figures, how sure, and what was found."""
    from tierspan.faces.cli.render.audit import headline

    return headline(found, lang)


def audit_page(found: Audit, lang: str) -> str:
    """What ``tierspan audit`` tells."""
    from tierspan.faces.cli.render.audit import audit_parts

    return _page(audit(found, lang), audit_parts(found, lang)[1:], lang)


def question(asked: Question, lang: str) -> str:
    """Model, cluster, batch and plan."""
    s, card = asked.strategy, asked.cluster.accelerator.id
    job = {"count": whole(asked.cluster.accelerators), "sequences": whole(asked.job.global_batch), "tokens": whole(asked.job.sequence_length)}
    return said("notebook.short.question", lang, model=asked.model.id, accelerator=card, tp=s.tp, pp=s.pp, cp=s.cp, ep=s.ep, **job)


def question_page(asked: Question, lang: str) -> str:
    """The question, and what nobody said."""
    taken = asked.assumptions
    return frame(
        paragraph(question(asked, lang), kind="head"),
        folded(said("notebook.assumptions", lang, count=len(taken)), listed(assumption_texts(taken, lang))),
        lang=lang,
    )


def validation(found: Validation, lang: str) -> str:
    """How many rows, how wrong."""
    report = found.report
    errors = report["overall"]
    median = errors["median_ape"] if errors is not None else math.nan
    return said(
        "notebook.short.validation",
        lang,
        kind=named("validate.kind", report["kind"], lang),
        predicted=whole(report["predicted"]),
        rows=whole(report["rows"]),
        error=said("notebook.short.validation.error", lang, median=percent(median)) if math.isfinite(median) else "",
    )


def validation_page(found: Validation, lang: str) -> str:
    """What ``tierspan validate`` tells."""
    from tierspan.faces.cli.render.validation import validation_parts

    return _page(validation(found, lang), validation_parts(found, lang), lang)


def trace_page(played: Trace, lang: str) -> str:
    """What was played; ``write_trace`` draws it."""
    return frame(paragraph(short.trace(played, lang), kind="head"), paragraph(said("notebook.trace.drawn", lang)), lang=lang)


def calibration(found: Calibration, lang: str) -> str:
    """What was fitted on how much, how wrong it is on rows that it did not see."""
    return said(
        "notebook.short.calibration",
        lang,
        version=found.profile.version,
        constants=whole(found.constants),
        rows=whole(found.rows),
        left_out=percent(found.median_ape_left_out),
        fitted=percent(found.median_ape_fitted),
    )


def calibration_page(found: Calibration, lang: str) -> str:
    """The sentence; what ``tierspan calibrate`` tells stands in the record of the profile."""
    return frame(paragraph(calibration(found, lang), kind="head"), lang=lang)


def profile(constants: Profile, lang: str) -> str:
    """Version and how many values by constant."""
    count_of = sum(len(table) for table in constants.values.values())
    return said("notebook.short.profile", lang, version=constants.version, values=whole(count_of), constants=whole(len(constants.values)))


def profile_page(constants: Profile, lang: str) -> str:
    """The sentence."""
    return frame(paragraph(profile(constants, lang), kind="head"), lang=lang)


def _page(sentence: str, parts: list[RenderableType], lang: str) -> str:
    stream = io.StringIO()
    Session(lang, stdout=stream).show(*parts)
    return frame(paragraph(sentence, kind="head"), terminal(stream.getvalue()), lang=lang)

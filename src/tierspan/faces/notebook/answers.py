"""Each answer as a cell of a notebook: the sentence, what matters at once, the rest folded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tierspan.faces.cli.render import collective as collectives
from tierspan.faces.cli.render import compare as logs
from tierspan.faces.cli.render import comparison as sides
from tierspan.faces.cli.render import fitting as fits
from tierspan.faces.cli.render import prediction as steps
from tierspan.faces.cli.render import scaling as sizes
from tierspan.faces.cli.render.parts import (
    MEMORY_PARTS,
    assumption_texts,
    case_lines,
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
)
from tierspan.faces.cli.render.table import Column, Sheet, number
from tierspan.faces.notebook.markup import folded, frame, legend, listed, note, paragraph, stacked_bar, table
from tierspan.quantities.messages import render_finding
from tierspan.quantities.printing import format_bytes

if TYPE_CHECKING:
    from tierspan.answers.collective import CollectiveAnswer
    from tierspan.answers.comparison.results import Cause, CompareAnswer
    from tierspan.answers.results import Comparison, Fitting, MemoryView, Prediction, Scaling
    from tierspan.quantities.findings import Assumption, Finding

_GRAVEST = ("error", "warning", "question", "info")


def prediction(p: Prediction, lang: str) -> str:
    """Sentence, findings, bar, what binds and the parts of the step; tiers, memory, measured neighbours and sources folded."""
    runs = _runs(p)
    return frame(
        _head(steps.headline(p, lang), case_lines(p.case, lang)),
        _findings(p.findings, lang),
        *([_step_bar(p, lang), _step_legend(p, lang), paragraph(steps.binding_sentence(p, lang)), table(steps.terms_sheet(p, lang))] if runs else []),
        folded(
            said("notebook.where", lang),
            table(groups_sheet(p.placement, lang)),
            table(tiers_sheet(p.tiers, lang)),
            listed(tiers_remarks(p.tiers, lang)),
        ),
        folded(said("notebook.memory", lang), *_memory(p.memory, lang)) if p.status != "invalid" else "",
        folded(said("notebook.neighbours", lang), table(_untitled(neighbours_sheet(p.neighbours, lang)))) if p.neighbours else "",
        folded(said("notebook.trust", lang), listed(steps.notes_texts(p, lang))),
        _assumptions(p.assumptions, lang),
        folded(said("notebook.sources", lang, count=len(p.sources)), listed(p.sources)),
        lang=lang,
    )


def fitting(f: Fitting, lang: str) -> str:
    """Sentence, findings, memory against what is usable, what else would fit and what to change."""
    parts = [_head(fits.headline(f, lang), case_lines(f.case, lang)), _findings(f.findings, lang)]
    if f.status != "invalid":
        parts += _memory(f.memory, lang)
        parts += [table(fits.stages_sheet(f, lang)), paragraph(said("notebook.limits", lang), kind="head"), listed(fits.limit_texts(f, lang))]
    if f.remedies:
        parts += [paragraph(said("fit.remedies", lang), kind="head"), listed(fits.remedy_texts(f, lang))]
    return frame(*parts, _assumptions(f.assumptions, lang), lang=lang)


def scaling(s: Scaling, lang: str) -> str:
    """Sentence, the figures of each size, the knee and what to change; the loss by cause folded."""
    case = s.predictions[0] if s.predictions else None
    return frame(
        _head(sizes.headline(s, lang), case_lines(case.case, lang) if case is not None else ""),
        table(sizes.points_sheet(s, lang)),
        paragraph(sizes.knee_sentence(s, lang)),
        listed(sizes.advice_texts(s, lang)),
        folded(said("notebook.losses", lang), table(sizes.losses_sheet(s, lang))),
        _assumptions(case.assumptions, lang) if case is not None else "",
        lang=lang,
    )


def comparison(c: Comparison, lang: str) -> str:
    """Sentence, a bar of the step of each on one scale, the figures side by side, and why they differ."""
    parts = [_head(sides.headline(c, lang), case_lines(c.a.case, lang))]
    runs = [p for p in (c.a, c.b) if _runs(p)]
    longest = max((p.step_time_s for p in runs), default=1.0)
    for p in runs:
        parts += [
            paragraph(sides.system_name(p) + said("render.colon", lang) + seconds(p.step_time_s, lang)),
            _step_bar(p, lang, most=longest / p.step_time_s),
        ]
    parts += [legend([named("step_group", group, lang) for group in steps.STEP_GROUPS])] if runs else []
    if c.a.findings == c.b.findings:
        parts.append(_findings(c.a.findings, lang))
    else:
        parts += [_findings(p.findings, lang, name=sides.system_name(p)) for p in (c.a, c.b)]
    parts.append(table(sides.sides_sheet(c, lang)))
    if len(runs) == 2:
        parts += [paragraph(said("notebook.why", lang), kind="head"), listed(sides.reason_texts(c, lang))]
    return frame(*parts, lang=lang)


def collective(answer: CollectiveAnswer, lang: str) -> str:
    """Sentence, and the curve over sizes folded."""
    rows = tuple(
        (
            format_bytes(p.size_bytes, binary=True),
            number_of(p.time_s * 1e6),
            number_of(p.algbw_Bps / 1e9),
            number_of(None if p.busbw_Bps is None else p.busbw_Bps / 1e9),
            " ".join(part for part in (p.algorithm, p.protocol) if part),
        )
        for p in answer.curve
    )
    heads = [said(f"collective.curve.{name}", lang) for name in ("size", "time", "algorithm")]
    columns = (number(heads[0]), number(heads[1], "µs"), number("algbw", "GB/s"), number("busbw", "GB/s"), Column(heads[2]))
    return frame(
        _head(collectives.headline(answer, lang), ""),
        folded(said("notebook.sizes", lang), table(Sheet(columns, rows))),
        _assumptions(answer.assumptions, lang),
        folded(said("notebook.sources", lang, count=len(answer.sources)), listed(answer.sources)),
        lang=lang,
    )


def compare(answer: CompareAnswer, lang: str) -> str:
    """The verdict of each run with its setting and the likeliest causes."""
    parts = []
    for index, run in enumerate(answer.runs):
        parts.append(_head(logs.headline(run, lang, [r for r in answer.rows if r.run == index]), logs.setting_line(run, lang)))
        parts += [paragraph(said("notebook.causes", lang), kind="head"), *(_cause(cause, lang) for cause in run.causes)] if run.causes else []
    if not parts:
        parts.append(paragraph(logs.verdict_text(answer.verdict, lang), kind="head"))
    return frame(*parts, _assumptions(answer.assumptions, lang), lang=lang)


def _cause(cause: Cause, lang: str) -> str:
    told = [f"[{said(f'compare.tier.{cause.tier}', lang)}] {cause.text}", said("compare.evidence", lang, text=cause.evidence)]
    return note("\n".join([*told, said("compare.next", lang, text=cause.next)] if cause.next else told), "info")


def _runs(p: Prediction) -> bool:
    return p.status != "invalid" and math.isfinite(p.step_time_s)


def _head(sentence: str, case: str) -> str:
    return paragraph(sentence, kind="head") + paragraph(case, kind="quiet")


def _findings(found: Sequence[Finding], lang: str, *, name: str = "") -> str:
    """Findings with their remedies, the gravest first; ``name`` says of which side."""
    before = name + said("render.colon", lang) if name else ""
    return "".join(note(before + render_finding(f, lang), f.severity) for f in sorted(found, key=lambda f: _GRAVEST.index(f.severity)))


def _assumptions(taken: Sequence[Assumption], lang: str) -> str:
    return folded(said("notebook.assumptions", lang, count=len(taken)), listed(assumption_texts(taken, lang)))


def _untitled(sheet: Sheet) -> Sheet:
    return Sheet(sheet.columns, sheet.rows)


def _step_labels(p: Prediction, lang: str) -> list[tuple[str, float]]:
    shares = steps.step_shares(p)
    return [(said("notebook.share", lang, label=named("step_group", group, lang), share=percent(share)), share) for group, share in shares.items()]


def _step_bar(p: Prediction, lang: str, *, most: float = 1.0) -> str:
    return stacked_bar(_step_labels(p, lang), most=most, title=seconds(p.step_time_s, lang))


def _step_legend(p: Prediction, lang: str) -> str:
    return legend([label for label, _ in _step_labels(p, lang)])


def _memory(memory: MemoryView, lang: str) -> list[str]:
    """Sentences, a bar against what is usable, the terms."""
    texts = [paragraph(text) for text in memory_texts(memory, lang)]
    if not math.isfinite(memory.total_bytes):
        return texts
    usable = memory.usable_bytes if math.isfinite(memory.usable_bytes) else 0.0
    most = max(usable, memory.total_bytes)
    held = {part: sum(memory.terms.get(term, 0.0) for term in terms) for part, terms in MEMORY_PARTS.items()}
    shares = [(f"{named('memory_part', part, lang)} {gigabytes(size)} GB", size / most) for part, size in held.items()]
    limit = (said("predict.memory.usable", lang, size=gigabytes(usable)), usable / most) if usable else None
    bar = stacked_bar(shares, limit=limit)
    return [*texts, bar, legend([label for label, _ in shares], limit=limit[0] if limit else ""), table(memory_sheet(memory, lang))]

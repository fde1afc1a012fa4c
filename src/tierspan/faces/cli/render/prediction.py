"""A prediction as people read it: one sentence, what fills the step, where it runs, memory, and how far to trust it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from tierspan.faces.cli.render.asked import asked_parts, untimed, volume_texts
from tierspan.faces.cli.render.parts import (
    assumptions_parts,
    case_lines,
    count,
    fitted,
    gigabytes,
    groups_table,
    lines,
    memory_parts,
    memory_sentence,
    named,
    neighbours_parts,
    number_of,
    percent,
    said,
    seconds,
    sources_parts,
    stacked_bar,
    tiers_table,
    title,
    whole,
)
from tierspan.quantities.messages import has

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tierspan.answers.results import Prediction, Term
    from tierspan.faces.cli.render.table import Sheet

STEP_GROUPS: Final = ("compute", "scale_up", "scale_out", "bubble", "rest")
_COMPUTE: Final = frozenset({"matmul", "attention", "memory_bound", "logits", "recompute", "host"})
_LEAST_SHARE: Final = 0.0005


def headline(prediction: Prediction, lang: str) -> str:
    """The answer in one sentence."""
    p, case = prediction, prediction.case
    where = {"model": case.model, "count": whole(case.accelerators), "accelerator": case.accelerator, "system": case.system}
    if p.status == "invalid":
        return said("predict.headline.invalid", lang, errors=sum(f.severity == "error" for f in p.findings), **where)
    speed = {
        "step": seconds(p.step_time_s, lang),
        "interval": said("predict.interval", lang, low=seconds(p.low_s, lang), high=seconds(p.high_s, lang)) if math.isfinite(p.low_s) else "",
        "rate": said("predict.rate", lang, value=count(p.tokens_per_s, lang)),
        "per_accelerator": number_of(p.tokens_per_s_per_accelerator, 4),
        "mfu": percent(p.mfu),
    }
    if not math.isfinite(p.step_time_s):
        return said("predict.headline.unknown", lang, **where, memory=memory_sentence(p.memory, lang))
    need = {"need": gigabytes(p.memory.total_bytes), "usable": gigabytes(p.memory.usable_bytes)}
    return said("predict.headline.fits" if p.status == "predicted" else "predict.headline.exceeds", lang, **where, **speed, **need)


def prediction_parts(prediction: Prediction, lang: str, *, brief: bool = False) -> list[RenderableType]:
    """The parts of the answer from top to bottom; ``brief``: the sentence only."""
    from rich.text import Text

    p = prediction
    first = fitted(Text(headline(p, lang), style="bold"))
    if brief:
        return [first]
    from rich.console import Group

    from tierspan.faces.cli.render.notes import findings

    parts: list[RenderableType] = [Group(first, lines(case_lines(p.case, lang)))]
    parts += asked_parts(p, lang)
    if p.findings:
        parts.append(fitted(findings(p.findings, lang)))
    if p.status != "invalid" and math.isfinite(p.step_time_s):
        shares = step_shares(p)
        bar = stacked_bar([(named("step_group", name, lang), share) for name, share in shares.items()])
        parts.append(Group(title("predict.step", lang, step=seconds(p.step_time_s, lang)), bar))
        parts.append(lines(binding_sentence(p, lang)))
        parts.append(terms_table(p, lang))
        sent = volume_texts(p, lang)
        parts += [lines(*sent)] if sent else []
    if p.timeline is not None:
        from tierspan.faces.cli.render.timeline import timeline_parts

        parts += timeline_parts(p, lang)
    groups = groups_table(p.placement, lang)
    parts += [groups] if groups is not None else []
    parts += tiers_table(p.tiers, lang) if p.tiers else []
    if p.status != "invalid":
        parts += memory_parts(p.memory, lang)
    parts += neighbours_parts(p.neighbours, lang)
    parts += assumptions_parts(p.assumptions, lang)
    parts += notes_parts(p, lang)
    parts += sources_parts(p.sources, p.profile_version, lang)
    return parts


def step_shares(prediction: Prediction) -> dict[str, float]:
    """Shares of the step by group: compute, traffic of the scale-up and of the outer tiers, bubble, the rest."""
    kinds = {tier.name: tier.kind for tier in prediction.tiers}
    shares = dict.fromkeys(STEP_GROUPS, 0.0)
    for term in prediction.terms:
        shares[group_of(term, kinds)] += term.share
    return shares


def group_of(term: Term, kinds: dict[str, str]) -> str:
    """The group of the bar that a term belongs to; ``kinds`` maps the name of a tier to its kind."""
    if term.tier:
        return "scale_up" if kinds.get(term.tier) == "scale-up" else "scale_out"
    if term.name in _COMPUTE:
        return "compute"
    return "bubble" if term.name == "bubble" else "rest"


def terms_table(prediction: Prediction, lang: str) -> RenderableType:
    """Every term of the step with its tier, seconds, share, what compute hides of it, bytes, and a bar."""
    from tierspan.faces.cli.render.bars import bar
    from tierspan.faces.cli.render.table import Column, table

    sheet = terms_sheet(prediction, lang)
    rows = [(*cells, bar(term.share, 20)) for cells, term in zip(sheet.rows, shown_terms(prediction), strict=True)]
    return fitted(table([*sheet.columns, Column("")], rows))


def shown_terms(prediction: Prediction) -> list[Term]:
    """The terms worth a line, the longest first: those that take time, traffic that compute hides, and traffic that sends bytes.

    After a kind of traffic stand the tiers on which it only sends bytes, as terms without a time.
    """
    from tierspan.answers.results import Term

    traffic = {(t.kind, t.tier): t for t in prediction.traffic}
    least = _LEAST_SHARE * prediction.step_time_s
    shown = []
    for term in sorted(prediction.terms, key=lambda t: -t.seconds):
        mine = traffic.get((term.name, term.tier))
        if term.share >= _LEAST_SHARE or (mine is not None and (mine.hidden_s > least or mine.bytes_per_rank > 0)):
            shown.append(term)
            shown += [Term(t.kind, 0.0, 0.0, t.tier) for t in traffic.values() if mine is not None and t.kind == mine.kind and untimed(t)]
    return list(dict.fromkeys(shown))


def terms_sheet(prediction: Prediction, lang: str) -> Sheet:
    """Every term of the step with its tier, seconds, share, what compute hides of it, and the bytes that a rank sends."""
    from tierspan.faces.cli.render.table import Column, Sheet, number

    milli = prediction.step_time_s < 1.0
    scale, unit = (1e3, "ms") if milli else (1.0, "s")
    traffic = {(t.kind, t.tier): t for t in prediction.traffic}
    rows = []
    for term in shown_terms(prediction):
        mine = traffic.get((term.name, term.tier))
        sent = number_of(mine.bytes_per_rank / 1e9) if mine is not None else ""
        if mine is not None and untimed(mine):
            rows.append((named("term", term.name, lang), term.tier, "", "", "", sent))
            continue
        covered = number_of(mine.hidden_s * scale if mine is not None else math.nan) if term.tier else ""
        rows.append((named("term", term.name, lang), term.tier, number_of(term.seconds * scale), percent(term.share), covered, sent))
    head = [said(f"predict.terms.{name}", lang) for name in ("term", "tier", "time", "hidden")]
    columns = (
        Column(head[0]),
        Column(head[1]),
        number(head[2], unit),
        number(said("predict.share", lang), "%"),
        number(head[3], unit),
        number(said("volumes.sent", lang), said("volumes.unit", lang)),
    )
    return Sheet(columns, tuple(rows))


def binding_sentence(prediction: Prediction, lang: str) -> str:
    """What binds, in plain words."""
    name = prediction.binds
    share = percent(prediction.binds_share, 0)
    if has(f"binds.{name}"):
        return said(f"binds.{name}", lang, share=share)
    return said("binds.other", lang, name=named("term", name, lang), share=share)


def notes_parts(prediction: Prediction, lang: str) -> list[RenderableType]:
    """How the interval was made, what MFU means, and power where it is known."""
    told = notes_texts(prediction, lang)
    return [lines(*told, head=title("predict.notes", lang))] if told else []


def notes_texts(prediction: Prediction, lang: str) -> list[str]:
    """How the interval was made, what MFU means, and power where it is known."""
    p = prediction
    told = []
    if p.status != "invalid" and math.isfinite(p.step_time_s):
        told.append(_interval_note(p, lang))
        told.append(said("predict.note.mfu", lang, precision=p.case.precision.upper(), flops=number_of(p.model_flops_per_step / 1e15)))
        if p.power_W is not None and p.power_W > 0 and math.isfinite(p.tokens_per_s):
            told.append(said("predict.note.power", lang, power=number_of(p.power_W / 1e3), tokens=number_of(p.tokens_per_s / p.power_W)))
    return told


def _interval_note(prediction: Prediction, lang: str) -> str:
    """On which measured jobs the interval rests."""
    regime = _regime(prediction.regime, lang)
    if not math.isfinite(prediction.low_s):
        return said("predict.note.no_interval", lang, regime=regime)
    basis = prediction.interval_basis
    key = f"predict.note.interval.{basis.replace(' ', '_')}"
    return said(key if has(key) else "predict.note.interval", lang, regime=_regime(basis, lang))


def _regime(regime: str, lang: str) -> str:
    return said("list.comma", lang).join(named("regime", part.strip().replace(" ", "_"), lang) for part in regime.split(",") if part.strip())

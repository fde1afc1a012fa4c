"""Two systems on the same job: side by side, and why they differ."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tierspan.faces.cli.render.parts import (
    assumptions_parts,
    case_lines,
    count,
    fitted,
    gigabytes,
    lines,
    named,
    number_of,
    said,
    seconds,
    title,
    whole,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tierspan.answers.results import Comparison, Difference, Prediction
    from tierspan.faces.cli.render.table import Sheet

_LEAST_SHARE = 0.005


def headline(comparison: Comparison, lang: str) -> str:
    """Which is faster for a step and for an accelerator, in one sentence."""
    a, b = comparison.a, comparison.b
    names = {"a": system_name(a), "b": system_name(b), "model": a.case.model}
    bad = [p for p in (a, b) if p.status == "invalid"]
    if bad:
        return said("beside.headline.invalid", lang, name=said("list.and", lang).join(system_name(p) for p in bad), **names)
    swap = comparison.speedup_per_step < 1
    fast, slow = (b, a) if swap else (a, b)
    joule_a, joule_b = comparison.tokens_per_joule_a, comparison.tokens_per_joule_b
    joule = _turned(joule_a / joule_b, swap) if joule_a and joule_b else math.nan
    tight = said("list.and", lang).join(system_name(p) for p in (a, b) if p.status == "does not fit")
    told = said(
        "beside.headline",
        lang,
        model=a.case.model,
        fast=system_name(fast),
        slow=system_name(slow),
        time_fast=seconds(fast.step_time_s, lang),
        time_slow=seconds(slow.step_time_s, lang),
        step=number_of(_turned(comparison.speedup_per_step, swap)),
        accelerator=number_of(_turned(comparison.speedup_per_accelerator, swap)),
        joule=said("beside.headline.joule", lang, ratio=number_of(joule)) if math.isfinite(joule) else "",
    )
    return told + (said("beside.headline.exceeds", lang, name=tight) if tight else "")


def _turned(ratio: float, swap: bool) -> float:
    return 1 / ratio if swap and ratio else ratio


def comparison_parts(comparison: Comparison, lang: str, *, brief: bool = False) -> list[RenderableType]:
    """The parts of the answer from top to bottom; ``brief``: the sentence only."""
    from rich.console import Group
    from rich.text import Text

    from tierspan.faces.cli.render.notes import findings

    first = fitted(Text(headline(comparison, lang), style="bold"))
    if brief:
        return [first]
    parts: list[RenderableType] = [Group(first, lines(case_lines(comparison.a.case, lang))), side_by_side(comparison, lang)]
    if comparison.a.findings == comparison.b.findings:
        parts += [fitted(findings(comparison.a.findings, lang))] if comparison.a.findings else []
    else:
        for p in (comparison.a, comparison.b):
            parts += [Group(title("beside.findings", lang, name=system_name(p)), fitted(findings(p.findings, lang)))] if p.findings else []
    parts.append(
        lines(
            said("beside.peak", lang, ratio=number_of(comparison.peak_flops_ratio), a=system_name(comparison.a), b=system_name(comparison.b)),
            *reason_texts(comparison, lang),
            head=title("beside.why", lang),
        )
    )
    return parts + _assumptions(comparison, lang)


def _assumptions(comparison: Comparison, lang: str) -> list[RenderableType]:
    """What was assumed for both, then for each alone."""
    both = [taken for taken in comparison.a.assumptions if taken in comparison.b.assumptions]
    parts = assumptions_parts(both, lang)
    for p in (comparison.a, comparison.b):
        alone = [taken for taken in p.assumptions if taken not in both]
        parts += assumptions_parts(alone, lang, head=title("beside.of", lang, name=system_name(p)))
    return parts


def side_by_side(comparison: Comparison, lang: str) -> RenderableType:
    """The figures of both, one a line, with the ratio of the second to the first."""
    from tierspan.faces.cli.render.table import drawn

    return fitted(drawn(sides_sheet(comparison, lang)))


def sides_sheet(comparison: Comparison, lang: str) -> Sheet:
    """The figures of both, one a line, with the ratio of the second to the first."""
    from tierspan.faces.cli.render.table import Column, Sheet, number

    a, b = comparison.a, comparison.b
    joule_a, joule_b = (math.nan if value is None else value for value in (comparison.tokens_per_joule_a, comparison.tokens_per_joule_b))
    figures: list[tuple[str, str, float, float]] = [
        ("step", "s", a.step_time_s, b.step_time_s),
        ("low", "s", a.low_s, b.low_s),
        ("high", "s", a.high_s, b.high_s),
        ("rate", said("unit.tokens_per_s", lang), a.tokens_per_s, b.tokens_per_s),
        ("per_accelerator", said("unit.tokens_per_s", lang), a.tokens_per_s_per_accelerator, b.tokens_per_s_per_accelerator),
        ("per_watt", said("unit.tokens_per_J", lang), joule_a, joule_b),
        ("mfu", "%", 100 * a.mfu, 100 * b.mfu),
    ]
    rows: list[tuple[str, ...]] = [
        (
            said("beside.row.accelerators", lang),
            "",
            whole(a.case.accelerators),
            whole(b.case.accelerators),
            number_of(b.case.accelerators / a.case.accelerators),
        )
    ]
    rows += [
        (said(f"beside.row.{name}", lang), unit, _figure(x, lang), _figure(y, lang), number_of(y / x if x else math.nan))
        for name, unit, x, y in figures
    ]
    rows.append(
        (
            said("beside.row.memory", lang),
            "GB",
            *(gigabytes(p.memory.total_bytes) for p in (a, b)),
            number_of(b.memory.total_bytes / a.memory.total_bytes),
        )
    )
    rows.append(
        (
            said("beside.row.usable", lang),
            "GB",
            *(gigabytes(p.memory.usable_bytes) for p in (a, b)),
            number_of(b.memory.usable_bytes / a.memory.usable_bytes),
        )
    )
    rows.append((said("beside.row.status", lang), "", *(named("status", p.status.replace(" ", "_"), lang) for p in (a, b)), ""))
    columns = [Column(said("beside.head.figure", lang)), Column(said("beside.head.unit", lang))]
    return Sheet((*columns, number(system_name(a)), number(system_name(b)), number(said("beside.head.ratio", lang))), tuple(rows))


def reason_texts(comparison: Comparison, lang: str) -> list[str]:
    """Why they differ, the largest difference first; what makes less than half a percent of the slower step is left out."""
    slower = max((t for t in (comparison.a.step_time_s, comparison.b.step_time_s) if math.isfinite(t)), default=math.nan)
    shown = [d for d in comparison.differences if math.isfinite(d.seconds) and abs(d.seconds) >= _LEAST_SHARE * slower]
    if not shown:
        return [said("beside.why.nothing", lang)]
    return [_reason(d, comparison, lang) for d in sorted(shown, key=lambda d: -abs(d.seconds))]


def _reason(difference: Difference, comparison: Comparison, lang: str) -> str:
    values = {
        "term": named("term", difference.term, lang),
        "seconds": number_of(abs(difference.seconds)),
        "a": system_name(comparison.a),
        "b": system_name(comparison.b),
        "tier_a": difference.tier_a,
        "tier_b": difference.tier_b,
    }
    more = "more" if difference.seconds > 0 else "less"
    return said(f"beside.why.{more}" + (".tiers" if difference.tier_a or difference.tier_b else ""), lang, **values)


def system_name(prediction: Prediction) -> str:
    """What a side is called: its system, or its accelerator where the cluster was described."""
    return prediction.case.system or prediction.case.accelerator


def _figure(value: float, lang: str) -> str:
    return count(value, lang) if math.isfinite(value) and abs(value) >= 1e6 else number_of(value, 4)

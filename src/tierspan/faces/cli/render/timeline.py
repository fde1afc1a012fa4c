"""The step as the timeline played it, beside the closed form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tierspan.faces.cli.render.parts import fitted, lines, named, number_of, percent, said, seconds, title
from tierspan.faces.cli.render.table import Column, Sheet, drawn, number

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tierspan.answers.results import Prediction

_LEAST_SHARE: Final = 0.0005


def timeline_parts(prediction: Prediction, lang: str) -> list[RenderableType]:
    """Step time by both methods, bubble, activations in flight, and exposed traffic; nothing where it was not asked for."""
    if prediction.timeline is None:
        return []
    parts: list[RenderableType] = [lines(*timeline_texts(prediction, lang), head=title("predict.timeline", lang, system=prediction.case.system))]
    sheet = timeline_sheet(prediction, lang)
    return [*parts, fitted(drawn(sheet))] if sheet.rows else parts


def timeline_texts(prediction: Prediction, lang: str) -> list[str]:
    """Step time by both methods, bubble, activations in flight; nothing where the timeline was not asked for."""
    t = prediction.timeline
    if t is None:
        return []
    return [
        said(
            "predict.timeline.step",
            lang,
            schedule=named("schedule", t.schedule, lang),
            step=seconds(t.step_time_s, lang),
            closed=seconds(t.closed_form_s, lang),
            difference=f"{100 * t.difference:+.1f}",
        ),
        said("predict.timeline.bubble", lang, share=percent(t.bubble_share)),
        said("predict.timeline.in_flight", lang, counts=said("list.comma", lang).join(number_of(count, 4) for count in t.in_flight)),
    ]


def timeline_sheet(prediction: Prediction, lang: str) -> Sheet:
    """Exposed traffic by both methods; no rows where there is none."""
    t = prediction.timeline
    shown = [] if t is None else [x for x in t.traffic if max(x.exposed_s, x.closed_form_s) > _LEAST_SHARE * t.step_time_s]
    rows = tuple((named("term", x.kind, lang), x.tier, number_of(x.exposed_s), number_of(x.closed_form_s)) for x in shown)
    head = [said(f"predict.timeline.{name}", lang) for name in ("exposed", "tier", "played", "closed")]
    return Sheet((Column(head[0]), Column(head[1]), number(head[2], "s"), number(head[3], "s")), rows)

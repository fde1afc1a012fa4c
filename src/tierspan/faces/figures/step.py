"""Where a step goes: stacked bars by tier, with what compute hides in a bar of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tierspan.faces.cli.render.parts import named, number_of, percent, said, seconds
from tierspan.faces.cli.render.prediction import STEP_GROUPS, group_of
from tierspan.faces.figures.base import GROUP_COLOURS, axis, empty, short, stacked_bars

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from tierspan.answers.results import Prediction


def step_breakdown(predictions: Sequence[Prediction], lang: str, *, labels: Sequence[str] = (), share: bool = False) -> Figure:
    """One stacked bar a prediction, its parts ordered by group: compute, scale-up, scale-out, bubble, the rest.

    With a single prediction a second bar shows the traffic that runs behind compute and costs no time.

    Args:
        predictions: valid ones; others are left out.
        lang: language of the texts.
        labels: name of each bar; default the system.
        share: percent of each step, where steps of different jobs stand side by side; else seconds.
    """
    figure = empty()
    shown = [(p, name) for p, name in zip(predictions, labels or [p.case.system for p in predictions], strict=True) if math.isfinite(p.step_time_s)]
    parts: dict[tuple[str, str, str], dict[str, float]] = {}
    for p, label in shown:
        kinds = {tier.name: tier.kind for tier in p.tiers}
        for term in p.terms:
            parts.setdefault((group_of(term, kinds), term.name, term.tier), {})[label] = 100 * term.share if share else term.seconds
    order = sorted(parts, key=lambda key: (STEP_GROUPS.index(key[0]), -max(parts[key].values())))
    told: set[str] = set()
    unit = "%" if share else "s"
    for group, name, tier in order:
        values = parts[group, name, tier]
        text = named("term", name, lang) + (f" ({tier})" if tier else "")
        figure.add_bar(
            y=list(values),
            x=list(values.values()),
            orientation="h",
            name=named("step_group", group, lang),
            legendgroup=group,
            showlegend=group not in told,
            legendrank=STEP_GROUPS.index(group) + 1,
            marker={"color": GROUP_COLOURS[group], "line": {"color": "rgba(255,255,255,0.85)", "width": 1}},
            text=[named("term", name, lang)] * len(values),
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"color": "#ffffff", "size": 11},
            hovertemplate=f"{text}: %{{x:.3g}} {unit}<extra></extra>",
        )
        told.add(group)
    names = [label for _, label in shown]
    if len(shown) == 1 and not share:
        names += _hidden(figure, shown[0][0], lang, told)
    stacked_bars(
        figure,
        axis(said("figure.step.share" if share else "figure.step.seconds", lang), rangemode="tozero"),
        axis("", type="category", categoryorder="array", categoryarray=names[::-1]),
    )
    return figure


def _hidden(figure: Figure, prediction: Prediction, lang: str, told: set[str]) -> list[str]:
    """The bar of traffic that compute covers; nothing where there is none."""
    covered = [t for t in prediction.traffic if t.hidden_s > 0.0005 * prediction.step_time_s]
    if not covered:
        return []
    label = said("figure.step.hidden", lang)
    kinds = {tier.name: tier.kind for tier in prediction.tiers}
    for t in sorted(covered, key=lambda t: -t.hidden_s):
        group = "scale_up" if kinds.get(t.tier) == "scale-up" else "scale_out"
        figure.add_bar(
            y=[label],
            x=[t.hidden_s],
            orientation="h",
            name=named("step_group", group, lang),
            legendgroup=group,
            showlegend=group not in told,
            legendrank=STEP_GROUPS.index(group) + 1,
            marker={"color": GROUP_COLOURS[group], "opacity": 0.45, "pattern": {"shape": "/", "size": 6}},
            hovertemplate=f"{named('term', t.kind, lang)} ({t.tier}): %{{x:.3g}} s<extra></extra>",
        )
        told.add(group)
    return [label]


def neighbours(prediction: Prediction, lang: str) -> Figure:
    """How far the model was off on the measured jobs nearest to this one, and the interval of this prediction around zero."""
    figure = empty()
    known = [n for n in prediction.neighbours if math.isfinite(n.error)]
    rows = [f"{short(n.model, 30)}, {n.accelerators:,} ×" for n in known]
    figure.add_scatter(
        x=[100 * n.error for n in known],
        y=list(range(len(known))),
        mode="markers",
        marker={"size": 10, "color": GROUP_COLOURS["compute"]},
        text=[f"{n.source}<br>{n.plan}<br>{seconds(n.measured_s, lang)}, {percent(n.error)} %" for n in known],
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
    )
    # names stand above their line, not beside it: a narrow screen has no room there
    for y, row in enumerate(rows):
        figure.add_annotation(x=0, xref="paper", xanchor="left", y=y - 0.36, text=row, showarrow=False, font={"size": 12})
    ends = [100 * n.error for n in known] + [-20.0, 20.0]
    if math.isfinite(prediction.low_s):
        low, high = (100 * (prediction.step_time_s / side - 1) for side in (prediction.high_s, prediction.low_s))
        ends += [low, high]
        figure.add_vrect(x0=low, x1=high, fillcolor=GROUP_COLOURS["compute"], opacity=0.14, line_width=0)
    figure.add_vline(x=0, line={"color": "rgba(128,128,128,0.8)", "width": 1, "dash": "dash"})
    span = max(ends) - min(ends)
    figure.update_layout(
        margin={"l": 10, "r": 16, "t": 10, "b": 55},
        xaxis=axis(said("figure.neighbours.error", lang), nticks=5, range=[min(ends) - 0.05 * span, max(ends) + 0.05 * span], ticksuffix=" %"),
        yaxis=axis("", range=[len(known) - 0.5, -0.75], tickvals=list(range(len(known))), showticklabels=False),
    )
    return figure


def shares_of(prediction: Prediction, lang: str) -> str:
    """What the figure of a step shows, in words, for those who cannot see it."""
    kinds = {tier.name: tier.kind for tier in prediction.tiers}
    sums = dict.fromkeys(STEP_GROUPS, 0.0)
    for term in prediction.terms:
        sums[group_of(term, kinds)] += term.seconds
    comma = said("list.comma", lang)
    return comma.join(f"{named('step_group', g, lang)} {number_of(v)} s" for g, v in sums.items() if v > 0)

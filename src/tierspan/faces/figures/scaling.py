"""The curve over sizes, and the cause of each loss."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from tierspan.faces.cli.render.parts import named, said, whole
from tierspan.faces.figures.base import COLOURS, QUIET, axis, empty

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from tierspan.answers.results import ScalePoint, Scaling

_LEAST: Final = 0.001


def throughput_curve(scaling: Scaling, lang: str) -> Figure:
    """Speed-up over the number of accelerators with its 80 % band, beside the line of no loss; both axes logarithmic.

    The band is that of the step at each size against the predicted step of the reference: the part of the error that both share is in it.
    """
    figure = empty()
    for index, (node, points) in enumerate(_by_node(scaling).items()):
        sizes = [p.accelerators for p in points]
        base = scaling.reference
        if index == 0:
            line = {"color": QUIET, "width": 1.5, "dash": "dash"}
            figure.add_scatter(x=sizes, y=[n / base for n in sizes], mode="lines", name=said("figure.scale.ideal", lang), line=line, hoverinfo="skip")
        colour = COLOURS[index % len(COLOURS)]
        if all(math.isfinite(p.low_s) for p in points):
            low, high = ([p.speedup * p.step_time_s / side for p, side in zip(points, ends, strict=True)] for ends in _ends(points))
            figure.add_scatter(
                x=sizes + sizes[::-1],
                y=high + low[::-1],
                fill="toself",
                mode="lines",
                line={"width": 0},
                fillcolor=f"rgba({int(colour[1:3], 16)},{int(colour[3:5], 16)},{int(colour[5:], 16)},0.16)",
                hoverinfo="skip",
                name=said("figure.scale.band", lang),
                showlegend=index == 0,
            )
        told = [
            said(
                "figure.scale.hover",
                lang,
                size=whole(p.accelerators),
                speedup=f"{p.speedup:.2f}",
                efficiency=f"{100 * p.efficiency:.0f}",
                cause=named("cause", p.main_cause, lang) if p.main_cause else "",
            )
            for p in points
        ]
        name = said("figure.scale.speedup", lang) if len(_by_node(scaling)) == 1 else said("figure.scale.node", lang, size=node)
        figure.add_scatter(
            x=sizes,
            y=[p.speedup for p in points],
            mode="lines+markers",
            name=name,
            text=told,
            hovertemplate="%{text}<extra></extra>",
            line={"color": colour, "width": 2.5},
            marker={"size": 9, "color": colour, "symbol": ["circle" if p.fits else "x" for p in points]},
        )
    sizes = sorted({p.accelerators for p in scaling.points})
    ups = sorted({n / scaling.reference for n in sizes})
    figure.update_layout(
        margin={"l": 60, "r": 20, "t": 10, "b": 55},
        xaxis=axis(said("figure.scale.sizes", lang), type="log", tickvals=sizes, ticktext=[whole(n) for n in sizes], minor={"ticks": ""}),
        yaxis=axis(said("figure.scale.times", lang), type="log", tickvals=ups, ticktext=[f"{u:g}×" for u in ups], minor={"ticks": ""}),
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
    )
    return figure


def losses_by_cause(scaling: Scaling, lang: str) -> Figure:
    """What each size loses per accelerator against the first one, in points, stacked by cause; what a size gains stands below zero."""
    figure = empty()
    points = [p for p in scaling.points if _runs(p)]
    several = len({p.node_size for p in points}) > 1
    names = [whole(p.accelerators) + (f" / {p.node_size}" if several else "") for p in points]
    causes = {c for p in points for c, v in p.losses.items() if abs(v) >= _LEAST}
    ordered = sorted(causes, key=lambda c: -max(abs(p.losses.get(c, 0.0)) for p in points))
    for index, cause in enumerate(ordered):
        text = named("cause", cause, lang)
        figure.add_bar(
            x=names,
            y=[100 * p.losses.get(cause, 0.0) for p in points],
            name=text,
            marker={
                "color": COLOURS[index % len(COLOURS)],
                "pattern": {"shape": "" if index < len(COLOURS) else "/"},
            },
            hovertemplate=f"{text}: %{{y:.1f}}<extra></extra>",
        )
    figure.update_layout(
        barmode="relative",
        margin={"l": 60, "r": 20, "t": 10, "b": 55},
        xaxis=axis(said("figure.scale.sizes", lang), type="category"),
        yaxis=axis(said("figure.scale.points", lang), zeroline=True, zerolinecolor=QUIET),
        legend={"orientation": "h", "y": -0.25, "yanchor": "top", "x": 0},
    )
    return figure


def _by_node(scaling: Scaling) -> dict[int, list[ScalePoint]]:
    out: dict[int, list[ScalePoint]] = {}
    for p in sorted(scaling.points, key=lambda p: p.accelerators):
        if _runs(p):
            out.setdefault(p.node_size, []).append(p)
    return out


def _ends(points: list[ScalePoint]) -> tuple[list[float], list[float]]:
    return [p.high_s for p in points], [p.low_s for p in points]


def _runs(point: ScalePoint) -> bool:
    return point.status != "invalid" and math.isfinite(point.efficiency)

"""Figures of validation as Plotly objects, for pages and notebooks alike. All texts are given; nothing here speaks a language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tierspan.faces.figures.base import COLOURS, QUIET, SYMBOLS, axis, column, empty, short

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from tierspan.answers.validation.page import Point
    from tierspan.answers.validation.series import SlopeSeries


def against(points: Sequence[Point], *, x: str, y: str, equal: str, hover: str) -> Figure:
    """Predicted against measured, both logarithmic, one colour and symbol a label, with interval bars and the line of equality.

    Args:
        points: scored rows; measured and predicted in one unit.
        x: title of the axis of measured values, with unit.
        y: title of the axis of predicted values, with unit.
        equal: name of the line where both are equal.
        hover: what a point tells, with ``%{x}``, ``%{y}`` and ``%{text}``.
    """
    figure = empty()
    for index, (label, chosen) in enumerate(_by_label(points)):
        predicted = column([p.predicted for p in chosen])
        bars = [p for p in chosen if p.low is not None and p.high is not None]
        error = None
        if bars:
            error = {
                "type": "data",
                "symmetric": False,
                "array": np.maximum(column([p.predicted if p.high is None else p.high for p in chosen]) - predicted, 0),
                "arrayminus": np.maximum(predicted - column([p.predicted if p.low is None else p.low for p in chosen]), 0),
                "thickness": 0.5,
                "width": 0,
            }
        figure.add_scatter(
            x=column([p.measured for p in chosen]),
            y=predicted,
            error_y=error,
            mode="markers",
            name=short(label, 36),
            text=[p.id for p in chosen],
            hovertemplate=hover,
            marker=_marker(index, len(chosen)),
        )
    if points:
        ends = [min(min(p.measured, p.predicted) for p in points), max(max(p.measured, p.predicted) for p in points)]
        figure.add_scatter(x=ends, y=ends, mode="lines", name=equal, line={"color": QUIET, "width": 1, "dash": "dash"}, hoverinfo="skip")
    figure.update_layout(xaxis=axis(x, type="log", dtick=1, exponentformat="power"), yaxis=axis(y, type="log", dtick=1, exponentformat="power"))
    return figure


def errors_by_size(points: Sequence[Point], *, x: str, y: str, hover: str) -> Figure:
    """Signed errors in percent over the size of the message."""
    figure = empty()
    for index, (label, chosen) in enumerate(_by_label([p for p in points if p.size])):
        figure.add_scatter(
            x=column([p.size or 0.0 for p in chosen]),
            y=column([100 * (p.predicted / p.measured - 1) for p in chosen]),
            mode="markers",
            name=short(label, 36),
            text=[p.id for p in chosen],
            hovertemplate=hover,
            marker=_marker(index, len(chosen)),
        )
    figure.update_layout(xaxis=axis(x, type="log", exponentformat="SI"), yaxis=axis(y, range=[-100, 200], zeroline=True))
    return figure


def losses(series: Sequence[SlopeSeries], *, x: str, y: str, equal: str, names: Mapping[str, str]) -> Figure:
    """Loss of throughput per accelerator at the largest size of each series, predicted over measured, in percent."""
    figure = empty()
    ends = [0.0, 1.0]
    for index, (kind, name) in enumerate(names.items()):
        chosen = [s for s in series if s.kind == kind]
        measured, predicted = ([100 * (1 - values[-1]) for values in side] for side in ((s.measured for s in chosen), (s.predicted for s in chosen)))
        ends += [*measured, *predicted]
        figure.add_scatter(
            x=column(measured),
            y=column(predicted),
            mode="markers",
            name=name,
            text=[f"{s.source}, {s.model}, {s.accelerator}: {s.sizes[0]:,} → {s.sizes[-1]:,}" for s in chosen],
            hovertemplate="%{text}<br>%{x:.1f} / %{y:.1f} %<extra></extra>",
            marker=_marker(index, 0) | {"size": 8},
        )
    figure.add_scatter(
        x=[min(ends), max(ends)], y=[min(ends), max(ends)], mode="lines", name=equal, line={"color": QUIET, "width": 1, "dash": "dash"}
    )
    figure.update_layout(xaxis=axis(x), yaxis=axis(y))
    return figure


def bars(groups: Sequence[str], series: Mapping[str, Sequence[float | None]], *, y: str, aim: float | None = None, aim_name: str = "") -> Figure:
    """Grouped bars, with a dashed line at what is aimed at."""
    figure = empty()
    for index, (name, values) in enumerate(series.items()):
        figure.add_bar(x=list(groups), y=list(values), name=name, marker={"color": COLOURS[index % len(COLOURS)]})
    if aim is not None:
        dashed = {"color": QUIET, "dash": "dash"}
        figure.add_scatter(x=list(groups), y=[aim] * len(groups), mode="lines", name=aim_name, line=dashed, hoverinfo="skip")
    figure.update_layout(barmode="group", xaxis=axis("", automargin=True), yaxis=axis(y))
    return figure


def _marker(index: int, rows: int) -> dict[str, Any]:
    symbol = SYMBOLS[index // len(COLOURS) % len(SYMBOLS)]
    return {"color": COLOURS[index % len(COLOURS)], "symbol": symbol, "size": 4 if rows > 200 else 6, "opacity": 0.75}


def _by_label(points: Sequence[Point]) -> list[tuple[str, list[Point]]]:
    """Points by label, the label with most points first (drawn at the bottom)."""
    found: dict[str, list[Point]] = {}
    for point in points:
        found.setdefault(point.label, []).append(point)
    return sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))

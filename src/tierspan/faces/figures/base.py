"""What all figures share: colours, axes, an empty figure without a frame of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

COLOURS: Final = ("#3b82c4", "#e08a1e", "#2fa37c", "#c65b7c", "#8a6fd1", "#b9a21a", "#4fb3d9", "#a8643c")
"""Told apart on white and on black, and by most people who see colours differently; symbols tell more apart."""
SYMBOLS: Final = ("circle", "square", "diamond", "triangle-up", "cross", "x")
QUIET: Final = "rgba(128,128,128,0.8)"
ENTRY_PX: Final = 116
"""Width of a word of a legend that lies across: two stand side by side on a narrow screen, all of them on a wide one."""
GROUP_COLOURS: Final = {"compute": "#3b82c4", "scale_up": "#2fa37c", "scale_out": "#e08a1e", "bubble": "#8d99ae", "rest": "#8a6fd1"}
"""Colour of each group of parts of a step, the same in every figure and drawing."""
MEMORY_COLOURS: Final = {
    "weights": "#3b82c4",
    "gradients": "#4fb3d9",
    "optimizer": "#8a6fd1",
    "activations": "#e08a1e",
    "working": "#2fa37c",
    "allocator": "#8d99ae",
}


def empty() -> Figure:
    """A figure without background, so that the page's own shows through."""
    from plotly.graph_objects import Figure

    figure = Figure()
    figure.update_layout(
        template="none",
        margin={"l": 70, "r": 20, "t": 20, "b": 60},
        font={"family": 'system-ui, "Noto Sans CJK SC", "Microsoft YaHei", "PingFang SC", sans-serif', "size": 12.5},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        legend={"font": {"size": 12}, "itemsizing": "constant"},
        hoverlabel={"font": {"size": 12}},
    )
    return figure


def stacked_bars(figure: Figure, x: dict[str, Any], y: dict[str, Any]) -> None:
    """Lay out bars that lie across and stack, with a legend of equal steps above them that only explains."""
    figure.update_layout(
        barmode="stack",
        bargap=0.35,
        uniformtext={"minsize": 10, "mode": "hide"},
        margin={"l": 10, "r": 16, "t": 10, "b": 50},
        xaxis=x,
        yaxis={"automargin": True, "showgrid": False} | y,
        legend={
            "orientation": "h",
            "y": 1.02,
            "yanchor": "bottom",
            "x": 0,
            "entrywidth": ENTRY_PX,
            "traceorder": "normal",
            "itemclick": False,
            "itemdoubleclick": False,
        },
    )


def axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis with its title, and without the line through zero."""
    return {"title": {"text": title}, "zeroline": False} | more


def column(values: Sequence[float]) -> np.ndarray:
    """Numbers of a trace in single precision: seven digits are more than a screen shows, at half the bytes."""
    return np.array(values, dtype=np.float32)


def short(text: str, most: int = 26) -> str:
    """A label of at most ``most`` characters."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"

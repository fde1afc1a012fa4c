"""Memory of a rank by part against what the accelerator offers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tierspan.faces.cli.render.parts import MEMORY_PARTS, gigabytes, named, said
from tierspan.faces.figures.base import MEMORY_COLOURS, axis, empty, stacked_bars

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from tierspan.answers.results import Fitting, MemoryView


def memory_stack(memory: MemoryView, lang: str, *, stages: Sequence[tuple[str, Mapping[str, float]]] = ()) -> Figure:
    """Stacked bars of memory by part (GB), one for each of ``stages`` or one for the heaviest rank, with a line at the usable memory."""
    figure = empty()
    held_by = stages or [(named("stage", memory.heaviest_stage, lang), memory.terms)]
    bars = [(said("figure.memory.stage", lang, name=name), terms) for name, terms in held_by]
    for part, terms in MEMORY_PARTS.items():
        sizes = [sum(held.get(term, 0.0) for term in terms) / 1e9 for _, held in bars]
        if max(sizes) < 0.05:
            continue
        text = named("memory_part", part, lang)
        figure.add_bar(
            y=[name for name, _ in bars],
            x=sizes,
            orientation="h",
            name=text,
            marker={"color": MEMORY_COLOURS[part], "line": {"color": "rgba(255,255,255,0.85)", "width": 1}},
            hovertemplate=f"{text}: %{{x:.1f}} GB<extra></extra>",
        )
    reach = [sum(held.values()) / 1e9 for _, held in bars]
    if math.isfinite(memory.usable_bytes):
        usable = memory.usable_bytes / 1e9
        reach.append(usable)
        figure.add_vline(x=usable, line={"color": "#c0392b", "width": 2, "dash": "dash"})
        # the line itself is a shape, which has no place in the legend
        figure.add_scatter(
            x=[None],
            y=[bars[0][0]],
            mode="lines",
            line={"color": "#c0392b", "width": 2, "dash": "dash"},
            name=said("predict.memory.usable", lang, size=gigabytes(memory.usable_bytes)),
        )
    stacked_bars(
        figure,
        axis(said("figure.memory.axis", lang), range=[0, 1.04 * max(reach)]),
        axis("", autorange="reversed"),
    )
    return figure


def memory_by_stage(fitting: Fitting, lang: str) -> Figure:
    """Memory of the first, the middle and the last stage, or of the only one."""
    stages = [(named("stage", stage.stage, lang), stage.terms) for stage in fitting.stages] if len(fitting.stages) > 1 else []
    return memory_stack(fitting.memory, lang, stages=stages)

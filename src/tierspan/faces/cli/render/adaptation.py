"""Constants moved to one's own runs as people read it: what the runs say, what of it was taken over, and the interval from now on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tierspan.faces.cli.render.parts import fitted, lines, said, whole
from tierspan.faces.cli.render.validation import signed

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tierspan.answers.calibrate_own import Adaptation


def adaptation_parts(found: Adaptation, file: str, path: Path, lang: str) -> list[RenderableType]:
    """The parts of the answer from top to bottom."""
    from rich.text import Text

    from tierspan.faces.cli.render.table import Column, number, table

    columns = [
        Column(said("calibrate.adapt.stack", lang)),
        Column(said("calibrate.adapt.accelerators", lang)),
        number(said("calibrate.adapt.runs", lang)),
        number(said("calibrate.adapt.ratio", lang), "%"),
        number(said("calibrate.adapt.taken", lang), "%"),
        number(said("calibrate.adapt.factor", lang)),
    ]
    rows = [
        (
            s.stack,
            ", ".join(s.accelerators),
            whole(s.runs),
            signed(s.measured_over_predicted - 1.0),
            signed(s.taken_over - 1.0),
            f"{s.factor_before:.3f}, {s.factor_after:.3f}",
        )
        for s in found.stacks
    ]
    runs = whole(sum(s.runs for s in found.stacks))
    low, high = f"{100 * found.low:.0f}", f"{100 * found.high:.0f}"
    headline = said("calibrate.adapt.headline", lang, runs=runs, file=Path(file).name, low=low, high=high)
    parts: list[RenderableType] = [fitted(Text(headline, style="bold")), fitted(table(columns, rows, title=said("calibrate.adapt.title", lang)))]
    parts.append(lines(said("calibrate.adapt.meaning", lang)))
    if found.skipped:
        parts.append(lines(said("calibrate.adapt.skipped", lang, count=whole(found.skipped))))
    parts.append(lines(said("calibrate.adapt.written", lang, path=path)))
    return parts

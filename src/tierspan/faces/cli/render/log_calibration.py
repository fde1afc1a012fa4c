"""A profile from a benchmark log as people read it: which shares of line rate it changes, and from what."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tierspan.faces.cli.render.parts import fitted, lines, percent, said, whole

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tierspan.answers.calibrate_log import LogCalibration


def log_parts(found: LogCalibration, file: str, path: Path, lang: str) -> list[RenderableType]:
    """The parts of the answer from top to bottom."""
    from rich.text import Text

    from tierspan.faces.cli.render.table import Column, number, table

    columns = [
        Column(said("calibrate.log.tier", lang)),
        Column(said("calibrate.log.transport", lang)),
        number(said("calibrate.log.shipped", lang), "%"),
        number(said("calibrate.log.measured", lang), "%"),
        number(said("calibrate.log.runs", lang)),
        Column(said("calibrate.log.verdict", lang)),
    ]
    rows = [
        (
            s.tier,
            s.transport,
            percent(s.shipped),
            percent(s.measured),
            whole(s.runs),
            ", ".join(said(f"compare.verdict.{v}", lang) for v in s.verdicts),
        )
        for s in found.shares
    ]
    parts: list[RenderableType] = [
        fitted(Text(said("calibrate.log.headline", lang, count=whole(len(found.shares)), log=Path(file).name), style="bold")),
        fitted(table(columns, rows, title=said("calibrate.log.title", lang))),
    ]
    if found.skipped:
        parts.append(lines(said("calibrate.log.skipped", lang, runs=", ".join(found.skipped))))
    parts.append(lines(said("calibrate.log.written", lang, path=str(path))))
    return parts


def _verdicts(verdicts: tuple[str, ...], lang: str) -> str:
    return ", ".join(said(f"compare.verdict.{v}", lang) for v in verdicts)

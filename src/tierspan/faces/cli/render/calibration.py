"""A calibration as people read it: what was fitted, how wrong it is on rows it did not see, its intervals, and where it was written."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tierspan.faces.cli.render.parts import fitted, lines, percent, said, whole
from tierspan.faces.cli.render.validation import class_text, signed

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tierspan.answers.calibrate import Calibration


def headline(found: Calibration, file: str, lang: str) -> str:
    """What was fitted and how wrong it is, in one sentence."""
    return said(
        "calibrate.headline",
        lang,
        constants=whole(found.constants),
        rows=whole(found.profile.record["rows_fitted"]),
        file=Path(file).name,
        left_out=percent(found.median_ape_left_out),
        fitted=percent(found.median_ape_fitted),
    )


def calibration_parts(found: Calibration, file: str, lang: str) -> list[RenderableType]:
    """The parts of the answer from top to bottom; ``written_lines`` follow."""
    from rich.console import Group
    from rich.text import Text

    record = found.profile.record
    scored = said("calibrate.scored", lang, rows=whole(record["rows_scored"]), iterations=whole(record["iterations"]))
    parts: list[RenderableType] = [Group(fitted(Text(headline(found, file, lang), style="bold")), lines(scored))]
    if found.at_bounds:
        parts.append(bounds_part(found.at_bounds, lang))
    few = [f"{name}[{key}]" for name, keys in record.get("few", {}).items() for key in keys]
    if few:
        parts.append(lines(said("calibrate.few", lang, count=whole(len(few)), names=said("list.comma", lang).join(few))))
    parts += [errors_table(record["errors"], lang), lines(said("calibrate.errors.meaning", lang))]
    if record["intervals"]:
        parts += [intervals_table(record["intervals"], lang), lines(said("calibrate.intervals.meaning", lang))]
    else:
        parts.append(lines(said("calibrate.intervals.none", lang)))
    if record.get("ablation"):
        parts += [ablation_table(record["ablation"], lang), lines(said("calibrate.ablation.meaning", lang))]
    return parts


def ablation_table(ablation: Mapping[str, Mapping[str, float]], lang: str) -> RenderableType:
    """Errors of fits without one term of the step each."""
    from tierspan.faces.cli.render.table import Column, number, table

    names = ("median_ape", "median_ape_curated", "mean_ape")
    columns = [Column(said("calibrate.ablation.term", lang)), *(number(said(f"calibrate.errors.{name}", lang), "%") for name in names)]
    rows = [(said(f"calibrate.ablation.name.{term}", lang), *(percent(e.get(n, float("nan"))) for n in names)) for term, e in ablation.items()]
    return fitted(table(columns, rows, title=said("calibrate.ablation", lang)))


def written_lines(file: str, written: tuple[Path, Path], lang: str) -> list[str]:
    """The files and the command that uses them, as plain lines: they are copied, so no table may break them."""
    use = said("calibrate.use", lang, command=shlex.join(["tierspan", "validate", file, "--profile", str(written[0])]))
    told = (said("calibrate.written.profile", lang, path=written[0]), said("calibrate.written.neighbours", lang, path=written[1]), use)
    return [said("calibrate.written.head", lang), *(f"  {line}" for line in told)]


def bounds_part(names: tuple[str, ...], lang: str) -> RenderableType:
    """A warning: constants that the data push against what is physically possible."""
    from rich.text import Text

    warning = said("severity.warning", lang) + said("render.colon", lang)
    text = warning + said("calibrate.at_bounds", lang, count=whole(len(names)), names=said("list.comma", lang).join(names))
    return fitted(Text(text, style="yellow"))


def errors_table(errors: Mapping[str, Mapping[str, Any]], lang: str) -> RenderableType:
    """Errors on the rows fitted, with whole groups left out, with whole publishers left out."""
    from tierspan.faces.cli.render.table import Column, number, table

    names = ("median_ape", "median_ape_curated", "mean_ape")
    columns = [Column(said("calibrate.errors.constants", lang)), *(number(said(f"calibrate.errors.{name}", lang), "%") for name in (*names, "bias"))]
    rows = [
        (said(f"calibrate.errors.{kind.replace(' ', '_')}", lang), *(percent(found[name]) for name in names), signed(found["bias"]))
        for kind, found in errors.items()
    ]
    return fitted(table(columns, rows, title=said("calibrate.errors", lang)))


def intervals_table(intervals: Mapping[str, Any], lang: str) -> RenderableType:
    """The 80 % intervals by regime: where the measured time lies around the predicted one."""
    from tierspan.faces.cli.render.table import Column, number, table

    columns = [
        Column(said("calibrate.intervals.regime", lang)),
        number(said("calibrate.intervals.low", lang), "%"),
        number(said("calibrate.intervals.high", lang), "%"),
        number(said("calibrate.intervals.rows", lang)),
    ]
    rows = [(class_text(name, lang), signed(low - 1), signed(high - 1), whole(int(n))) for name, (low, high, n) in intervals.items()]
    return fitted(table(columns, rows, title=said("calibrate.intervals", lang)))

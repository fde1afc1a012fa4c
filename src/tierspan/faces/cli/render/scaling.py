"""Why twice is not twice: sizes side by side, the loss by cause, the knee, and what to change."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tierspan.faces.cli.render.parts import UNKNOWN, assumptions_parts, case_lines, fitted, lines, named, number_of, percent, said, title, whole
from tierspan.quantities.messages import fill, has

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tierspan.answers.results import ScalePoint, Scaling
    from tierspan.faces.cli.render.table import Sheet
    from tierspan.quantities.findings import Finding

_LEAST_LOSS = 0.001


def headline(scaling: Scaling, lang: str) -> str:
    """What the largest size is worth against the first one."""
    known = [p for p in scaling.points if _runs(p)]
    if not known:
        return said("scale.headline.nothing", lang)
    reference = next((p for p in known if p.accelerators == scaling.reference), known[0])
    far = max(known, key=lambda p: abs(math.log(p.accelerators / scaling.reference)))
    if far.accelerators == reference.accelerators and known[-1].node_size != reference.node_size:
        far = known[-1]
        told = {
            "count": whole(far.accelerators),
            "from": whole(reference.node_size),
            "to": whole(far.node_size),
            "cause": named("cause", far.main_cause, lang),
        }
        return said("scale.headline.nodes", lang, **told, speedup=number_of(far.speedup), efficiency=percent(far.efficiency, 0))
    values = {
        "mode": said(f"scale.mode.{scaling.mode}", lang),
        "from": whole(scaling.reference),
        "to": whole(far.accelerators),
        "speedup": number_of(far.speedup),
        "ratio": number_of(far.accelerators / scaling.reference),
        "efficiency": percent(far.efficiency, 0),
        "cause": named("cause", far.main_cause, lang),
    }
    return said("scale.headline" if far.main_cause else "scale.headline.no_cause", lang, **values)


def scaling_parts(scaling: Scaling, lang: str, *, brief: bool = False) -> list[RenderableType]:
    """The parts of the answer from top to bottom; ``brief``: the sentence only."""
    from rich.console import Group
    from rich.text import Text

    first = fitted(Text(headline(scaling, lang), style="bold"))
    if brief:
        return [first]
    opening: list[RenderableType] = [first]
    if scaling.predictions:
        opening.append(lines(case_lines(scaling.predictions[0].case, lang)))
    parts: list[RenderableType] = [Group(*opening), points_table(scaling, lang), curve_table(scaling, lang)]
    if (losses := losses_table(scaling, lang)) is not None:
        parts.append(losses)
    if len({p.accelerators for p in scaling.points}) > 1:
        parts.append(lines(knee_sentence(scaling, lang)))
    if scaling.advice:
        parts.append(lines(*advice_texts(scaling, lang), head=title("scale.advice", lang)))
    if scaling.predictions:
        parts += assumptions_parts(scaling.predictions[0].assumptions, lang)
    return parts


def points_table(scaling: Scaling, lang: str) -> RenderableType:
    """The figures of each size."""
    from tierspan.faces.cli.render.table import drawn

    return fitted(drawn(points_sheet(scaling, lang)))


def points_sheet(scaling: Scaling, lang: str) -> Sheet:
    """The figures of each size."""
    from tierspan.faces.cli.render.table import Sheet, number

    nodes = _several_nodes(scaling)
    rows = []
    for p in scaling.points:
        size = [whole(p.accelerators), *([whole(p.node_size)] if nodes else []), whole(p.dp), whole(p.global_batch)]
        figures = [number_of(p.step_time_s), _interval(p, lang), number_of(p.tokens_per_s_per_accelerator, 4), percent(p.mfu), number_of(p.speedup)]
        rows.append((*size, *(figures if _runs(p) else [UNKNOWN] * len(figures))))
    head = {name: said(f"scale.points.{name}", lang) for name in ("size", "node", "batch", "step", "interval", "rate", "each", "mfu", "speedup")}
    columns = [number(head["size"]), *([number(head["node"])] if nodes else []), number("DP"), number(head["batch"]), number(head["step"], "s")]
    columns += [number(head["interval"], "s"), number(head["rate"], head["each"]), number(head["mfu"], "%"), number(head["speedup"])]
    return Sheet(tuple(columns), tuple(rows))


def curve_table(scaling: Scaling, lang: str) -> RenderableType:
    """The curve as bars of the efficiency, the main cause of each loss beside it."""
    from tierspan.faces.cli.render.bars import bar
    from tierspan.faces.cli.render.table import Column, number, table

    best = max((p.efficiency for p in scaling.points if _runs(p)), default=1.0)
    share = {id(p): p.efficiency if _runs(p) else math.nan for p in scaling.points}
    rows = [(_size(p, scaling), bar(share[id(p)] / best, 36), percent(share[id(p)]), _remark(p, scaling, lang)) for p in scaling.points]
    head = {name: said(f"scale.points.{name}", lang) for name in ("size", "efficiency", "remark")}
    columns = [number(head["size"]), Column("", fold=False), number(head["efficiency"], "%"), Column(head["remark"])]
    return fitted(table(columns, rows, title=said("scale.curve", lang, reference=whole(scaling.reference))))


def _runs(point: ScalePoint) -> bool:
    """Whether the figures of a point mean anything: a plan that breaks a rule at this size has none."""
    return point.status != "invalid" and math.isfinite(point.efficiency)


def _several_nodes(scaling: Scaling) -> bool:
    return len({p.node_size for p in scaling.points}) > 1


def _size(point: ScalePoint, scaling: Scaling) -> str:
    return whole(point.accelerators) + (f" / {point.node_size}" if _several_nodes(scaling) else "")


def losses_table(scaling: Scaling, lang: str) -> RenderableType | None:
    """What each size loses against the first one, in points of throughput per accelerator, by cause; None where nothing is lost."""
    from tierspan.faces.cli.render.table import drawn

    sheet = losses_sheet(scaling, lang)
    return None if sheet is None else fitted(drawn(sheet))


def losses_sheet(scaling: Scaling, lang: str) -> Sheet | None:
    """What each size loses against the first one, in points of throughput per accelerator, by cause; None where nothing is lost."""
    from tierspan.faces.cli.render.table import Column, Sheet, number

    moved = [p for p in scaling.points if p.losses and _runs(p)]
    causes = {c: max(abs(p.losses.get(c, 0.0)) for p in moved) for p in moved for c in p.losses}
    shown = sorted((c for c in causes if causes[c] >= _LEAST_LOSS), key=lambda c: -causes[c])
    if not shown or not moved:
        return None
    rows = [(named("cause", c, lang), *(_points(p.losses.get(c, 0.0)) for p in moved)) for c in shown]
    rows.append((said("scale.losses.all", lang), *(_points(math.fsum(p.losses.values())) for p in moved)))
    heads = [_size(p, scaling) for p in moved]
    columns = (Column(said("scale.losses.cause", lang)), *(number(h, said("unit.points", lang)) for h in heads))
    return Sheet(columns, tuple(rows), said("scale.losses", lang, reference=whole(scaling.reference)))


def _points(share: float) -> str:
    return UNKNOWN if not math.isfinite(share) else f"{100 * share:+.1f}"


def _interval(point: ScalePoint, lang: str) -> str:
    return said("predict.range", lang, low=number_of(point.low_s), high=number_of(point.high_s)) if math.isfinite(point.low_s) else UNKNOWN


def _remark(point: ScalePoint, scaling: Scaling, lang: str) -> str:
    if point.status == "invalid":
        return said("scale.remark.invalid", lang)
    told = [] if point.fits else [said("scale.remark.exceeds", lang)]
    if point.main_cause and math.isfinite(point.efficiency):
        told.append(named("cause", point.main_cause, lang))
    elif point is scaling.points[0]:
        told.append(said("scale.remark.reference", lang))
    return said("list.comma", lang).join(told)


def advice_texts(scaling: Scaling, lang: str) -> list[str]:
    """What to change against the main cause of the loss."""
    return [advice for finding in scaling.advice for advice in _told(finding, lang)]


def knee_sentence(scaling: Scaling, lang: str) -> str:
    """Where the curve bends."""
    return said("scale.knee.none", lang) if scaling.knee is None else said("scale.knee", lang, size=whole(scaling.knee))


def _told(finding: Finding, lang: str) -> list[str]:
    told = [fill(finding.id, lang, finding.values)]
    if has(f"{finding.id}.remedy"):
        told.append(fill(f"{finding.id}.remedy", lang, finding.values))
    return told

"""What one collective costs: the sentence, floor and bound, the tiers it crosses, the curve over sizes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from tierspan.faces.cli.render.parts import (
    UNKNOWN,
    assumptions_parts,
    fitted,
    lines,
    named,
    number_of,
    percent,
    said,
    seconds,
    sources_parts,
    title,
    whole,
)
from tierspan.quantities.printing import format_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from tierspan.answers.collective import CollectiveAnswer, CollectivePoint

_PICTURE: Final = 20
_MOST_POINTS: Final = 18
_MOST_FORCED: Final = 5


def headline(answer: CollectiveAnswer, lang: str) -> str:
    """Time with its interval, busbw, algorithm."""
    values = {
        "operation": named("operation", answer.operation, lang),
        "size": _size(answer.size_bytes),
        "ranks": whole(answer.ranks),
        "time": seconds(answer.time_s, lang),
        "interval": _interval(answer, lang),
        "rate": rate_text(answer),
        "algorithm": " ".join(part for part in (answer.algorithm, answer.protocol) if part),
    }
    return said("collective.headline", lang, **values)


def rate_text(answer: CollectiveAnswer) -> str:
    """The rate: busbw, or algbw where the operation has no busbw."""
    busbw = answer.busbw_Bps
    return f"busbw {_giga(busbw)} GB/s" if busbw is not None else f"algbw {_giga(answer.algbw_Bps)} GB/s"


def collective_parts(answer: CollectiveAnswer, lang: str, *, brief: bool = False) -> list[RenderableType]:
    """The parts of the answer from top to bottom; ``brief``: the sentence only."""
    from rich.text import Text

    first = fitted(Text(headline(answer, lang), style="bold"))
    if brief:
        return [first]
    parts: list[RenderableType] = [first, lines(*_bounds(answer, lang)), tiers_table(answer, lang)]
    if answer.curve:
        parts.append(curve_table(answer, lang))
    if answer.forced:
        told = [f"{name}: {seconds(time, lang)}" for name, time in list(answer.forced.items())[:_MOST_FORCED]]
        parts.append(lines(said("list.comma", lang).join(told), head=title("collective.forced", lang)))
    parts += assumptions_parts(answer.assumptions, lang)
    parts += sources_parts(answer.sources, "", lang)
    parts.append(lines(said("compare.profile", lang, version=answer.profile_version)))
    return parts


def _bounds(answer: CollectiveAnswer, lang: str) -> list[str]:
    told = [
        said(
            f"collective.bound.{answer.bound}",
            lang,
            floor=seconds(answer.floor_s, lang),
            wire=seconds(answer.wire_s, lang),
            tier=answer.binding_tier or UNKNOWN,
        )
    ]
    if answer.line_rate_Bps is not None and answer.effective_Bps is not None:
        values = {"tier": answer.binding_tier, "line": _giga(answer.line_rate_Bps), "effective": _giga(answer.effective_Bps)}
        told.append(
            said("collective.rates", lang, **values, algbw=_giga(answer.algbw_Bps), share=percent(answer.effective_Bps / answer.line_rate_Bps, 0))
        )
    if answer.half_peak_bytes is not None:
        told.append(said("collective.half_peak", lang, size=_size(answer.half_peak_bytes)))
    return told


def tiers_table(answer: CollectiveAnswer, lang: str) -> RenderableType:
    """The tiers that the group crosses."""
    from tierspan.faces.cli.render.table import Column, number, table

    rows = [
        (
            t.name,
            named("tier_kind", t.kind, lang),
            t.transport,
            whole(t.ranks_in_domain),
            whole(t.domains),
            _giga(t.line_rate_Bps),
            number_of(t.latency_s * 1e6),
            said("collective.tiers.binds", lang) if t.binds else "",
        )
        for t in answer.tiers
    ]
    heads = {n: said(f"collective.tiers.{n}", lang) for n in ("name", "kind", "transport", "ranks", "domains", "line", "latency")}
    columns = [Column(heads["name"]), Column(heads["kind"]), Column(heads["transport"]), number(heads["ranks"]), number(heads["domains"])]
    columns += [number(heads["line"], "GB/s"), number(heads["latency"], "us"), Column("")]
    return fitted(table(columns, rows, title=said("collective.tiers", lang)))


def curve_table(answer: CollectiveAnswer, lang: str) -> RenderableType:
    """Time and rate over sizes, with a bar of the rate."""
    from tierspan.faces.cli.render.bars import bar
    from tierspan.faces.cli.render.table import Column, number, table

    shown = _thinned(answer.curve)
    rates = [_rate(p) for p in shown]
    most = max(rates, default=1.0) or 1.0
    rows = [
        (
            _size(p.size_bytes),
            number_of(p.time_s * 1e6),
            UNKNOWN
            if p.low_s is None or p.high_s is None
            else said("predict.range", lang, low=number_of(p.low_s * 1e6), high=number_of(p.high_s * 1e6)),
            _giga(p.algbw_Bps),
            _giga(p.busbw_Bps),
            " ".join(part for part in (p.algorithm, p.protocol) if part),
            bar(rate / most, _PICTURE),
        )
        for p, rate in zip(shown, rates, strict=True)
    ]
    heads = {n: said(f"collective.curve.{n}", lang) for n in ("size", "time", "interval", "algorithm")}
    columns = [number(heads["size"]), number(heads["time"], "us"), number(heads["interval"], "us"), number("algbw", "GB/s"), number("busbw", "GB/s")]
    columns += [Column(heads["algorithm"], fold=False), Column("", fold=False)]
    return fitted(table(columns, rows, title=said("collective.curve", lang)))


def _thinned(points: Sequence[CollectivePoint]) -> list[CollectivePoint]:
    """Every second point, or fewer, of a long curve; the last one always."""
    step = math.ceil(len(points) / _MOST_POINTS)
    return list(reversed(list(reversed(points))[::step]))


def _rate(point: CollectivePoint) -> float:
    return point.busbw_Bps if point.busbw_Bps is not None else point.algbw_Bps


def _interval(answer: CollectiveAnswer, lang: str) -> str:
    if answer.low_s is None or answer.high_s is None:
        return ""
    return said("collective.interval", lang, low=seconds(answer.low_s, lang), high=seconds(answer.high_s, lang))


def _giga(rate_Bps: float | None) -> str:
    if rate_Bps is None or not math.isfinite(rate_Bps):
        return UNKNOWN
    return "<0.01" if 0 < rate_Bps < 1e7 else number_of(rate_Bps / 1e9)


def _size(size_bytes: float) -> str:
    return format_bytes(size_bytes, binary=True)

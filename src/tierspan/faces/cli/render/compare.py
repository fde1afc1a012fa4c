"""Is my number normal: the verdict, the rates side by side, the table with its picture, the causes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final

from tierspan.faces.cli.render.parts import UNKNOWN, assumptions_parts, fitted, lines, named, number_of, percent, said, seconds, title, whole
from tierspan.quantities.printing import format_bytes

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tierspan.answers.comparison.results import Cause, CompareAnswer, ComparedRow, RunComparison, StepTimes, UnreadLine

_STYLES: Final = {"normal": "bold green", "slow": "bold yellow", "broken": "bold red", "not comparable": "bold"}
_PICTURE: Final = 16
_MOST_UNREAD: Final = 5
_MOST_ROWS: Final = 16
_LATENCY_BYTES: Final = 64 * 1024


def verdict_text(verdict: str, lang: str) -> str:
    """The verdict as a word."""
    return said(f"compare.verdict.{verdict.replace(' ', '_')}", lang)


def headline(run: RunComparison, lang: str, rows: Sequence[ComparedRow] = ()) -> str:
    """Verdict of a run with the figures that decide it; times where a rate would say nothing."""
    word = verdict_text(run.verdict, lang)
    if run.verdict == "not comparable":
        return said("compare.headline.not_comparable", lang, verdict=word, reason=run.reason)
    if run.ratio is None or run.margin is None:
        return said("compare.headline.wrong", lang, verdict=word, rows=run.wrong_rows)
    rates = run.rates
    slow = next((r for r in rows if r.decides and r.time_s and r.expected_time_s and r.ratio), None)
    if slow is not None and slow.size_bytes < _LATENCY_BYTES and slow.expected_busbw_Bps and slow.low_busbw_Bps and slow.high_busbw_Bps:
        expected = slow.expected_time_s or math.nan
        edges = (expected * slow.expected_busbw_Bps / edge for edge in (slow.high_busbw_Bps, slow.low_busbw_Bps))
        low, high = (seconds(edge, lang) for edge in edges)
        times = {"measured": seconds(slow.time_s or math.nan, lang), "expected": seconds(expected, lang), "low": low, "high": high}
        return said("compare.headline.time", lang, verdict=word, size=_size(slow.size_bytes), **times)
    values = {
        "verdict": word,
        "unit": rates.unit,
        "measured": _giga(rates.busbw_Bps),
        "expected": _giga(rates.expected_Bps),
        "low": _giga(rates.low_Bps),
        "high": _giga(rates.high_Bps),
        "share": percent(run.ratio, 0),
        "from": _size(run.decided_from_bytes or 0.0),
        "to": _size(run.decided_to_bytes or 0.0),
    }
    told = said("compare.headline" if values["from"] != values["to"] else "compare.headline.one", lang, **values)
    return told + (said("compare.headline.also_wrong", lang, rows=run.wrong_rows) if run.wrong_rows else "")


def compare_parts(answer: CompareAnswer, lang: str, *, brief: bool = False) -> list[RenderableType]:
    """The parts of the answer from top to bottom; ``brief``: verdicts only."""
    from rich.text import Text

    if answer.steps:
        return [_steps(times, lang) for times in answer.steps]
    parts: list[RenderableType] = []
    if answer.changed:
        parts.append(lines(answer.changed, head=title("compare.changed", lang)))
    for index, run in enumerate(answer.runs):
        first = fitted(Text(headline(run, lang, [r for r in answer.rows if r.run == index]), style=_STYLES[run.verdict]))
        if brief:
            parts.append(first)
            continue
        parts += _run_parts(run, [r for r in answer.rows if r.run == index], first, lang, numbered=len(answer.runs) > 1)
    if not answer.runs:
        parts.append(fitted(Text(said("compare.nothing", lang), style="bold")))
    if brief:
        return parts
    parts += assumptions_parts(answer.assumptions, lang)
    if answer.unread:
        parts.append(_unread(answer.unread, lang))
    if answer.profile_version:
        parts.append(lines(said("compare.profile", lang, version=answer.profile_version), head=title("cli.sources", lang)))
    return parts


def _run_parts(run: RunComparison, rows: Sequence[ComparedRow], first: RenderableType, lang: str, *, numbered: bool) -> list[RenderableType]:
    from rich.console import Group

    opening = [setting_line(run, lang)]
    if numbered and (run.title or run.line is not None):
        opening.insert(0, said("compare.run", lang, title=run.title or run.tool, line=run.line if run.line is not None else UNKNOWN))
    parts: list[RenderableType] = [Group(first, lines(*opening)), rates_line(run, lang), rows_table(rows, lang)]
    if run.causes:
        parts.append(_causes("compare.causes", run.causes, lang))
    elif run.verdict in ("slow", "broken"):
        parts.append(lines(said("compare.causes.none", lang), head=title("compare.causes", lang)))
    if run.notes:
        parts.append(_causes("compare.notes", run.notes, lang))
    return parts


def setting_line(run: RunComparison, lang: str) -> str:
    """What was run and on what, in one line."""
    s = run.setting
    told = [named("operation", s.operation, lang)]
    if s.ranks is not None:
        on_nodes = said("compare.setting.nodes", lang, nodes=whole(s.nodes), each=whole(s.ranks_per_node or 0)) if s.nodes is not None else ""
        told.append(said("compare.setting.ranks", lang, ranks=whole(s.ranks)) + on_nodes)
    if s.accelerator:
        told.append(s.accelerator + (f" ({s.system})" if s.system else ""))
    if s.tier:
        told.append(said("compare.setting.tier", lang, tier=s.tier))
    options = [o for o in (s.transport, s.algorithm, s.protocol) if o]
    if s.nvls is not None:
        options.append("NVLS" if s.nvls else said("compare.setting.no_nvls", lang))
    return said("list.comma", lang).join([*told, *options])


def rates_line(run: RunComparison, lang: str) -> RenderableType:
    """Line rate, effective rate, algbw and busbw side by side."""
    from tierspan.faces.cli.render.table import number, table

    r = run.rates
    heads = ["line", "effective", "algbw", "busbw" if r.unit == "busbw" else "rate", "expected", "band"]
    figures = (r.line_Bps, r.effective_Bps, r.algbw_Bps, r.busbw_Bps, r.expected_Bps)
    cells = [*(_giga(figure) for figure in figures), _band(r.low_Bps, r.high_Bps, lang)]
    columns = [number(said(f"compare.rates.{head}", lang), "GB/s") for head in heads]
    return fitted(table(columns, [cells], title=said("compare.rates", lang)))


def rows_table(rows: Sequence[ComparedRow], lang: str) -> RenderableType:
    """Measured and expected at each size, a picture beside it: the bar is what was measured, shaded where the band lies."""
    from tierspan.faces.cli.render.table import Column, number, table

    shown = _shown(rows)
    most = max((v for r in shown for v in (_measured(r), r.high_busbw_Bps) if v is not None), default=1.0) or 1.0
    cells = [
        (
            _size(r.size_bytes),
            number_of(None if r.time_s is None else r.time_s * 1e6, 4),
            _giga(r.algbw_Bps),
            _giga(r.busbw_Bps),
            _giga(r.expected_busbw_Bps),
            _band(r.low_busbw_Bps, r.high_busbw_Bps, lang),
            number_of(r.ratio),
            picture(_measured(r), r.low_busbw_Bps, r.high_busbw_Bps, most),
            said(f"compare.state.{r.state.replace(' ', '_')}", lang),
        )
        for r in shown
    ]
    heads = {n: said(f"compare.rows.{n}", lang) for n in ("size", "time", "algbw", "busbw", "expected", "band", "ratio", "state")}
    columns = [number(heads["size"]), number(heads["time"], "us"), number(heads["algbw"], "GB/s"), number(heads["busbw"], "GB/s")]
    columns += [number(heads["expected"], "GB/s"), number(heads["band"], "GB/s"), number(heads["ratio"])]
    columns += [Column("", fold=False), Column(heads["state"], fold=False)]
    told = said("compare.rows.title", lang)
    if len(shown) < len({r.size_bytes for r in rows}):
        told += said("compare.rows.some", lang, shown=len(shown), all=len({r.size_bytes for r in rows}))
    return fitted(table(columns, cells, title=told))


def picture(measured: float | None, low: float | None, high: float | None, most: float, width: int = _PICTURE) -> str:
    """A bar of the measured rate on the scale 0 to ``most``; the band is shaded: ``▓`` where the bar reaches into it, ``░`` where not."""
    if measured is None or not math.isfinite(measured):
        return ""
    end = round(width * min(measured / most, 1.0))
    start, stop = width, width
    if low is not None and high is not None:
        start = round(width * min(low / most, 1.0))
        stop = max(round(width * min(high / most, 1.0)), start + 1)
    marks = ["▓" if start <= i < stop and i < end else "░" if start <= i < stop else "█" if i < end else " " for i in range(width)]
    return "".join(marks).rstrip()


def _shown(rows: Sequence[ComparedRow]) -> list[ComparedRow]:
    """One row a size (out of place where both are there); of long tables the small sizes are thinned."""
    found = [next((r for r in group if r.in_place is not True), group[0]) for group in _by_size(rows)]
    if len(found) <= _MOST_ROWS:
        return found
    small, large = found[: -(_MOST_ROWS - 5)], found[-(_MOST_ROWS - 5) :]
    step = math.ceil(len(small) / 5)
    return [*small[::step], *large]


def _by_size(rows: Sequence[ComparedRow]) -> list[list[ComparedRow]]:
    ordered = sorted(rows, key=lambda r: r.size_bytes)
    return [list(group) for _, group in groupby(ordered, key=lambda r: r.size_bytes)]


def _measured(row: ComparedRow) -> float | None:
    if row.ratio is not None and row.expected_busbw_Bps is not None:
        return row.ratio * row.expected_busbw_Bps
    return row.busbw_Bps if row.busbw_Bps is not None else row.algbw_Bps


def _causes(head: str, causes: Sequence[Cause], lang: str) -> RenderableType:
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    parts: list[RenderableType] = [title(head, lang)]
    for index, cause in enumerate(causes, 1):
        parts.append(Padding(Text(f"{index}. [{said(f'compare.tier.{cause.tier}', lang)}] {cause.text}"), (0, 0, 0, 2)))
        parts.append(Padding(Text(said("compare.evidence", lang, text=cause.evidence)), (0, 0, 0, 5)))
        if cause.next:
            parts.append(Padding(Text(said("compare.next", lang, text=cause.next), style="cyan"), (0, 0, 0, 5)))
    return fitted(Group(*parts))


def _unread(unread: Sequence[UnreadLine], lang: str) -> RenderableType:
    colon = said("render.colon", lang)
    told = [f"{u.line}{colon}{u.reason}" for u in unread[:_MOST_UNREAD]]
    if len(unread) > _MOST_UNREAD:
        told.append(said("compare.unread.more", lang, count=len(unread) - _MOST_UNREAD))
    return lines(*told, head=title("compare.unread", lang, count=len(unread)))


def _steps(times: StepTimes, lang: str) -> RenderableType:
    values = {"file": times.file, "steps": whole(times.steps), "median": seconds(times.median_s, lang)}
    told = said("compare.steps", lang, **values, low=seconds(times.low_s, lang), high=seconds(times.high_s, lang))
    standing = said("compare.steps.outliers", lang, steps=", ".join(map(str, times.outliers[:10]))) if times.outliers else ""
    return lines(*[t for t in (told, standing, said("compare.steps.why", lang)) if t])


def _giga(rate_Bps: float | None) -> str:
    if rate_Bps is not None and 0 < rate_Bps < 1e7:
        return "<0.01"
    return number_of(None if rate_Bps is None else rate_Bps / 1e9)


def _band(low: float | None, high: float | None, lang: str) -> str:
    return UNKNOWN if low is None or high is None else said("predict.range", lang, low=_giga(low), high=_giga(high))


def _size(size_bytes: float) -> str:
    return format_bytes(size_bytes, binary=True)

"""Two logs against each other: what changed, and where."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Final

from tierspan.answers.comparison.causes.base import size_text
from tierspan.answers.comparison.points import samples_of
from tierspan.answers.comparison.results import Change, SettingView
from tierspan.answers.comparison.verdict import MATTERS_BYTES
from tierspan.quantities.messages import fill
from tierspan.specs.benchmark import CollectiveLog, CollectiveSample, busbw_factor

SAME: Final = 0.05
"""Repeats on one node agree within a per cent, several nodes within a few: a difference below this tells nothing."""


def changes_between(first: Sequence[CollectiveLog], second: Sequence[CollectiveLog]) -> tuple[Change, ...]:
    """The sizes and operations that both logs measured, with the rates of each (the median of in and out of place)."""
    a, b = _rates(first), _rates(second)
    return tuple(Change(op, size, a[op, size], b[op, size], b[op, size] / a[op, size]) for op, size in sorted(a.keys() & b.keys()))


def what_changed(changes: Sequence[Change], lang: str) -> str:
    """One sentence: the same, faster or slower, at which sizes and by how much."""
    if not changes:
        return fill("compare.changed.nothing_common", lang, {})
    large = [c for c in changes if c.size_bytes >= MATTERS_BYTES] or [max(changes, key=lambda c: c.size_bytes)]
    small = [c for c in changes if c.size_bytes < MATTERS_BYTES]
    at_large = median(c.ratio for c in large) - 1
    at_small = median(c.ratio for c in small) - 1 if small else 0.0
    told = [fill(_how("large", at_large), lang, {"change": f"{100 * at_large:+.0f}", "size": size_text(large[0].size_bytes)})]
    if small and abs(at_small) > SAME:
        told.append(fill(_how("small", at_small), lang, {"change": f"{100 * at_small:+.0f}", "size": size_text(small[-1].size_bytes)}))
    return " ".join(told)


def settings_changed(first: SettingView, second: SettingView, lang: str) -> str:
    """A sentence on two runs that are not of one setting; "" where they are."""
    names = ("ranks", "nodes", "accelerator", "transport", "algorithm", "protocol", "nvls")
    differing = [n for n in names if getattr(first, n) != getattr(second, n) and None not in (getattr(first, n), getattr(second, n))]
    if not differing:
        return ""
    told = fill("list.comma", lang, {}).join(f"{n} {getattr(first, n) or '-'} / {getattr(second, n) or '-'}" for n in differing)
    return fill("compare.changed.setting", lang, {"differences": told})


def _how(where: str, change: float) -> str:
    return f"compare.changed.{where}." + ("same" if abs(change) <= SAME else "faster" if change > 0 else "slower")


def _rates(logs: Sequence[CollectiveLog]) -> dict[tuple[str, float], float]:
    found: dict[tuple[str, float], list[float]] = {}
    for log in logs:
        ranks = log.context.ranks
        for s in samples_of(log):
            if (rate := _rate(s)) is not None:
                # busbw, where it can be known: algbw of different numbers of ranks is no comparison.
                factor = busbw_factor(s.operation, ranks) if ranks is not None else None
                found.setdefault((s.operation, s.size_bytes), []).append(rate * (factor or 1.0))
    return {key: median(rates) for key, rates in found.items()}


def _rate(sample: CollectiveSample) -> float | None:
    if sample.size_bytes > 0 and sample.time_s:
        return sample.size_bytes / sample.time_s
    return sample.algbw_Bps or None

"""Causes in the library, its options and the way the benchmark was run."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from statistics import median

from tierspan.answers.comparison.causes.base import Evidence, Found, Rule, percent, size_text
from tierspan.answers.comparison.verdict import MATTERS_BYTES, measured_rate

_SPIKE = 2.0
_FEW = 3


def _wrong_results(e: Evidence) -> Found | None:
    """The tool found wrong values."""
    rows = [r for r in e.rows if r.wrong]
    if not rows:
        return None
    return Found(20.0, {"rows": len(rows), "values": sum(r.wrong or 0 for r in rows), "size": size_text(rows[0].size_bytes)})


def _noise(e: Evidence) -> Found | None:
    """Times that jump: a size slower than one twice as large, or two runs of one size far apart."""
    out = sorted({r.size_bytes: r.time_s for r in e.rows if r.time_s and r.in_place is not True}.items())
    spikes = [a for a, b in pairwise(out) if a[1] > _SPIKE * b[1]]
    pairs: dict[float, list[float]] = {}
    for r in e.rows:
        if r.time_s:
            pairs.setdefault(r.size_bytes, []).append(r.time_s)
    apart = [size for size, times in pairs.items() if len(times) > 1 and max(times) > _SPIKE * min(times)]
    if len(spikes) + len(apart) == 0:
        return None
    sizes = sorted({size for size, _ in spikes} | set(apart))
    large = any(size >= MATTERS_BYTES for size in sizes)
    values = {"count": len(sizes), "sizes": ", ".join(size_text(s) for s in sizes[:4]), "factor": f"{_SPIKE:.0f}"}
    return Found(2.5 if large else 0.8 if len(sizes) > 1 else 0.4, values)


def _few_iterations(e: Evidence) -> Found | None:
    """One or two iterations, or no warm-up: the first call sets up connections."""
    command = f"{e.log.context.command} {e.log.title}"
    iterations = re.search(r"(?:^|\s)(?:-n|--iters)[ =](\d+)|\biters:? (\d+)", re.sub(r"(warmup|agg) iters:? \d+", "", command))
    warm = re.search(r"(?:^|\s)(?:-w|--warmup_iters)[ =](\d+)|warmup iters:? (\d+)", command)
    count = int(next((g for g in iterations.groups() if g), "99")) if iterations else 99
    warmup = int(next((g for g in warm.groups() if g), "99")) if warm else 99
    if count > _FEW and warmup > 0:
        return None
    return Found(1.5, {"iterations": count if iterations else "-", "warmup": warmup if warm else "-"})


def _debug(e: Evidence) -> Found | None:
    """A verbose log is written while the clock runs."""
    level = e.environment("NCCL_DEBUG")
    if level.upper() not in ("TRACE", "INFO") or (level.upper() == "INFO" and "TUNING" not in e.environment("NCCL_DEBUG_SUBSYS").upper()):
        return None
    return Found(1.0, {"level": level})


def _forced(e: Evidence) -> Found | None:
    """An algorithm or protocol was forced, and the library's own choice would do better."""
    context = e.setting.context
    forced = " ".join(part for part in (context.algorithm, context.protocol) if part)
    if not forced or not e.deciding or e.setting.missing:
        return None
    free = e.under(replace(e.setting, context=replace(context, algorithm="", protocol="")))
    kept = e.under(e.setting)
    if not free < 0.9 * kept:
        return None
    return Found(2.0, {"forced": forced, "gain": percent(kept / free - 1)})


def _dip(e: Evidence) -> Found | None:
    """The plateau is as expected, and a stretch of sizes that matter is not."""
    if e.decision.verdict != "normal":
        return None
    low = [r for r in e.rows if r.size_bytes >= MATTERS_BYTES and r.state in ("slow", "broken") and r.in_place is not True]
    if not low:
        return None
    worst = min(low, key=lambda r: r.ratio or 0.0)
    values = {"from": size_text(low[0].size_bytes), "to": size_text(low[-1].size_bytes), "share": percent(worst.ratio or 0.0)}
    return Found(1.0, values)


def _falls(e: Evidence) -> Found | None:
    """The rate falls with size, where healthy curves only rise: buffers fill, and the fabric drops or pauses."""
    rows = sorted((r.size_bytes, rate) for r in e.rows if r.in_place is not True and (rate := measured_rate(r)) is not None)
    large = [rate for size, rate in rows if size >= MATTERS_BYTES]
    if len(large) < 4 or not e.setting.scale_out:
        return None
    best, last = max(large[:-1]), median(large[-2:])
    if last > 0.93 * best:
        return None
    return Found(3.0 if last < 0.8 * best else 2.6, {"best": f"{best / 1e9:.0f}", "last": f"{last / 1e9:.0f}", "loss": percent(1 - last / best)})


RULES = (
    Rule("wrong_results", "software", _wrong_results),
    Rule("noise", "software", _noise),
    Rule("few_iterations", "software", _few_iterations),
    Rule("debug", "software", _debug),
    Rule("forced", "software", _forced, "note"),
    Rule("dip", "software", _dip, "note"),
    Rule("falls", "scale-out", _falls),
)

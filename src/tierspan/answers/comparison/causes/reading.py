"""Causes that lie in how figures are read: no hardware is at fault."""

from __future__ import annotations

import math
from statistics import median

from tierspan.answers.comparison.causes.base import Evidence, Found, Rule, gigabytes, percent, size_text
from tierspan.answers.comparison.verdict import MATTERS_BYTES
from tierspan.specs.benchmark import busbw_factor


def _wrong_denominator(e: Evidence) -> Found | None:
    """The busbw and algbw of the log do not stand in the ratio of the operation."""
    ranks = e.setting.ranks
    factor = busbw_factor(e.setting.operation, ranks) if ranks else None
    pairs = [s.busbw_Bps / s.algbw_Bps for s in e.samples if s.algbw_Bps and s.busbw_Bps and s.algbw_Bps > 1e9]
    if factor is None or not pairs or abs(median(pairs) / factor - 1) < 0.02:
        return None
    values = {"printed": f"{median(pairs):.3f}", "factor": f"{factor:.3f}", "operation": e.setting.operation, "ranks": ranks}
    return Found(8.0, values, "equal" if abs(median(pairs) - 1) < 0.01 else "")


def _bits_for_bytes(e: Evidence) -> Found | None:
    """Only where there is no time: a rate eight times off."""
    if any(s.time_s for s in e.samples) or not e.deciding:
        return None
    for factor, variant in ((8.0, ""), (1 / 8, "less")):
        if abs(e.ratio / factor - 1) < 0.2:
            return Found(6.0, {"ratio": f"{e.ratio:.2f}"}, variant)
    return None


def _small_sizes(e: Evidence) -> Found | None:
    """No size was measured that shows bandwidth."""
    largest = max((r.size_bytes for r in e.rows), default=math.nan)
    if e.setting.rdma or not largest < MATTERS_BYTES:
        return None
    return Found(4.0, {"largest": size_text(largest), "needed": size_text(MATTERS_BYTES)})


def _average(e: Evidence) -> Found | None:
    """The printed average is far below the plateau: a mean over sizes."""
    average = e.log.average_busbw_Bps
    rates = [r.busbw_Bps for r in e.rows if r.busbw_Bps]
    if not average or not rates or average > 0.85 * max(rates):
        return None
    return Found(2.0, {"average": gigabytes(average), "largest": gigabytes(max(rates)), "share": percent(average / max(rates))})


def _above_link(e: Evidence) -> Found | None:
    """A busbw above the rate of the link, where the switches reduce: the convention counts traffic that never crosses the link."""
    tier = e.setting.tier
    if tier is None or e.setting.scale_out or not tier.in_network_reduction or not e.best_Bps > tier.bandwidth_Bps:
        return None
    return Found(5.0, {"busbw": gigabytes(e.best_Bps), "line": gigabytes(tier.bandwidth_Bps), "tier": tier.name})


def _above_nic(e: Evidence) -> Found | None:
    """A busbw above the NIC's rate between a few nodes: trees send one copy of the data, so the figure says little about the NIC."""
    tier = e.setting.tier
    if tier is None or not e.setting.scale_out or not e.best_Bps > 1.05 * tier.bandwidth_Bps or e.setting.ranks_per_node in (None, 1):
        return None
    values = {"busbw": gigabytes(e.best_Bps), "nic": gigabytes(tier.bandwidth_Bps), "tier": tier.name, "nodes": e.setting.nodes}
    return Found(3.0, values, "two" if e.setting.nodes == 2 and e.setting.operation == "all_reduce" else "")


def _too_fast(e: Evidence) -> Found | None:
    """Far above the expectation: something was said or assumed that does not hold."""
    if not e.deciding or e.ratio < 1.6:
        return None
    return Found(6.0, {"times": f"{e.ratio:.1f}", "accelerator": e.setting.view().accelerator, "tier": e.tier})


RULES = (
    Rule("too_fast", "reading", _too_fast, "note"),
    Rule("wrong_denominator", "reading", _wrong_denominator),
    Rule("bits_for_bytes", "reading", _bits_for_bytes),
    Rule("small_sizes", "reading", _small_sizes),
    Rule("small_sizes_only", "reading", _small_sizes, "note"),
    Rule("average", "reading", _average, "note"),
    Rule("above_link", "scale-up", _above_link, "note"),
    Rule("above_nic", "scale-out", _above_nic, "note"),
)

"""Dispatch and combine of experts on a cluster."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from tierspan.estimates.communication.cases import DATA, CollectiveCase, Place, place_of
from tierspan.laws.communication.base import Array
from tierspan.laws.communication.experts import domains_hit, low_latency_s, normal_s
from tierspan.specs.hardware import Cluster

_FACTOR: Final = {"us": 1e-6, "1": 1.0}
INTERVAL: Final = (0.8, 1.25)
"""Low and high factor of the time: the spread of the public tables around the law, not a fitted interval."""


@dataclass(frozen=True, slots=True)
class ExpertCase:
    """One exchange of tokens: ``operation`` ``dispatch`` or ``combine``; ``tokens`` per rank of ``hidden`` elements go to ``topk`` experts each.

    ``element_bytes`` 1 adds block scales. ``groups_limit``: domains that the gate allows a token at most (``None``: all).
    """

    operation: str
    tokens: int
    hidden: int
    topk: int
    cluster: Cluster
    ranks: int
    ranks_per_node: int
    element_bytes: float = 1.0
    low_latency: bool = False
    groups_limit: int | None = None


@dataclass(frozen=True, slots=True)
class ExpertEstimate:
    """Times in s; ``volume_bytes`` is what a rank's tokens amount to as sent, ``crossing_bytes`` what of it goes over the rank's NIC."""

    time_s: Array
    low_s: Array
    high_s: Array
    start_s: Array
    volume_bytes: Array
    crossing_bytes: Array
    line_rate_Bps: Array
    span: tuple[str, ...]


@cache
def expert_constants() -> dict[str, float]:
    """Constants of expert exchange in SI (``data/experts.csv``)."""
    with (DATA / "experts.csv").open(encoding="utf-8", newline="") as file:
        return {r["name"]: float(r["value"]) * _FACTOR[r["unit"]] for r in csv.DictReader(file)}


def token_bytes(case: ExpertCase) -> float:
    """Bytes of a token as sent: elements, FP8 scales and, in low-latency mode, a header."""
    c = expert_constants()
    scales = case.hidden / c["scale_block"] * 4.0 if case.element_bytes <= 1 else 0.0
    return case.hidden * case.element_bytes + scales + (c["header_bytes"] if case.low_latency else 0.0)


def estimate_experts(cases: Sequence[ExpertCase]) -> ExpertEstimate:
    """Estimate dispatches and combines."""
    c = expert_constants()
    places: list[Place] = [place_of(CollectiveCase(e.operation, 0.0, e.cluster, e.ranks, e.ranks_per_node)) for e in cases]

    def column(values: Sequence[float]) -> Array:
        return np.array(values, dtype=np.float64)

    fast = np.array([e.low_latency for e in cases], dtype=bool)
    size, tokens, topk = column([token_bytes(e) for e in cases]), column([float(e.tokens) for e in cases]), column([float(e.topk) for e in cases])
    ranks, members = column([float(e.ranks) for e in cases]), column([p.members for p in places])
    domains = ranks / members
    limit = np.array([float(e.groups_limit or d) for e, d in zip(cases, domains, strict=True)])
    up = column([p.up_Bps if p.up is not None else np.inf for p in places]) * np.where(fast, c["up_share_low_latency"], c["up_share_normal"])
    net = np.nan_to_num(column([p.net_Bps for p in places]), nan=np.inf) * c["net_share"]
    start = np.where(fast, c["start_low_latency_s"], c["start_normal_s"])
    time = np.where(
        fast,
        low_latency_s(size, tokens, topk, ranks, members, up, net, start),
        normal_s(size, tokens, topk, limit, ranks, members, up, net, start),
    )
    copies = np.where(fast, topk * (ranks - members) / ranks, domains_hit(topk, domains, limit) * (domains - 1.0) / domains)
    line = column([(p.net_Bps if p.groups > 1 else p.up_Bps) for p in places])
    return ExpertEstimate(
        time, time * INTERVAL[0], time * INTERVAL[1], start, tokens * topk * size, tokens * copies * size, line, tuple(p.span for p in places)
    )

"""Hand-made logs and a hand-made law for the tests of ``compare``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tierspan.answers.comparison.expectation import Expectation, nothing
from tierspan.answers.comparison.setting import Setting
from tierspan.specs.benchmark import BenchmarkContext, CollectiveLog, CollectiveSample, busbw_factor

MIB = 1024.0**2
SIZES = tuple(float(2**i) for i in range(12, 34))
H100 = "NVIDIA H100 80GB HBM3"


def simple_law(setting: Setting, sizes: Sequence[float]) -> Expectation:
    """Latency plus bytes over a rate: 0.8 of the domain inside it (1.05 with in-switch reduction), eight NICs' 0.9 outside. Band -10 to +15 %."""
    tier, ranks, cluster = setting.tier, setting.ranks, setting.cluster
    if tier is None or ranks is None or cluster is None:
        return nothing(sizes, "compare.reason.missing")
    size = np.asarray(sizes, dtype=float)
    factor = busbw_factor(setting.operation, ranks) or 1.0
    ring = setting.context.nvls is False or setting.operation != "all_reduce" or setting.context.algorithm == "Ring"
    reduces = cluster.tiers[0].in_network_reduction and not ring
    rate = cluster.tiers[0].bandwidth_Bps * (1.05 if reduces else 0.8)
    latency = 20e-6
    if setting.scale_out:
        slow = setting.transport == "tcp"
        rate = min(rate, tier.bandwidth_Bps * (setting.ranks_per_node or 1) * (0.2 if slow else 0.9))
        latency = 300e-6 if slow else 40e-6
    time = latency + size * factor / rate
    return Expectation(size, time, 0.9 * time, 1.15 * time, factor, line_Bps=tier.bandwidth_Bps, effective_Bps=rate)


def log_of(
    rate_Bps: float,
    *,
    operation: str = "all_reduce",
    ranks: int = 8,
    nodes: int | None = None,
    latency_s: float = 20e-6,
    sizes: Sequence[float] = SIZES,
    wrong: int | None = 0,
    accelerator: str = H100,
    shape=None,
    average_busbw_Bps: float | None = None,
    **context,
) -> CollectiveLog:
    """A log whose busbw tends to ``rate_Bps``; ``shape`` maps a size to a factor on the time."""
    factor = busbw_factor(operation, ranks) or 1.0
    samples = []
    for line, size in enumerate(sizes, 10):
        time = (latency_s + size * factor / rate_Bps) * (shape(size) if shape else 1.0)
        samples.append(CollectiveSample(operation, size, time, size / time, size / time * factor, in_place=False, wrong=wrong, line=line))
    told = BenchmarkContext(ranks=ranks, nodes=nodes or max(ranks // 8, 1), accelerator=accelerator, library="NCCL", **context)
    return CollectiveLog("nccl-tests", tuple(samples), told, average_busbw_Bps=average_busbw_Bps)

"""The expectation of the laws: a setting becomes cases of the estimate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal

import numpy as np

from tierspan.answers.comparison.expectation import Expectation, nothing
from tierspan.answers.comparison.setting import Setting
from tierspan.estimates.communication import CollectiveCase, CollectiveEstimate, estimate_collectives
from tierspan.laws.communication.selection import LIBRARY_CHOICE, candidates
from tierspan.specs.benchmark import busbw_factor
from tierspan.specs.tier_rules import joins_hosts, with_network

_LARGE_BYTES: Final = 64 * 1024.0**3
_PER_RANK: Final = ("all_gather", "gather")
_ALGORITHMS: Final = {"nvlstree": "nvls_tree", "collnetdirect": "collnet", "collnetchain": "collnet", "sharp": "collnet"}
_PROTOCOLS: Final = {"ll": "LL", "ll128": "LL128", "simple": "Simple"}


def expect(setting: Setting, sizes: Sequence[float]) -> Expectation:
    """What the laws expect of a setting at these sizes (bytes, as the tool means them)."""
    operation, cluster, ranks, per_node = _operation(setting), setting.cluster, setting.ranks, setting.ranks_per_node
    if operation not in LIBRARY_CHOICE and not operation.startswith("rdma"):
        return nothing(sizes, "compare.reason.no_law")
    if cluster is None or ranks is None or per_node is None:
        return nothing(sizes, "compare.reason.missing")
    if ranks < 2:
        return nothing(sizes, "compare.reason.one_rank")
    if not setting.rdma and not joins_hosts(cluster, setting.nodes or 1):
        return nothing(sizes, "compare.reason.no_network")
    cluster = with_network(cluster)
    context = setting.context
    algorithm, protocol = _forced(operation, context.algorithm, context.protocol)
    off = context.nvls is False or context.environment.get("NCCL_NVLS_ENABLE") == "0"
    # A tool that counts per rank moves that much for every rank.
    scale = float(ranks) if setting.size_basis == "per rank" and operation in _PER_RANK else 1.0

    def case(size: float) -> CollectiveCase:
        return CollectiveCase(
            operation=operation,
            size_bytes=size * scale,
            cluster=cluster,
            ranks=ranks,
            ranks_per_node=per_node,
            algorithm=algorithm,
            protocol=protocol,
            nvls=False if off else None,
            transport=setting.transport or None,
            library=_library(setting),
            harness=_harness(setting),
            in_network=context.environment.get("NCCL_COLLNET_ENABLE") == "1" or None,
        )

    found = estimate_collectives([*(case(size) for size in sizes), case(_LARGE_BYTES)])
    factor = None if setting.rdma or setting.operation == "point_to_point" else busbw_factor(setting.operation, ranks)
    unit: Literal["busbw", "algbw"] = "algbw" if factor is None else "busbw"
    factor = 1.0 if factor is None else factor
    asked = slice(0, len(sizes))
    return Expectation(
        size_bytes=np.asarray(sizes, dtype=float),
        time_s=found.time_s[asked],
        low_s=found.low_s[asked],
        high_s=found.high_s[asked],
        factor=factor * scale,
        unit=unit,
        algorithm=found.algorithm[asked],
        protocol=found.protocol[asked],
        line_Bps=_line(setting, found),
        effective_Bps=_finite(float(found.busbw_Bps[-1] if unit == "busbw" else found.algbw_Bps[-1])),
        reason="" if np.isfinite(found.time_s[asked]).any() else "compare.reason.no_law",
        profile_version=_profile(),
    )


def _operation(setting: Setting) -> str:
    return {"bandwidth": "rdma_stream", "latency": "rdma_latency", "": setting.operation}[setting.rdma]


def _forced(operation: str, algorithm: str, protocol: str) -> tuple[str | None, str | None]:
    """The algorithm and protocol as the laws call them; what the laws do not know for this operation forces nothing."""
    if operation.startswith("rdma"):
        return None, None
    plain = algorithm.casefold().replace("-", "").replace(" ", "")
    name, spelled = _ALGORITHMS.get(plain, plain), _PROTOCOLS.get(protocol.casefold(), "")
    known = candidates(operation)
    if name not in {a for a, _ in known}:
        name = ""
    if spelled and not any(p == spelled and name in ("", a) for a, p in known):
        spelled = ""
    return name or None, spelled or None


def _library(setting: Setting) -> str:
    if setting.rdma:
        return "rdma"
    found = setting.context.library.casefold()
    return {"msccl++": "mscclpp", "mscclpp": "mscclpp"}.get(found, "nccl")


def _harness(setting: Setting) -> str:
    """Who calls: one process for all devices of a node waits for each launch."""
    context = setting.context
    if "torch" in f"{context.command} {context.library}".casefold():
        return "torch"
    words = context.command.split()
    for flag in ("-g", "--ngpus"):
        if flag in words[:-1] and words[words.index(flag) + 1].isdigit():
            return "one_process" if int(words[words.index(flag) + 1]) > 1 else "process"
    return "process"


def _line(setting: Setting, found: CollectiveEstimate) -> float | None:
    """The line rate of the outermost tier that the run needs."""
    tier = setting.tier
    return _finite(float(found.line_rate_Bps[-1])) if tier is None else tier.bandwidth_Bps


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _profile() -> str:
    from tierspan.estimates.communication.constants import shipped

    return shipped().version

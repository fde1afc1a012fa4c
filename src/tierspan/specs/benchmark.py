"""Benchmark logs as typed rows: what communication benchmarks measured, and what in a log could not be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tierspan.quantities.errors import Place

OPERATIONS = (
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", "send_recv", "gather", "scatter",
    "dispatch", "combine", "point_to_point",
)  # fmt: skip
"""Canonical names of operations; tools' own spellings are mapped to them by the readers."""


def busbw_factor(operation: str, ranks: int) -> float | None:
    """Return busbw over algbw: 2(n-1)/n for all_reduce, (n-1)/n for all_gather, reduce_scatter, all_to_all, else 1 (nccl-tests, PERFORMANCE.md).

    ``None`` where the operation has no such convention (dispatch, combine) or there is no rank.
    """
    if ranks < 1 or operation in ("dispatch", "combine"):
        return None
    share = (ranks - 1) / ranks
    return {"all_reduce": 2 * share, "all_gather": share, "reduce_scatter": share, "all_to_all": share, "gather": share, "scatter": share}.get(
        operation, 1.0
    )


@dataclass(frozen=True, slots=True)
class CollectiveSample:
    """One measured size. SI: bytes, s, bytes/s; ``None`` where the tool does not print it.

    ``size_bytes`` has the tool's meaning, given by ``CollectiveLog.size_basis``. ``wrong`` counts wrong values where the tool checks them.
    """

    operation: str
    size_bytes: float
    time_s: float | None
    algbw_Bps: float | None
    busbw_Bps: float | None
    in_place: bool | None = None
    dtype: str = ""
    redop: str = ""
    root: int | None = None
    wrong: int | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Unread:
    """A line that could not be used, and why (message id with values)."""

    line: int
    text: str
    reason_id: str
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BenchmarkContext:
    """What the log says about the run; ``None`` or "" where it does not say. Bandwidths in bytes/s per direction and accelerator."""

    ranks: int | None = None
    nodes: int | None = None
    ranks_per_node: int | None = None
    accelerator: str = ""
    hosts: tuple[str, ...] = ()
    library: str = ""
    library_version: str = ""
    transport: str = ""
    nic_Bps: float | None = None
    nics_per_node: int | None = None
    algorithm: str = ""
    protocol: str = ""
    nvls: bool | None = None
    gpu_direct_rdma: bool | None = None
    command: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PairMatrix:
    """A matrix of a point-to-point benchmark: a value for each pair, SI (bytes/s or s); ``None`` where the tool prints N/A.

    ``quantity`` is ``bandwidth`` or ``latency``; ``directions`` is 2 where a bandwidth adds both directions of a pair; ``values[row][column]``.
    """

    title: str
    quantity: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    directions: int = 1
    line: int | None = None


@dataclass(frozen=True, slots=True)
class StatedRate:
    """A bandwidth that a tool states without size and time, bytes/s; ``scope`` is what the tool says it is over (RDMA, NVLink)."""

    operation: str
    bandwidth_Bps: float
    scope: str = ""
    dtype: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class CollectiveLog:
    """One benchmark run read from a log.

    ``tool`` is the program; ``size_basis`` is ``total`` or ``per rank``; ``average_busbw_Bps`` as printed (a mean over sizes, never a capability);
    ``directions`` is 2 where the printed bandwidths of a point-to-point run add both directions.
    """

    tool: str
    samples: tuple[CollectiveSample, ...]
    context: BenchmarkContext
    size_basis: str = "total"
    average_busbw_Bps: float | None = None
    unread: tuple[Unread, ...] = ()
    place: Place = field(default_factory=Place)
    title: str = ""
    directions: int = 1
    matrices: tuple[PairMatrix, ...] = ()
    rates: tuple[StatedRate, ...] = ()

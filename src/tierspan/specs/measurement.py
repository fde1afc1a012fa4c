"""What somebody else measured: typed rows of measurement files.

Sizes are counts, times and rates stand in the unit that their column names. ``None`` (or an empty text) means that the
source does not say; nothing here fills a gap. ``raw`` keeps every cell as it was read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tierspan.quantities.findings import Assumption
from tierspan.specs.strategy import Job, Recompute, Strategy

MeasurementKind = Literal["training", "memory", "collectives", "serving", "operations"]


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """One training run with its speed. ``year`` is a decimal year; ``value`` is in the unit that ``metric`` names."""

    id: str
    line: int
    source: str
    date: str
    year: float | None
    framework: str
    model: str
    moe: bool | None
    layers: int | None
    hidden: int | None
    seq_len: int | None
    accelerator: str
    node_size: int | None
    hbd_size: int | None
    nic_gbps: float | None
    n_accelerators: int | None
    tp: int | None
    sp: bool | None
    pp: int | None
    vpp: int | None
    cp: int | None
    ep: int | None
    etp: int | None
    dp: int | None
    zero: int | None
    shard_group: int | None
    micro_batch: int | None
    global_batch: int | None
    recompute: Recompute | None
    precision: str
    overlap: str
    metric: str
    value: float | None
    peak_memory_gb: float | None
    quality: str
    flags: frozenset[str]
    notes: str
    raw: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """One training run that fits or dies; peaks in decimal GB."""

    id: str
    line: int
    source: str
    model: str
    layers: int | None
    hidden: int | None
    seq_len: int | None
    accelerator: str
    n_accelerators: int | None
    tp: int | None
    sp: bool | None
    pp: int | None
    vpp: int | None
    cp: int | None
    ep: int | None
    dp: int | None
    zero: int | None
    micro_batch: int | None
    global_batch: int | None
    recompute: Recompute | None
    precision: str
    outcome: Literal["fits", "oom"]
    peak_allocated_gb: float | None
    peak_reserved_gb: float | None
    notes: str
    raw: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class CollectiveRow:
    """One message size of a communication benchmark; ``size_bytes`` has the meaning of its tool, rates are decimal GB/s."""

    id: str
    line: int
    source: str
    locator: str
    collective: str
    accelerator: str
    system: str
    n_gpus: int | None
    n_nodes: int | None
    nic_gbps: float | None
    size_bytes: int | None
    time_us: float | None
    algbw_GBps: float | None
    busbw_GBps: float | None
    flags: frozenset[str]
    notes: str
    raw: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ServingRow:
    """One point of a serving benchmark: time to first token and time per output token, in ms."""

    id: str
    line: int
    source: str
    model: str
    system: str
    backend: str
    mode: str
    input_tokens: int | None
    output_tokens: int | None
    ttft_ms: float | None
    tpot_ms: float | None
    flags: frozenset[str]
    raw: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class OperationRow:
    """One printed figure on reliability, power, cost ...; ``value`` is ``None`` where the text is no single number (``>90``)."""

    id: str
    line: int
    source: str
    domain: str
    metric: str
    value: float | None
    value_text: str
    unit: str
    raw: Mapping[str, str] = field(repr=False)


MeasurementRow = TrainingRow | MemoryRow | CollectiveRow | ServingRow | OperationRow


@dataclass(frozen=True, slots=True)
class MeasurementFile:
    """A measurement file as read: rows in file order; ``extra_columns`` are kept in ``raw`` and used by nobody."""

    kind: MeasurementKind
    rows: tuple[MeasurementRow, ...]
    columns: tuple[str, ...]
    path: str = ""
    encoding: str = "utf-8"
    extra_columns: tuple[str, ...] = ()

    @property
    def training(self) -> tuple[TrainingRow, ...]:
        """The training rows (all rows of a training file, none of another)."""
        return tuple(r for r in self.rows if isinstance(r, TrainingRow))

    @property
    def memory(self) -> tuple[MemoryRow, ...]:
        """The memory rows."""
        return tuple(r for r in self.rows if isinstance(r, MemoryRow))

    @property
    def collectives(self) -> tuple[CollectiveRow, ...]:
        """The rows of communication benchmarks."""
        return tuple(r for r in self.rows if isinstance(r, CollectiveRow))

    @property
    def serving(self) -> tuple[ServingRow, ...]:
        """The serving rows."""
        return tuple(r for r in self.rows if isinstance(r, ServingRow))

    @property
    def operations(self) -> tuple[OperationRow, ...]:
        """The rows on operations."""
        return tuple(r for r in self.rows if isinstance(r, OperationRow))


@dataclass(frozen=True, slots=True)
class Stack:
    """The software a run used: its family, its release where printed, and the decimal year of the run where known."""

    family: str
    release: str = ""
    year: float | None = None

    @property
    def id(self) -> str:
        """``family-release``, else ``family-year``, else the family alone (also where it ends in a year itself)."""
        if self.release:
            return f"{self.family}-{self.release}"
        if self.family[-4:].isdigit():
            return self.family
        return f"{self.family}-{int(self.year)}" if self.year is not None else self.family

    def __str__(self) -> str:
        return self.id


@dataclass(frozen=True, slots=True)
class FilledRow:
    """A row as a plan that can be predicted: what the source says, completed by assumptions that are all listed.

    ``nic_bandwidth_Bps`` is the scale-out line rate per accelerator and direction (``None``: unknown and not assumed),
    ``domain_size`` the accelerators in one scale-up domain. ``system`` the catalogue's system where the source tells it,
    ``traits`` are short words found in the row's flags, notes and
    overlap text that change the work or its speed (``formats.measurements.hints`` lists them).
    """

    id: str
    strategy: Strategy
    job: Job
    accelerator: str
    accelerators: int
    node_size: int
    domain_size: int
    nic_bandwidth_Bps: float | None
    stack: Stack
    gradient_bytes: int
    flash_attention: bool
    traits: frozenset[str]
    assumptions: tuple[Assumption, ...]
    system: str | None = None

    @property
    def assumed(self) -> tuple[str, ...]:
        """Names of the fields that the source does not give."""
        return tuple(a.field for a in self.assumptions)

    @property
    def assumed_columns(self) -> tuple[str, ...]:
        """The assumed fields without the options that hardly any source prints (overlap, gradient format, fused attention)."""
        return tuple(f for f in self.assumed if not f.startswith("overlap_") and f not in ("gradient_bytes", "flash_attention"))

"""Typed results that several answers share. Times in s, memory in bytes, rates per s; shares and probabilities 0..1."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tierspan.quantities.display import Shown
from tierspan.quantities.findings import Assumption, Finding
from tierspan.specs.strategy import Strategy

SCHEMA_VERSION = "1"


@dataclass(frozen=True, slots=True)
class Term:
    """One part of the step: ``name`` is a message id suffix (``term.<name>``), ``tier`` the name of the tier for traffic, "" for the rest."""

    name: str
    seconds: float
    share: float
    tier: str = ""


@dataclass(frozen=True, slots=True)
class Traffic:
    """Traffic of one kind (tp, cp, ep, pp, dp) on one tier: what compute could not hide, what it hides, and the bytes.

    ``bytes_per_rank`` is what a rank sends in a step, payload by the convention of ``answers.volumes``: all-reduces as reduce-scatter and
    all-gather, ``2 (n - 1)/n`` of the data. ``bytes_per_layer`` is that of one layer and micro-batch, forward and backward; ``None`` for
    ``pp`` and ``dp``, which are not a layer's. A collective that spans tiers takes its time on one of them: on the others stand bytes and no time.
    """

    kind: str
    tier: str
    exposed_s: float
    hidden_s: float
    bytes_per_rank: float = float("nan")
    bytes_per_layer: float | None = None


@dataclass(frozen=True, slots=True)
class GroupPlacement:
    """Where a parallel group runs: ``size`` ranks, ``stride`` apart, ``members_per_domain`` of them inside one scale-up domain.

    ``tier`` is the outermost tier it needs.
    """

    kind: str
    size: int
    stride: int
    tier: str
    members_per_domain: int


@dataclass(frozen=True, slots=True)
class TierView:
    """A tier as the prediction used it; pooled totals are stated, they do not pool by themselves."""

    name: str
    kind: str
    domain_size: int
    bandwidth_Bps: float
    achievable_Bps: float
    latency_s: float
    transport: str
    memory_semantics: bool
    domain_memory_bytes: float
    domain_peak_flops: float
    exposed_s: float


@dataclass(frozen=True, slots=True)
class MemoryView:
    """Memory of the heaviest rank by term; ``usable_bytes`` is what the accelerator offers to the framework."""

    total_bytes: float
    usable_bytes: float
    margin_bytes: float
    fits: bool
    oom_probability: float
    heaviest_stage: str
    terms: dict[str, float]
    allocated_bytes: float = float("nan")
    host: HostMemory | None = None


@dataclass(frozen=True, slots=True)
class HostMemory:
    """What offloading keeps in the memory of a host: by term on the heaviest rank, and in all on a node whose ranks are all on the fullest stage.

    ``available_bytes_per_node`` is the host memory of the system, ``None`` where the catalogue does not know it.
    """

    terms: dict[str, float]
    bytes_per_rank: float
    bytes_per_node: float
    available_bytes_per_node: float | None = None


@dataclass(frozen=True, slots=True)
class StageMemory:
    """Memory of one rank of a pipeline stage: its layers, the micro-batches whose activations it keeps, and bytes by term."""

    stage: Literal["only", "first", "middle", "last"]
    layers: float
    in_flight: float
    allocated_bytes: float
    total_bytes: float
    fits: bool
    terms: dict[str, float]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A public measurement near this job and how far the model was off on it when its group was left out of the fit."""

    id: str
    source: str
    model: str
    accelerator: str
    accelerators: int
    plan: str
    measured_s: float
    error: float


@dataclass(frozen=True, slots=True)
class CaseView:
    """What was asked, completed: names, counts and the plan with its derived data parallelism."""

    system: str
    accelerator: str
    accelerators: int
    node_size: int
    model: str
    parameters_total: int
    parameters_active: int
    stack: str
    sequence_length: int
    global_batch: int
    precision: str
    strategy: Strategy
    dp: int
    micro_batches: float


@dataclass(frozen=True, slots=True)
class PairView:
    """Two ranks and the tier that joins them; ranks fill domains in order.

    ``domains`` maps every tier that has domains, by name, to the domains of the first and of the second rank. ``bandwidth_Bps`` is the line
    rate per accelerator and direction, ``pair_bandwidth_Bps`` that of the pair alone where it is less (a mesh). ``groups`` are the kinds of
    parallelism (tp, cp, ep, pp, dp) whose group holds both; traffic between two ranks that share none goes through others or is not needed.
    """

    first: int
    second: int
    tier: str
    kind: str
    domains: dict[str, tuple[int, int]]
    bandwidth_Bps: float
    achievable_Bps: float
    latency_s: float
    pair_bandwidth_Bps: float | None
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TrainingView:
    """Training on ``tokens`` at the predicted step time, without a failure, checkpoint or restart (goodput of 100 %); times in s.

    ``energy_J`` is that of the accelerators alone at their rated power, ``None`` where it is not known.
    """

    tokens: float
    steps: int
    time_s: float
    low_s: float
    high_s: float
    accelerator_hours: float
    energy_J: float | None


@dataclass(frozen=True, slots=True)
class TimelineView:
    """The step played task by task, beside the closed form; times in s.

    ``difference`` is ``step_time_s / closed_form_s - 1``; ``bubble_share`` the part of the step in which the mean stage waits for others;
    ``traffic`` what the mean stage shows and the closed form says of it; ``in_flight`` the most micro-batches whose activations each stage
    keeps, first stage first.
    """

    schedule: str
    step_time_s: float
    closed_form_s: float
    difference: float
    bubble_share: float
    traffic: tuple[TimelineTraffic, ...]
    in_flight: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class TimelineTraffic:
    """Exposed traffic of one kind on one tier, by the timeline and by the closed form."""

    kind: str
    tier: str
    exposed_s: float
    closed_form_s: float


@dataclass(frozen=True, slots=True, repr=False)
class Prediction(Shown):
    """Answer of ``predict``: step time with its 80 % interval, what fills it, memory, and where the numbers come from.

    ``status`` is ``predicted``, ``does not fit`` (memory) or ``invalid`` (the plan breaks a rule; ``findings`` say which; numbers are then NaN).
    ``timeline`` is there where it was asked for and the plan can run, ``pairs`` where ranks were named, ``training`` where tokens were.
    """

    status: Literal["predicted", "does not fit", "invalid"]
    case: CaseView
    step_time_s: float
    low_s: float
    high_s: float
    tokens_per_s: float
    tokens_per_s_per_accelerator: float
    mfu: float
    model_flops_per_step: float
    power_W: float | None
    terms: tuple[Term, ...]
    traffic: tuple[Traffic, ...]
    placement: tuple[GroupPlacement, ...]
    tiers: tuple[TierView, ...]
    binds: str
    binds_share: float
    memory: MemoryView
    regime: str
    interval_basis: str
    assumptions: tuple[Assumption, ...] = ()
    findings: tuple[Finding, ...] = ()
    sources: tuple[str, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()
    timeline: TimelineView | None = None
    profile_version: str = ""
    pairs: tuple[PairView, ...] = ()
    training: TrainingView | None = None
    schema_version: str = field(default=SCHEMA_VERSION)


@dataclass(frozen=True, slots=True)
class ScalePoint:
    """One size of a scaling curve; ``losses`` splits the loss of per-accelerator throughput against ``reference`` by cause (points, 0..1)."""

    accelerators: int
    node_size: int
    dp: int
    global_batch: int
    step_time_s: float
    low_s: float
    high_s: float
    tokens_per_s: float
    tokens_per_s_per_accelerator: float
    efficiency: float
    speedup: float
    mfu: float
    losses: dict[str, float]
    main_cause: str
    fits: bool
    status: str


@dataclass(frozen=True, slots=True, repr=False)
class Scaling(Shown):
    """Answer of ``scale``: points in order of size, the size where the curve bends, and what to change."""

    mode: Literal["weak", "strong"]
    reference: int
    points: tuple[ScalePoint, ...]
    knee: int | None
    advice: tuple[Finding, ...]
    predictions: tuple[Prediction, ...]
    schema_version: str = field(default=SCHEMA_VERSION)


@dataclass(frozen=True, slots=True)
class Difference:
    """Why one system is faster than another: seconds of a step by term (b minus a), largest first."""

    term: str
    tier_a: str
    tier_b: str
    seconds: float


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Shown):
    """Two systems on the same job: per step, per accelerator and per watt, and the terms that make the difference."""

    a: Prediction
    b: Prediction
    speedup_per_step: float
    speedup_per_accelerator: float
    tokens_per_joule_a: float | None
    tokens_per_joule_b: float | None
    peak_flops_ratio: float
    differences: tuple[Difference, ...]
    schema_version: str = field(default=SCHEMA_VERSION)


@dataclass(frozen=True, slots=True, repr=False)
class Fitting(Shown):
    """Answer of ``fit``: memory of the plan, the smallest count and the largest batch and sequence that fit with the same plan."""

    status: Literal["fits", "borderline", "does not fit", "invalid"]
    case: CaseView
    memory: MemoryView
    stages: tuple[StageMemory, ...]
    smallest_accelerators: int | None
    largest_micro_batch: int | None
    largest_sequence_length: int | None
    remedies: tuple[Finding, ...]
    assumptions: tuple[Assumption, ...] = ()
    findings: tuple[Finding, ...] = ()
    schema_version: str = field(default=SCHEMA_VERSION)

"""What a cluster is made of: accelerators, tiers, systems, clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tierspan.quantities.errors import InputError, Place
from tierspan.quantities.facts import Fact


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One accelerator as software sees it (one rank): a GPU, an NPU card or die, a TPU chip, a core.

    ``peak_flops`` maps a precision (see ``specs.precision``; the sheet's FP4 is ``fp4``) to the *dense* peak in FLOP/s.
    ``memory_usable_bytes`` is what the driver offers to a framework, ``None`` where no source states it.
    ``architecture`` names the design of its units, whose efficiency all parts of the design share.
    ``achievable`` maps a precision to the measured share of the dense peak that a large matrix product reaches (0..1).
    """

    id: str
    name: str
    vendor: str
    peak_flops: Mapping[str, float]
    memory_bytes: float
    memory_bandwidth_Bps: float
    power_W: float | None = None
    kind: str = "gpu"
    year: int | None = None
    achievable: Mapping[str, float] = field(default_factory=dict)
    facts: tuple[Fact, ...] = ()
    memory_usable_bytes: float | None = None
    architecture: str = ""


@dataclass(frozen=True, slots=True)
class Tier:
    """One level of the interconnect.

    ``domain_size`` counts the accelerators inside one domain of this tier (``None`` = the whole cluster). Bandwidths are per
    accelerator and per direction in bytes/s; ``pair_bandwidth_Bps`` is what one pair gets where that is less (a mesh).
    ``kind`` is ``scale-up``, ``scale-out``, ``dci`` or ``vpc``; ``planes`` that do not carry training traffic are kept apart in
    ``Cluster.other_planes``. ``latency_s`` has the basis ``latency_basis`` (per hop of a collective unless said otherwise).
    """

    name: str
    kind: str
    domain_size: int | None
    bandwidth_Bps: float
    latency_s: float
    transport: str
    topology: str = "switched"
    pair_bandwidth_Bps: float | None = None
    in_network_reduction: bool = False
    memory_semantics: bool = False
    latency_basis: str = "accelerator to accelerator, per hop of a collective"
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class System:
    """A product: node, rack or pod, with its accelerator and tiers, innermost first.

    ``node_size`` accelerators per host, ``unit_accelerators`` in the unit one buys (a DGX H100: 8; an NVL72 rack: 72),
    ``unit_power_W`` the power of that unit where known.
    """

    id: str
    name: str
    vendor: str
    accelerator: str
    node_size: int
    unit_accelerators: int
    tiers: tuple[Tier, ...]
    other_planes: tuple[Tier, ...] = ()
    unit_power_W: float | None = None
    nics_per_node: float | None = None
    facts: tuple[Fact, ...] = ()


def check_reach(tiers: Sequence[Tier], accelerators: int, place: Place | None = None) -> None:
    """Refuse more accelerators than one domain of the outermost tier joins: nothing leads from one of its domains to the next.

    Raises:
        InputError: there are more; ``place`` is named.
    """
    joined = tiers[-1].domain_size if tiers else None
    if joined is not None and accelerators > joined:
        raise InputError("cluster.no_path", place=place, accelerators=accelerators, tier=tiers[-1].name, domain=joined)


@dataclass(frozen=True, slots=True)
class Cluster:
    """``accelerators`` of one kind joined by ``tiers``, innermost first; one domain of the last tier holds them all.

    Raises:
        InputError: it does not (see ``check_reach``).
    """

    accelerator: Accelerator
    accelerators: int
    node_size: int
    tiers: tuple[Tier, ...]
    system: System | None = None
    other_planes: tuple[Tier, ...] = ()

    def __post_init__(self) -> None:
        check_reach(self.tiers, self.accelerators)

    @property
    def scale_up(self) -> Tier:
        """The innermost tier."""
        return self.tiers[0]

    @property
    def scale_up_domain_size(self) -> int:
        """Accelerators in one scale-up domain, never more than the cluster has."""
        size = self.tiers[0].domain_size
        return self.accelerators if size is None else min(size, self.accelerators)

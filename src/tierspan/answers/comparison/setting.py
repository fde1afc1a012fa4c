"""What was run and on what: from the log, from what the caller says, and from what follows of both; the rest is missing, never guessed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from tierspan.answers.comparison.results import MissingFact, SettingView
from tierspan.answers.habits import Notebook
from tierspan.answers.question_cluster import cluster_for
from tierspan.quantities.errors import InputError, Place, UnknownNameError
from tierspan.quantities.findings import Assumption
from tierspan.quantities.units import parse_as, parse_quantity, per_direction_Bps
from tierspan.specs.benchmark import BenchmarkContext, CollectiveLog, CollectiveSample
from tierspan.specs.catalog import resolve
from tierspan.specs.hardware import Accelerator, Cluster, Tier

_BRANDS: Final = ("nvidia", "amd", "instinct", "tesla", "intel", "habana", "huawei")
_DESCRIPTIONS: Final = (".yaml", ".yml", ".json")
_FLAGS: Final = {"system": "--system", "cluster": "--cluster", "nic": "--nic", "accelerators": "-n", "node_size": "--nodes"}
TRANSPORTS: Final = {"ib": "infiniband", "ibext": "infiniband", "rdma": "infiniband", "socket": "tcp", "ethernet": "tcp", "ofi": "efa"}
"""Other names of transports; what is not here stands for itself."""
RDMA_TOOLS: Final = ("perftest",)
"""Tools that measure one NIC against another."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the caller says besides the log; ``None`` where nothing. ``cluster`` is a file or id, ``nic`` a rate per accelerator and direction."""

    cluster: str | Path | None = None
    system: str | Path | None = None
    ranks: int | None = None
    nodes: int | None = None
    nic: str | float | None = None
    transport: str | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """The setting of one run; the expectation needs ``cluster``, ``ranks`` and ``nodes``, and ``missing`` names what nobody said."""

    operation: str
    context: BenchmarkContext
    size_basis: str
    ranks: int | None = None
    nodes: int | None = None
    cluster: Cluster | None = None
    transport: str = ""
    nic_given: bool = False
    missing: tuple[MissingFact, ...] = ()
    assumptions: tuple[Assumption, ...] = field(default=())
    rdma: Literal["", "bandwidth", "latency"] = ""

    @property
    def ranks_per_node(self) -> int | None:
        """Ranks on one node, rounded up where the last node is not full."""
        return None if self.ranks is None or self.nodes is None else math.ceil(self.ranks / self.nodes)

    @property
    def tier(self) -> Tier | None:
        """The outermost tier that the ranks need."""
        if self.cluster is None or self.ranks is None:
            return None
        if self.rdma:
            return self.cluster.tiers[0]
        domain = self.cluster.tiers[0].domain_size
        inside = domain is None or self.ranks <= domain
        if self.nodes is not None and domain is not None and domain <= self.cluster.node_size:
            inside = inside and self.nodes <= 1
        return self.cluster.tiers[0] if inside or len(self.cluster.tiers) < 2 else self.cluster.tiers[1]

    @property
    def scale_out(self) -> bool:
        """Whether the run leaves the scale-up domain."""
        tier = self.tier
        return tier is not None and self.cluster is not None and tier is not self.cluster.tiers[0]

    def view(self) -> SettingView:
        """The setting as the answer shows it."""
        tier, cluster, context = self.tier, self.cluster, self.context
        outer = cluster.tiers[1] if cluster is not None and len(cluster.tiers) > 1 else None
        return SettingView(
            operation=self.operation,
            ranks=self.ranks,
            nodes=self.nodes,
            ranks_per_node=self.ranks_per_node,
            accelerator=cluster.accelerator.id if cluster is not None else context.accelerator,
            system=cluster.system.id if cluster is not None and cluster.system is not None else "",
            tier=tier.name if tier is not None else "",
            transport=self.transport,
            nic_Bps=outer.bandwidth_Bps if outer is not None else context.nic_Bps,
            algorithm=context.algorithm,
            protocol=context.protocol,
            nvls=context.nvls,
            tier_kind="" if tier is None else "scale-out" if self.scale_out else "scale-up",
            tier_transport="" if tier is None else (self.transport if self.scale_out and self.transport else tier.transport),
        )


def setting_of(
    log: CollectiveLog, operation: str, samples: Sequence[CollectiveSample], asked: Asked, above: BenchmarkContext | None = None
) -> Setting:
    """The setting of one operation of a log; ``above`` is what an earlier run of the same file says of itself.

    Raises:
        InputError: a flag or file cannot be used.
        UnknownNameError: nobody knows the system named by a flag.
    """
    context, taken = log.context, list[Assumption]()
    if log.tool in RDMA_TOOLS:
        return _between_nics(log, operation, samples, asked)
    if log.matrices and operation == "point_to_point":
        context = replace(context, ranks=2, nodes=1)
        taken.append(Assumption("size", "256 MiB", "compare.assumed.matrix_size"))
    ranks = context.ranks if log.matrices else asked.ranks or context.ranks
    if ranks is None and context.nodes and context.ranks_per_node:
        ranks = context.nodes * context.ranks_per_node
    derived = ranks_by_ratio(operation, samples) if ranks is None or (asked.ranks is None and not context.hosts) else None
    if derived is not None and ranks in (None, derived):
        ranks = derived
        taken.append(Assumption("ranks", ranks, "compare.assumed.ranks_ratio", {"operation": operation}))
    if above is not None and not context.accelerator and asked.cluster is None and asked.system is None and above.ranks in (None, ranks):
        context = replace(context, accelerator=above.accelerator, nodes=context.nodes or above.nodes, nic_Bps=context.nic_Bps or above.nic_Bps)
        taken.append(Assumption("accelerator", above.accelerator, "compare.assumed.same_file"))
    cluster, noted, nic_given = _cluster(context, asked, ranks)
    if cluster is not None and (printed := _other_accelerator(context, cluster)):
        noted.append(Assumption("accelerator", cluster.accelerator.id, "compare.assumed.flag_over_log", {"printed": printed}))
    nodes = asked.nodes or context.nodes or (len(set(context.hosts)) or None)
    if nodes is None and ranks is not None and context.ranks_per_node:
        nodes = math.ceil(ranks / context.ranks_per_node)
    if ranks is not None and cluster is not None:
        nodes = _settle_nodes(nodes, ranks, cluster, asked, taken)
        if nodes != 1 and not nic_given and not any(a.field == "nic" for a in noted):
            noted.append(_assumed_nic(cluster))
    missing = []
    if cluster is None:
        missing.append(MissingFact("accelerator", "--system ID"))
    if ranks is None:
        missing.append(MissingFact("ranks", "-n N"))
    transport = _transport(asked.transport or context.transport)
    return Setting(operation, context, log.size_basis, ranks, nodes, cluster, transport, nic_given, tuple(missing), (*taken, *noted))


def _between_nics(log: CollectiveLog, operation: str, samples: Sequence[CollectiveSample], asked: Asked) -> Setting:
    """One NIC against another: neither accelerators nor a library take part."""
    context = log.context
    transport = _transport(asked.transport or context.transport) or "infiniband"
    nic_Bps, noted = context.nic_Bps, list[Assumption]()
    if asked.nic is not None:
        nic_Bps = nic_rate(asked.nic)
    elif asked.cluster is not None or asked.system is not None:
        cluster, noted, _ = _cluster(context, asked, 2)
        outer = [t for t in cluster.tiers if t.kind == "scale-out"] if cluster is not None else []
        nic_Bps = outer[0].bandwidth_Bps if outer else nic_Bps
    missing = () if nic_Bps is not None else (MissingFact("nic", "--nic RATE"),)
    host = Accelerator("host", "host", "", {}, 0.0, 0.0, kind="host")
    tiers = (Tier(f"NIC ({transport})", "scale-out", None, nic_Bps or 0.0, 0.0, transport),)
    cluster = None if nic_Bps is None else Cluster(host, 2, 1, tiers)
    kind: Literal["bandwidth", "latency"] = "latency" if any(s.time_s for s in samples) else "bandwidth"
    return Setting(operation, context, log.size_basis, 2, 2, cluster, transport, True, missing, tuple(noted), kind)


def nic_rate(given: str | float, key: str = "--nic") -> float:
    """The rate of a NIC in bytes/s per direction; a text must say bit or byte.

    Raises:
        InputError: no rate, not positive, or bits and bytes are both possible (``400G``).
    """
    if isinstance(given, int | float):
        return float(given)
    place = Place(key=key)
    found = parse_as(given, "B/s", key=key, place=place)
    # Without the default unit that the dimension gives, a bare prefix shows as ambiguous.
    if parse_quantity(given, place=place).ambiguous:
        raise InputError("compare.nic_unclear", place=place, value=given)
    rate_Bps = per_direction_Bps(found, assume="per-direction")
    if not 0 < rate_Bps < math.inf:
        raise InputError("value.not_positive", place=place, key=key, value=given)
    return rate_Bps


def _transport(name: str) -> str:
    return TRANSPORTS.get(name.casefold(), name.casefold())


def ranks_by_ratio(operation: str, samples: Sequence[CollectiveSample]) -> int | None:
    """The ranks that follow from busbw over algbw; ``None`` where the figures are too coarse, or the operation's ratio says nothing.

    The ratio is 2(n-1)/n for all_reduce and (n-1)/n for all_gather, reduce_scatter and all_to_all (nccl-tests, PERFORMANCE.md). Two
    decimals are printed, so the error of the ratio is known, and exactly one whole number must lie inside it.
    """
    scale = {"all_reduce": 2.0, "all_gather": 1.0, "reduce_scatter": 1.0, "all_to_all": 1.0}.get(operation)
    pairs = [(s.algbw_Bps, s.busbw_Bps) for s in samples if s.algbw_Bps and s.busbw_Bps]
    if scale is None or not pairs:
        return None
    algbw, busbw = max(pairs, key=lambda pair: pair[0])
    ratio = busbw / algbw / scale
    slack = 0.005e9 * (1 / busbw + 1 / algbw) * ratio
    least, most = (1 / (1 - ratio + d) if ratio - d < 1 else math.inf for d in (slack, -slack))
    if not math.isfinite(least):
        return None
    first = math.ceil(least - 1e-9)
    return first if 2 <= first <= most < first + 1 else None


def _cluster(context: BenchmarkContext, asked: Asked, ranks: int | None) -> tuple[Cluster | None, list[Assumption], bool]:
    """The cluster, what was assumed of it, and whether its network is as somebody said."""
    book = Notebook({})
    told: dict[str, Any] = {"accelerators": ranks or 1}
    if asked.nic is not None:
        told["nic"] = nic_rate(asked.nic)
    elif context.nic_Bps is not None:
        told["nic"] = context.nic_Bps
    named = asked.cluster if asked.cluster is not None else asked.system
    flag = "--cluster" if asked.cluster is not None else "--system"

    def place_of(name: str) -> Place:
        return Place(key=flag if name == "system" else _FLAGS.get(name, name))

    if named is not None:
        told["system"] = named
        if (known := _known_name(context)) and Path(named).suffix.lower() not in _DESCRIPTIONS and Path(named).is_file():
            # A topology dump may leave open which accelerator it shows.
            told["accelerator"] = known
        cluster = cluster_for(None, told, place_of, book)
        return cluster, book.assumptions, not any(a.field == "nic" for a in book.assumptions)
    for name in _names(context.accelerator):
        try:
            cluster = cluster_for(None, {**told, "accelerator": name}, place_of, book)
        except UnknownNameError:
            book.assumptions.clear()
            continue
        return cluster, book.assumptions, "nic" in told
    return None, [], False


def _known_name(context: BenchmarkContext) -> str:
    """The catalogue id of the accelerator that the log names; "" where the catalogue has none."""
    for name in _names(context.accelerator):
        try:
            return resolve("accelerator", name).id
        except UnknownNameError:
            continue
    return ""


def _other_accelerator(context: BenchmarkContext, cluster: Cluster) -> str:
    """The accelerator that the log names where it is not that of the cluster; "" where they agree or the name is not known."""
    known = _known_name(context)
    return context.accelerator if known and known != cluster.accelerator.id else ""


def _names(printed: str) -> list[str]:
    """Names to look up for a device, as drivers print it: ``NVIDIA H100 80GB HBM3`` is ``H100 80GB``.

    A suffix that tells parts apart (``NVL``, ``PCIe``) is never dropped.
    """
    words = [word for word in printed.replace("_", " ").split() if word.casefold() not in _BRANDS]
    if not words:
        return []
    plain = [word for word in words if not word.casefold().startswith("hbm")]
    short = [word for word in plain if not (word[:-2].isdigit() and word.casefold().endswith("gb"))]
    tries = [printed, " ".join(words), " ".join(plain), " ".join(short)]
    parts = " ".join(short).split("-")
    if len(parts) > 1 and parts[-1].casefold().endswith("gb"):
        tries.append("-".join(parts[:-1]))
    return list(dict.fromkeys(name for name in tries if name))


def _settle_nodes(nodes: int | None, ranks: int, cluster: Cluster, asked: Asked, taken: list[Assumption]) -> int:
    """The nodes of the run; a list of hosts that is too short for the ranks was cut."""
    full = math.ceil(ranks / cluster.node_size)
    if nodes is None:
        taken.append(Assumption("nodes", full, "compare.assumed.nodes", {"node_size": cluster.node_size, "ranks": ranks}))
        return full
    if nodes > ranks:
        raise InputError("compare.nodes_above_ranks", place=Place(key="--nodes"), value=nodes, ranks=ranks)
    if asked.nodes is None and nodes < full and (cluster.tiers[0].domain_size or ranks) <= cluster.node_size:
        taken.append(Assumption("nodes", full, "compare.assumed.nodes_cut", {"listed": nodes, "node_size": cluster.node_size, "ranks": ranks}))
        return full
    return nodes


def _assumed_nic(cluster: Cluster) -> Assumption:
    outer = next((tier for tier in cluster.tiers if tier.kind == "scale-out"), cluster.tiers[-1])
    name = cluster.system.id if cluster.system is not None else cluster.accelerator.id
    return Assumption("nic", f"{outer.bandwidth_Bps * 8 / 1e9:g} Gb/s", "compare.assumed.nic", {"system": name, "fabric": outer.name})

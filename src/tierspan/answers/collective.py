"""``tierspan collective``: what one collective costs on a cluster, by which algorithm, and what holds it back."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tierspan.answers.results import SCHEMA_VERSION
from tierspan.estimates.communication.cases import CollectiveCase, Place, keys_of, place_of
from tierspan.estimates.communication.constants import key_for, priors, shipped, value_of
from tierspan.estimates.communication.estimate import CollectiveEstimate, estimate_collectives
from tierspan.estimates.communication.experts import ExpertCase, ExpertEstimate, estimate_experts
from tierspan.laws.communication.protocols import PROTOCOLS
from tierspan.laws.communication.selection import ALGORITHMS, LIBRARY_CHOICE, candidates
from tierspan.quantities.display import Shown
from tierspan.quantities.errors import InputError, nearest_names
from tierspan.quantities.errors import Place as Where
from tierspan.quantities.findings import Assumption
from tierspan.specs.hardware import Cluster, check_reach
from tierspan.specs.tier_rules import joins_hosts, with_network

CURVE: Final = tuple(float(2**k) for k in range(3, 35))
"""Sizes of the curve in bytes: 8 B to 16 GiB, doubling."""
EXPERTS: Final = ("dispatch", "combine")
OPERATIONS: Final = (*LIBRARY_CHOICE, *EXPERTS)
_TOLD: Final = ("net_hop_s", "net_share", "up_share", "nvls_share", "base_ll_s", "base_simple_s")


@dataclass(frozen=True, slots=True)
class CollectivePoint:
    """One size of the curve; bandwidths in bytes/s, ``busbw_Bps`` ``None`` where the operation has no such convention."""

    size_bytes: float
    time_s: float
    low_s: float | None
    high_s: float | None
    algbw_Bps: float
    busbw_Bps: float | None
    algorithm: str
    protocol: str


@dataclass(frozen=True, slots=True)
class TierCrossed:
    """A tier that the group uses: how many of its ranks share one domain, and the line rate of a rank, one direction, in bytes/s.

    ``transport`` is the one that runs; where that is not the catalogue's, ``latency_s`` is a hop of it instead of the catalogue's.
    """

    name: str
    kind: str
    transport: str
    ranks_in_domain: int
    domains: int
    line_rate_Bps: float
    latency_s: float
    binds: bool


@dataclass(frozen=True, slots=True, repr=False)
class CollectiveAnswer(Shown):
    """Answer of ``collective``. SI: bytes, s, bytes/s per direction and rank.

    ``floor_s`` is the time of an empty message, ``wire_s`` that of the bytes alone; ``bound`` is ``latency`` or ``wire``, the larger of the two.
    ``line_rate_Bps`` belongs to ``binding_tier``, ``effective_Bps`` is what large messages reach of it. ``half_peak_bytes`` is the size from which
    half of the largest busbw is reached. ``forced`` are the library's other algorithms that can run there,
    with their times.
    """

    operation: str
    size_bytes: float
    ranks: int
    ranks_per_node: int
    time_s: float
    low_s: float | None
    high_s: float | None
    algbw_Bps: float
    busbw_Bps: float | None
    algorithm: str
    protocol: str
    floor_s: float
    wire_s: float
    bound: str
    span: str
    binding_tier: str
    line_rate_Bps: float | None
    effective_Bps: float | None
    half_peak_bytes: float | None
    curve: tuple[CollectivePoint, ...]
    tiers: tuple[TierCrossed, ...]
    forced: dict[str, float]
    assumptions: tuple[Assumption, ...]
    sources: tuple[str, ...]
    profile_version: str
    schema_version: str = SCHEMA_VERSION


@dataclass(frozen=True, slots=True)
class ExpertTokens:
    """What a dispatch or combine carries: tokens of a rank, elements of a token, experts a token goes to, bytes of an element."""

    tokens: int
    hidden: int
    topk: int
    element_bytes: float = 1.0
    low_latency: bool = False
    groups_limit: int | None = None


def collective(
    *,
    operation: str,
    cluster: Cluster,
    size_bytes: float | None = None,
    ranks: int | None = None,
    ranks_per_node: int | None = None,
    algorithm: str | None = None,
    protocol: str | None = None,
    nvls: bool | None = None,
    transport: str | None = None,
    library: str = "nccl",
    harness: str = "process",
    in_network: bool | None = None,
    tokens: ExpertTokens | None = None,
) -> CollectiveAnswer:
    """Estimate one collective.

    Args:
        operation: ``all_reduce``, ``all_gather``, ``reduce_scatter``, ``all_to_all``, ``broadcast``, ``reduce``, ``send_recv``, ``gather``,
            ``scatter``, ``point_to_point``, ``dispatch`` or ``combine``.
        cluster: where it runs.
        size_bytes: as nccl-tests counts (the whole buffer); of all but dispatch and combine.
        ranks: members of the group; default all accelerators.
        ranks_per_node: members on each host; default as many as the host has.
        algorithm: forced algorithm; default the library's choice. ``protocol`` and ``nvls`` likewise.
        protocol: ``LL``, ``LL128`` or ``Simple``.
        nvls: whether the library may reduce in the scale-up switch.
        transport: software path of the network where it is not the catalogue's (``efa``, ``tcpxo``, ``roce-gib``, ``tcp``).
        library: ``nccl``, ``rccl``, ``mscclpp``, ``ctran``.
        harness: who calls: ``process`` (one a rank), ``one_process`` or ``torch``.
        in_network: whether switches of the network reduce.
        tokens: of dispatch and combine.

    Raises:
        InputError: a value is unknown, not positive or cannot be used together with another.
    """
    if operation not in OPERATIONS:
        raise _unknown("operation", operation, OPERATIONS)
    count = cluster.accelerators if ranks is None else ranks
    per_node = min(count, cluster.node_size) if ranks_per_node is None else ranks_per_node
    for field, value in (("ranks", count), ("ranks_per_node", per_node)):
        if value < 1:
            raise InputError("value.not_positive", place=Where(key=field), key=field, value=value)
    if count < 2:
        raise InputError("collective.one_rank", place=Where(key="ranks"), value=count)
    if count > cluster.accelerators:
        raise InputError("collective.too_many_ranks", place=Where(key="ranks"), value=count, largest=cluster.accelerators)
    if per_node > cluster.node_size:
        raise InputError("collective.too_many_per_node", place=Where(key="ranks_per_node"), value=per_node, largest=cluster.node_size)
    hosts = math.ceil(count / per_node)
    if per_node < min(count, cluster.node_size) and not joins_hosts(cluster, hosts):
        check_reach(cluster.tiers, hosts * cluster.node_size, Where(key="ranks_per_node"))
    cluster = with_network(cluster)
    if operation in EXPERTS:
        if tokens is None:
            raise InputError("collective.tokens_missing", place=Where(key="tokens"), operation=operation)
        return _experts(operation, cluster, count, per_node, tokens)
    if size_bytes is None or not 0 < size_bytes < math.inf:
        raise InputError("value.not_positive", place=Where(key="size_bytes"), key="size_bytes", value=size_bytes)
    _check_choice(operation, algorithm, protocol)
    if algorithm == "collnet" and not _reduces(cluster, in_network):
        raise InputError("collective.no_in_network", place=Where(key="algorithm"), fabric=cluster.tiers[-1].name or cluster.tiers[0].name)
    asked = CollectiveCase(
        operation, size_bytes, cluster, count, per_node, algorithm=algorithm, protocol=protocol, nvls=nvls, transport=transport, library=library,
        harness=harness, in_network=in_network,
    )  # fmt: skip
    return _answer(asked, ranks_per_node is None)


def _answer(asked: CollectiveCase, usual_per_node: bool) -> CollectiveAnswer:
    sizes = (asked.size_bytes, *CURVE)
    reduces = _reduces(asked.cluster, asked.in_network)
    others = [a for a in LIBRARY_CHOICE[asked.operation] if a != asked.algorithm and (a != "collnet" or reduces)]
    cases = [replace(asked, size_bytes=s) for s in sizes] + [replace(asked, algorithm=a, protocol=None) for a in others]
    found = estimate_collectives(cases)
    if not np.isfinite(found.time_s[0]):
        raise InputError("collective.cannot_run", place=Where(key="algorithm"), operation=asked.operation, value=asked.algorithm or "")
    place = place_of(asked)
    points = tuple(_point(found, i) for i in range(1, len(sizes)))
    peak = max((p.busbw_Bps or p.algbw_Bps) for p in points)
    half = next((p.size_bytes for p in points if (p.busbw_Bps or p.algbw_Bps) >= peak / 2), None)
    forced = {a: float(t) for a, t in zip(others, found.time_s[len(sizes) :], strict=True) if np.isfinite(t) and a != found.algorithm[0]}
    first = _point(found, 0)
    return CollectiveAnswer(
        operation=asked.operation,
        size_bytes=asked.size_bytes,
        ranks=asked.ranks,
        ranks_per_node=asked.ranks_per_node,
        time_s=first.time_s,
        low_s=first.low_s,
        high_s=first.high_s,
        algbw_Bps=first.algbw_Bps,
        busbw_Bps=first.busbw_Bps,
        algorithm=first.algorithm,
        protocol=first.protocol,
        floor_s=float(found.latency_floor_s[0]),
        wire_s=float(found.wire_s[0]),
        bound="wire" if found.wire_s[0] >= found.latency_floor_s[0] else "latency",
        span=found.span[0],
        binding_tier=found.binding_tier[0],
        line_rate_Bps=_finite(found.line_rate_Bps[0]),
        effective_Bps=_finite(found.effective_Bps[0]),
        half_peak_bytes=half,
        curve=points,
        tiers=_tiers(asked, place, found.binding_tier[0]),
        forced=dict(sorted(forced.items(), key=lambda item: item[1])),
        assumptions=_assumptions(asked, place, usual_per_node),
        sources=_sources(asked, place),
        profile_version=shipped().version,
    )


def _reduces(cluster: Cluster, in_network: bool | None) -> bool:
    """Whether switches of the network reduce: as the caller says, else as the tiers do."""
    return any(t.in_network_reduction for t in cluster.tiers if t.kind != "scale-up") if in_network is None else in_network


def _experts(operation: str, cluster: Cluster, ranks: int, per_node: int, tokens: ExpertTokens) -> CollectiveAnswer:
    case = ExpertCase(
        operation, tokens.tokens, tokens.hidden, tokens.topk, cluster, ranks, per_node, tokens.element_bytes, tokens.low_latency, tokens.groups_limit
    )
    found: ExpertEstimate = estimate_experts([case])
    place = place_of(CollectiveCase(operation, 0.0, cluster, ranks, per_node))
    volume, time = float(found.volume_bytes[0]), float(found.time_s[0])
    start = float(found.start_s[0])
    tiers = _tiers(CollectiveCase(operation, volume, cluster, ranks, per_node), place, found.span[0])
    return CollectiveAnswer(
        operation=operation,
        size_bytes=volume,
        ranks=ranks,
        ranks_per_node=per_node,
        time_s=time,
        low_s=float(found.low_s[0]),
        high_s=float(found.high_s[0]),
        algbw_Bps=volume / time,
        busbw_Bps=None,
        algorithm="low latency" if tokens.low_latency else "normal",
        protocol="",
        floor_s=start,
        wire_s=time - start,
        bound="wire" if time - start >= start else "latency",
        span=found.span[0],
        binding_tier=found.span[0],
        line_rate_Bps=_finite(found.line_rate_Bps[0]),
        effective_Bps=None,
        half_peak_bytes=None,
        curve=(),
        tiers=tiers,
        forced={},
        assumptions=(Assumption("routing", "uniform", "collective.assumed.routing"),),
        sources=("deepseek-ai/DeepEP docs/legacy.md", "uccl-project/uccl"),
        profile_version=shipped().version,
    )


def _point(found: CollectiveEstimate, i: int) -> CollectivePoint:
    size = float(found.algbw_Bps[i] * found.time_s[i])
    return CollectivePoint(
        size, float(found.time_s[i]), _finite(found.low_s[i]), _finite(found.high_s[i]), float(found.algbw_Bps[i]), _finite(found.busbw_Bps[i]),
        found.algorithm[i], found.protocol[i],
    )  # fmt: skip


def _tiers(case: CollectiveCase, place: Place, binding: str) -> tuple[TierCrossed, ...]:
    crossed = []
    if place.up is not None and place.members > 1:
        up = place.up
        crossed.append(
            TierCrossed(up.name, up.kind, up.transport, int(place.members), int(place.groups), place.up_Bps, up.latency_s, up.name == binding)
        )
    if place.net is not None and place.groups > 1:
        net, transport, latency_s = place.net, place.net.transport, place.net.latency_s
        if case.transport is not None and case.transport != transport:
            transport, latency_s = case.transport, value_of("net_hop_s", keys_of(case, place), shipped(), latency_s)
        crossed.append(TierCrossed(net.name, net.kind, transport, case.ranks, 1, place.net_Bps, latency_s, net.name == binding))
    return tuple(crossed)


def _assumptions(case: CollectiveCase, place: Place, usual_per_node: bool) -> tuple[Assumption, ...]:
    made = []
    if usual_per_node:
        made.append(Assumption("ranks_per_node", case.ranks_per_node, "collective.assumed.ranks_per_node"))
    keys = keys_of(case, place)
    if place.groups > 1 and key_for("net_share", keys) == "*":
        made.append(Assumption("transport", keys.transport, "collective.assumed.transport", {"transport": keys.transport}))
    if place.members > 1 and key_for("up_share", keys) == "*":
        made.append(Assumption("fabric", keys.generation, "collective.assumed.fabric", {"fabric": keys.generation}))
    if case.ranks != int(place.members * place.groups):
        made.append(Assumption("placement", int(place.groups), "collective.assumed.partial_domain", {"domains": int(place.groups)}))
    return tuple(made)


def _sources(case: CollectiveCase, place: Place) -> tuple[str, ...]:
    keys = keys_of(case, place)
    told = [priors()[name][key].source for name in _TOLD if (key := key_for(name, keys))]
    facts = [f.source.reference for tier in (place.up, place.net) if tier is not None for f in tier.facts if f.used and f.key == "bandwidth"]
    record = shipped().record
    fitted = [f"fit of {record['date']} on {record['data']} ({record['pages']} pages)"] if record else []
    return tuple(dict.fromkeys([*facts, *fitted, *told]))


def _check_choice(operation: str, algorithm: str | None, protocol: str | None) -> None:
    if algorithm is not None and algorithm not in {a for a, _ in candidates(operation)}:
        raise _unknown("algorithm", algorithm, tuple(dict.fromkeys(a for a, _ in candidates(operation))) if algorithm in ALGORITHMS else ALGORITHMS)
    if protocol is not None and protocol not in PROTOCOLS:
        raise _unknown("protocol", protocol, PROTOCOLS)


def _unknown(field: str, value: str, known: tuple[str, ...]) -> InputError:
    near = nearest_names(value, known)
    return InputError("collective.unknown", place=Where(key=field), field=field, value=value, known=", ".join(near or known))


def _finite(value: float) -> float | None:
    number = float(value)
    return number if math.isfinite(number) else None

"""Collectives to seconds: cases to arrays, candidates priced, the cheapest taken, an interval put around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tierspan.estimates.communication.cases import CollectiveCase, Keys, Place, keys_of, place_of, setting_of
from tierspan.estimates.communication.constants import CommunicationProfile, gather, key_for, priors, shipped
from tierspan.estimates.communication.intervals import NEW_CASE, bounds_for
from tierspan.laws.communication.base import Array, Mask, Setting
from tierspan.laws.communication.point_to_point import stream_s
from tierspan.laws.communication.protocols import Constants
from tierspan.laws.communication.selection import LIBRARY_CHOICE, Choice, candidates, choose
from tierspan.specs.benchmark import busbw_factor

RDMA = ("rdma_stream", "rdma_latency")
"""One NIC against another, without a collective library."""
SIZE_STEPS = (2.0**20, 2.0**26)
SIZE_CLASSES = ("below 1 MiB", "1 MiB to 64 MiB", "64 MiB and above")
DIRECT_LIBRARIES = ("mscclpp",)
"""Libraries whose kernels exchange directly; the others run rings and trees."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Cases as arrays: where they run, their constants, and per operation which rows may use which candidate."""

    setting: Setting
    constants: Constants
    operation: tuple[str, ...]
    keys: tuple[Keys, ...]
    places: tuple[Place, ...]
    latency_s: tuple[float, ...]
    plans: tuple[tuple[str, NDArray[np.int64], dict[tuple[str, str], Mask]], ...]

    def take(self, rows: NDArray[np.int64]) -> Batch:
        """The cases at ``rows`` (ascending positions)."""
        plans = []
        for operation, own, allowed in self.plans:
            _, mine, there = np.intersect1d(own, rows, assume_unique=True, return_indices=True)
            if there.size:
                plans.append((operation, there, {name: mask[mine] for name, mask in allowed.items()}))
        return Batch(
            self.setting.take(rows),
            self.constants.take(rows),
            tuple(self.operation[i] for i in rows),
            tuple(self.keys[i] for i in rows),
            tuple(self.places[i] for i in rows),
            tuple(self.latency_s[i] for i in rows),
            tuple(plans),
        )


def spread(templates: Batch, index: NDArray[np.int64], size_bytes: Array) -> Batch:
    """A batch that repeats the cases of ``templates`` (``index``: which one stands in each row) at the sizes ``size_bytes``."""
    plans = []
    for operation, own, allowed in templates.plans:
        position = np.full(len(templates.operation), -1, dtype=np.int64)
        position[own] = np.arange(own.size)
        rows = np.flatnonzero(position[index] >= 0)
        mine = position[index[rows]]
        plans.append((operation, rows, {name: mask[mine] for name, mask in allowed.items()}))
    return Batch(
        replace(templates.setting.take(index), size_bytes=size_bytes),
        templates.constants.take(index),
        tuple(templates.operation[i] for i in index.tolist()),
        tuple(templates.keys[i] for i in index.tolist()),
        tuple(templates.places[i] for i in index.tolist()),
        tuple(templates.latency_s[i] for i in index.tolist()),
        tuple(plans),
    )


def templates_of(cases: Sequence[CollectiveCase]) -> tuple[list[CollectiveCase], NDArray[np.int64], Array]:
    """The different cases but for their size, which of them each case is, and the sizes. The same cluster object counts as the same cluster."""
    position: dict[object, int] = {}
    kept: list[CollectiveCase] = []
    index = np.empty(len(cases), dtype=np.int64)
    for i, c in enumerate(cases):
        key = (
            c.operation, id(c.cluster), c.ranks, c.ranks_per_node, c.algorithm, c.protocol, c.nvls, c.transport, c.library, c.harness,
            c.in_network, c.channels, c.rail_aligned,
        )  # fmt: skip
        at = position.get(key, -1)
        if at < 0:
            at = position[key] = len(kept)
            kept.append(c)
        index[i] = at
    return kept, index, np.array([c.size_bytes for c in cases], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Raw:
    """What the laws give for a batch; ``choice`` counts in ``candidates`` of the operation, -1 where nothing can run."""

    time_s: Array
    latency_s: Array
    wire_s: Array
    choice: NDArray[np.int64]
    up_bound: Mask


@dataclass(frozen=True, slots=True)
class CollectiveEstimate:
    """Estimates, one entry a case: times in s, rates in bytes/s. NaN where no algorithm can run.

    ``latency_floor_s`` is the time of an empty message, ``wire_s`` that of the bytes alone on the tier that binds, ``line_rate_Bps`` that tier's line
    rate per rank and direction and ``effective_Bps`` what large messages reach of it.
    """

    time_s: Array
    low_s: Array
    high_s: Array
    busbw_Bps: Array
    algbw_Bps: Array
    latency_floor_s: Array
    wire_s: Array
    algorithm: tuple[str, ...]
    protocol: tuple[str, ...]
    span: tuple[str, ...]
    binding_tier: tuple[str, ...]
    line_rate_Bps: Array
    effective_Bps: Array
    regime: tuple[str, ...]


def batch_of(cases: Sequence[CollectiveCase], profile: CommunicationProfile | None = None) -> Batch:
    """Stack cases."""
    places = tuple(place_of(c) for c in cases)
    keys = tuple(keys_of(c, p) for c, p in zip(cases, places, strict=True))
    latency = tuple(p.net.latency_s if p.net is not None else 0.0 for p in places)
    plans = []
    for operation in dict.fromkeys(c.operation for c in cases):
        rows = np.array([i for i, c in enumerate(cases) if c.operation == operation], dtype=np.int64)
        plans.append((operation, rows, {} if operation in RDMA else _allowed(operation, [cases[i] for i in rows])))
    constants = gather(keys, latency, profile or shipped())
    return Batch(
        setting_of(cases, places, priors()["cross_rail_share"]["*"].value),
        constants,
        tuple(c.operation for c in cases),
        keys,
        places,
        latency,
        tuple(plans),
    )


def _allowed(operation: str, cases: Sequence[CollectiveCase]) -> dict[tuple[str, str], Mask]:
    allowed = {}
    for algorithm, protocol in candidates(operation):
        mask = np.array([_may(operation, algorithm, protocol, c) for c in cases], dtype=bool)
        if mask.any():
            allowed[algorithm, protocol] = mask
    return allowed


def _may(operation: str, algorithm: str, protocol: str, case: CollectiveCase) -> bool:
    if case.protocol is not None and case.protocol != protocol:
        return False
    if case.algorithm is not None:
        return case.algorithm == algorithm
    if case.library in DIRECT_LIBRARIES and operation in ("all_reduce", "all_gather"):
        return algorithm in ("one_shot", "two_shot", "hierarchical", "nvls")
    return algorithm in LIBRARY_CHOICE[operation]


def evaluate(batch: Batch, constants: Constants | None = None) -> Raw:
    """Price a batch. ``constants`` instead of the batch's own (a fit moves them)."""
    c = constants or batch.constants
    n = len(batch.operation)
    time, latency, wire = (np.full(n, np.nan) for _ in range(3))
    choice = np.full(n, -1, dtype=np.int64)
    bound = np.zeros(n, dtype=bool)
    for operation, rows, allowed in batch.plans:
        whole = rows.size == n
        s, k = (batch.setting, c) if whole else (batch.setting.take(rows), c.take(rows))
        if operation in RDMA:
            hop = k.net_hop_s if operation == "rdma_latency" else k.message_s
            line = s.net_Bps * k.net_share
            sent = s.size_bytes / line
            time[rows] = hop + sent if operation == "rdma_latency" else stream_s(s.size_bytes, line, hop)
            latency[rows], wire[rows], choice[rows] = hop, sent, 0
            continue
        chosen = choose(operation, s, k, allowed)
        ran = chosen.index >= 0
        time[rows], latency[rows], wire[rows] = np.where(ran, chosen.time_s, np.nan), chosen.latency_s, chosen.wire_s
        choice[rows], bound[rows] = chosen.index, chosen.up_bound
    return Raw(time, latency, wire, choice, bound)


def estimate_collectives(cases: Sequence[CollectiveCase], profile: CommunicationProfile | None = None) -> CollectiveEstimate:
    """Estimate collectives.

    Args:
        cases: what runs where; operations of ``selection.LIBRARY_CHOICE``, ``rdma_stream`` and ``rdma_latency``.
        profile: constants; default the shipped ones.
    """
    profile = profile or shipped()
    templates, index, size = templates_of(cases)
    first = batch_of(templates, profile)
    batch = spread(first, index, size)
    raw = evaluate(batch)
    factor = np.array([busbw_factor(c.operation, c.ranks) or np.nan for c in templates], dtype=np.float64)[index]
    tables = {operation: _names(operation) for operation, _, _ in batch.plans}
    names = [tables[o][i] for o, i in zip(batch.operation, raw.choice.tolist(), strict=True)]
    inside = raw.up_bound & np.isfinite(batch.setting.up_Bps)
    line = np.where(inside, batch.setting.up_Bps, batch.setting.net_Bps)
    classes = [_regimes(p, k) for p, k in zip(first.places, first.keys, strict=True)]
    regimes = tuple(classes[i][z] for i, z in zip(index.tolist(), _size_class(size).tolist(), strict=True))
    low, high = bounds_for(regimes, profile.record.get("intervals", {}))
    with np.errstate(divide="ignore", invalid="ignore"):
        algbw = size / raw.time_s
    spans = [p.span for p in first.places]
    tiers = [{u: _tier_name(p, u) for u in (False, True)} for p in first.places]
    c = batch.constants
    reduced = np.array([a in ("nvls", "nvls_tree", "collnet") for a, _ in names], dtype=bool)
    effective = line * np.where(inside, np.where(reduced, c.nvls_share, c.up_share), c.net_share)
    return CollectiveEstimate(
        time_s=raw.time_s,
        low_s=raw.time_s * low,
        high_s=raw.time_s * high,
        busbw_Bps=algbw * factor,
        algbw_Bps=algbw,
        latency_floor_s=raw.latency_s,
        wire_s=raw.wire_s,
        algorithm=tuple(a for a, _ in names),
        protocol=tuple(p for _, p in names),
        span=tuple(spans[i] for i in index.tolist()),
        binding_tier=tuple(tiers[i][u] for i, u in zip(index.tolist(), inside.tolist(), strict=True)),
        line_rate_Bps=line,
        effective_Bps=effective,
        regime=regimes,
    )


def regime_of(case: CollectiveCase, place: Place, keys: Keys) -> str:
    """The class by which intervals are told: size x one or many domains, and whether transport or fabric have constants of their own."""
    return _regimes(place, keys)[int(_size_class(np.array([case.size_bytes]))[0])]


def _size_class(size_bytes: Array) -> NDArray[np.int64]:
    return np.searchsorted(np.array(SIZE_STEPS), size_bytes, side="right").astype(np.int64)


def _regimes(place: Place, keys: Keys) -> tuple[str, ...]:
    span = "many domains" if place.groups > 1 else "one domain"
    known = key_for("net_share" if place.groups > 1 else "up_share", keys) != "*"
    return tuple(f"{name}, {span}" if known else NEW_CASE for name in SIZE_CLASSES)


def estimate_sizes(case: CollectiveCase, size_bytes: Array, profile: CommunicationProfile | None = None) -> Choice:
    """One case at many sizes (bytes, shape (n,)) in one call: the size curve, without the cost of a case for each."""
    batch = batch_of([case], profile)
    operation, _, allowed = batch.plans[0]
    return choose(operation, replace(batch.setting, size_bytes=np.asarray(size_bytes, dtype=np.float64)), batch.constants, allowed)


def _names(operation: str) -> list[tuple[str, str]]:
    """Algorithm and protocol by position in ``candidates``; the last one (-1) is nothing."""
    return [("rdma", ""), ("", "")] if operation in RDMA else [*candidates(operation), ("", "")]


def _tier_name(place: Place, inside: bool) -> str:
    tier = place.up if inside else place.net
    return tier.name if tier is not None else ""

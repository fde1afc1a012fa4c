"""Causes in the scale-out network: rails, RDMA, paths, cables."""

from __future__ import annotations

import math
from dataclasses import replace

from tierspan.answers.comparison.causes.base import Evidence, Found, Rule, gigabytes, percent
from tierspan.answers.comparison.verdict import measured_rate

_TCP = ("tcp", "ethernet", "socket", "ipoib")
_LOSSLESS = ("infiniband",)
_LATENCY_BYTES = 64 * 1024
_SOCKETS = 0.1
"""Below a tenth of the expectation hardly anything but sockets is left."""


def _outside(e: Evidence) -> bool:
    return e.setting.scale_out and bool(e.deciding)


def _tcp(e: Evidence) -> Found | None:
    """RDMA was not used: the log says so, or latency and bandwidth are both those of sockets."""
    if not _outside(e):
        return None
    said = e.setting.context.transport.casefold()
    if said in _TCP or said in ("socket",) or e.environment("NCCL_IB_DISABLE") == "1" or e.environment("NCCL_NET").casefold() == "socket":
        names = {"transport": said or "socket", "interface": e.environment("NCCL_SOCKET_IFNAME") or "-"}
        return Found(9.0, names, "said")
    if e.ratio < _SOCKETS:
        return Found(4.5, {"share": percent(e.ratio), "measured": gigabytes(e.measured_Bps)}, "plateau")
    slow = _latency_ratio(e)
    if e.ratio < 0.35 and slow is not None and slow > 2.0:
        return Found(4.0, {"times": f"{slow:.1f}", "share": percent(e.ratio)})
    return None


def _rail_missing(e: Evidence) -> Found | None:
    """The plateau is what k of n NICs carry."""
    cluster = e.setting.cluster
    if not _outside(e) or cluster is None or not e.bad:
        return None
    listed = e.setting.context.nics_per_node or (cluster.system.nics_per_node if cluster.system is not None else None)
    nics = int(listed or cluster.node_size)
    fits = [(e.explains(e.with_network(k / nics)), k) for k in range(1, nics)]
    best, k = max(fits, default=(0.0, 0))
    if best <= 0:
        return None
    # Any plateau lies near one of many fractions: few NICs, or a half and a quarter, are the telling ones.
    telling = 1.0 if nics <= 4 or k * 2 == nics or k == nics - 1 or k * 4 == nics or k == 1 else 0.6
    values = {"k": k, "n": nics, "measured": gigabytes(e.measured_Bps), "off": percent(abs(e.under(e.with_network(k / nics)) - 1))}
    return Found(telling * (1.5 + 2.0 * best), values)


def _no_gdr(e: Evidence) -> Found | None:
    """The data go through host memory."""
    if not _outside(e):
        return None
    level = e.environment("NCCL_NET_GDR_LEVEL").upper()
    if e.setting.context.gpu_direct_rdma is False:
        return Found(7.0, {}, "said")
    if level in ("0", "LOC"):
        return Found(6.0, {"level": level}, "level")
    if 0.2 < e.ratio < 0.65 and e.setting.context.gpu_direct_rdma is None:
        return Found(1.8, {"share": percent(e.ratio)})
    return None


def _collisions(e: Evidence) -> Found | None:
    """Flows share uplinks: several nodes, a loss that a full fabric with good hashing would not show."""
    nodes, tier = e.setting.nodes or 1, e.setting.tier
    if not _outside(e) or nodes < 2 or not 0.3 < e.ratio < 0.95 or tier is None:
        return None
    switched = (e.setting.transport or tier.transport) in _LOSSLESS
    spread = _spread(e)
    points = (1.0 if switched else 2.2) + (0.6 if nodes >= 4 else 0.0) + (1.2 if spread > 0.1 else 0.0)
    values = {"share": percent(1 - e.ratio), "nodes": nodes, "spread": percent(spread), "transport": e.setting.transport or tier.transport}
    return Found(points, values, "spread" if spread > 0.1 else "")


def _sick_cable(e: Evidence) -> Found | None:
    """One pair of nodes well below the band: a port that came up at a lower rate, or errors on a link."""
    if not _outside(e) or not _SOCKETS < e.ratio <= 0.8:
        return None
    nodes = e.setting.nodes or 2
    points = (2.4 if nodes == 2 else 1.4) - (0.8 if e.ratio < 0.45 else 0.0)
    return Found(points, {"nodes": nodes, "share": percent(1 - e.ratio)})


def _cross_rail(e: Evidence) -> Found | None:
    """Traffic that leaves its rail crosses the spine: all-to-all, or rails that were crossed on purpose."""
    if not _outside(e) or e.ratio > 0.95:
        return None
    crossed = e.environment("NCCL_CROSS_NIC") == "1" or e.environment("NCCL_PXN_DISABLE") == "1"
    if e.setting.operation not in ("all_to_all", "send_recv", "dispatch", "combine") and not crossed:
        return None
    return Found(2.4 if crossed else 2.0, {"operation": e.setting.operation, "share": percent(1 - e.ratio)}, "said" if crossed else "")


def _few_ranks(e: Evidence) -> Found | None:
    """Fewer ranks on a node than it has accelerators: each drives one NIC, the others idle."""
    cluster, per_node = e.setting.cluster, e.setting.ranks_per_node
    if not _outside(e) or cluster is None or per_node is None or per_node >= cluster.node_size or (e.setting.nodes or 1) < 2:
        return None
    return Found(2.2, {"ranks": per_node, "node": cluster.node_size, "nodes": e.setting.nodes})


def _other_nic(e: Evidence) -> Found | None:
    """Nobody said what the NICs are, and the figures fit others than the usual ones."""
    if not _outside(e) or e.setting.nic_given or not e.bad or e.setting.cluster is None:
        return None
    usual = e.setting.cluster.tiers[1].bandwidth_Bps
    fits = [(e.explains(e.with_network(f)), f) for f in (0.5, 0.25, 0.125)]
    best, factor = max(fits)
    values = {"usual": f"{usual * 8 / 1e9:g}", "measured": gigabytes(e.measured_Bps), "fitted": f"{usual * factor * 8 / 1e9:g}"}
    return Found(2.0 + 1.5 * best, values, "fits" if best > 0 else "")


def _latency(e: Evidence) -> Found | None:
    """Small messages take far longer than expected between nodes."""
    slow = _latency_ratio(e)
    if not _outside(e) or slow is None or slow < 2.0 or not e.bad:
        return None
    return Found(1.2, {"times": f"{slow:.1f}"})


def _latency_ratio(e: Evidence) -> float | None:
    """Measured over expected time of the smallest message, where one below 64 KiB was measured."""
    small = [r for r in e.rows if r.size_bytes <= _LATENCY_BYTES and r.ratio]
    if not small:
        return None
    times = sorted(1 / r.ratio for r in small if r.ratio)
    return times[len(times) // 2]


def _spread(e: Evidence) -> float:
    """How far apart two measurements of one deciding size lie, at most."""
    by_size: dict[float, list[float]] = {}
    for r in e.deciding:
        if (rate := measured_rate(r)) is not None:
            by_size.setdefault(r.size_bytes, []).append(rate)
    return max((1 - min(v) / max(v) for v in by_size.values() if max(v) > 0), default=math.nan)


def _transport_given(e: Evidence) -> Found | None:
    """Another transport explains the figures better than the one that was taken."""
    if not _outside(e) or e.setting.context.transport or e.setting.transport or not e.bad:
        return None
    for other in ("efa", "tcp"):
        fit = e.explains(replace(e.setting, transport=other))
        if fit > 0:
            return Found(1.5 + fit, {"transport": other, "taken": e.setting.tier.transport if e.setting.tier else "-"})
    return None


RULES = (
    Rule("tcp", "scale-out", _tcp),
    Rule("rail_missing", "scale-out", _rail_missing),
    Rule("no_gdr", "scale-out", _no_gdr),
    Rule("collisions", "scale-out", _collisions),
    Rule("sick_cable", "scale-out", _sick_cable),
    Rule("cross_rail", "scale-out", _cross_rail),
    Rule("few_ranks", "scale-out", _few_ranks),
    Rule("other_nic", "scale-out", _other_nic),
    Rule("latency", "scale-out", _latency),
    Rule("other_transport", "scale-out", _transport_given),
)

"""Protocols: what a hop costs and which share of a link carries data; and the curve from small to large messages."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from tierspan.laws.communication.base import Array, Mask, Setting, Walk

PROTOCOLS = ("LL", "LL128", "Simple")
"""LL: 8-byte words, 4 of data and 4 of flag; LL128: 120 of 128 bytes data; Simple: whole lines with a fence and a flag a chunk."""


@dataclass(frozen=True, slots=True)
class Constants:
    """Constants of a set of rows, each of shape (n,) or (1,); times in s, shares of the line rate 0..1, ``..._Bps`` in bytes/s.

    ``launch_s`` what the host adds to every call; ``base_*_s`` the kernel's start by protocol; ``up_hop_*_s`` a hop inside a domain; ``net_hop_s``
    one between domains with LL, the others add ``net_extra_*_s``. With LL a hop grows by ``spread`` beyond ``spread_bytes``, when a message is spread
    over many channels and the slowest counts. ``latency_scale`` multiplies start and inner hops (clock of the accelerator).
    ``up_share``, ``nvls_share``, ``net_share``: what large messages reach of the line. ``tree_share``: what a tree reaches of ``up_share``,
    ``nvls_tree_share`` of ``nvls_share``. ``pair_loss``: loss with two ranks, falling with the square of the ranks. ``ll_Bps``, ``ll128_Bps``: what
    the threads of a rank copy across domains, ``ll_gain`` times that within one. ``fill``, ``fill_net``: time to fill the pipeline as a multiple of
    the latency; ``opening``: the wire time in one domain, likewise, until all channels are open. ``nvls_least_gain``: gain over a ring from which the
    library reduces in the switch. ``channel_Bps``: what one channel carries. ``message_s``: time to post one RDMA message.
    """

    launch_s: Array
    latency_scale: Array
    base_ll_s: Array
    base_ll128_s: Array
    base_simple_s: Array
    base_nvls_s: Array
    base_nvls_tree_s: Array
    up_hop_ll_s: Array
    up_hop_ll128_s: Array
    up_hop_simple_s: Array
    spread: Array
    spread_bytes: Array
    net_hop_s: Array
    net_extra_ll128_s: Array
    net_extra_simple_s: Array
    up_share: Array
    nvls_share: Array
    net_share: Array
    tree_share: Array
    nvls_tree_share: Array
    pair_loss: Array
    ll_Bps: Array
    ll128_Bps: Array
    ll_gain: Array
    fill: Array
    fill_net: Array
    opening: Array
    nvls_least_gain: Array
    channel_Bps: Array
    message_s: Array

    def take(self, rows: NDArray[np.int64] | Mask) -> Constants:
        """The rows at ``rows``."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return Constants(**{name: v if v.shape[-1] == 1 else v[rows] for name, v in values.items()})


@dataclass(frozen=True, slots=True)
class Price:
    """Time of an algorithm with a protocol: ``time_s`` = ``latency_s`` + ``wire_s`` + the filling of the pipeline."""

    time_s: Array
    latency_s: Array
    wire_s: Array
    up_bound: Mask


def start_and_hops(algorithm: str, protocol: str, c: Constants) -> tuple[Array, Array, Array]:
    """Start, hop inside and hop between domains of an algorithm with a protocol, in s (the structure of NCCL's tuning model)."""
    start = {"LL": c.base_ll_s, "LL128": c.base_ll128_s, "Simple": c.base_simple_s}[protocol]
    up = {"LL": c.up_hop_ll_s, "LL128": c.up_hop_ll128_s, "Simple": c.up_hop_simple_s}[protocol]
    net = {"LL": c.net_hop_s, "LL128": c.net_hop_s + c.net_extra_ll128_s, "Simple": c.net_hop_s + c.net_extra_simple_s}[protocol]
    if algorithm in ("nvls", "nvls_tree"):
        start = c.base_nvls_s if algorithm == "nvls" else c.base_nvls_tree_s
    return start * c.latency_scale, up * c.latency_scale, net


def price(algorithm: str, protocol: str, walk: Walk, s: Setting, c: Constants) -> Price:
    """Time of one algorithm with one protocol.

    latency L = launch + start + hops; wire W = max over tiers of bytes / (line x share x share of the protocol). Chunks fill the pipeline while the
    first of them travel: F W / (F + W) with F = fill x (L - launch), nothing for tiny messages, F for large ones.
    In one domain libraries open channels as messages grow, so that a larger message takes hardly longer until all are open: W and filling are
    multiplied by W / (W + O), O = opening x (L - launch). LL and LL128 are capped by what
    the threads copy.
    """
    start, up_hop, net_hop = start_and_hops(algorithm, protocol, c)
    if protocol == "LL":
        up_hop = up_hop * (1.0 + c.spread * s.size_bytes / (s.size_bytes + c.spread_bytes))
    travel = start + walk.up_hops * up_hop + walk.net_hops * net_hop
    data = {"LL": 0.5, "LL128": 120.0 / 128.0, "Simple": 1.0}[protocol]
    share = c.up_share * (1.0 - c.pair_loss * (2.0 / np.maximum(s.members, 2.0)) ** 2)
    if algorithm == "nvls":
        share = c.nvls_share
    elif algorithm in ("nvls_tree", "collnet"):
        share = c.nvls_share * c.nvls_tree_share
    elif algorithm == "tree":
        share = share * c.tree_share
    up = walk.up_bytes / np.minimum(s.up_Bps * share * data, s.channels * c.channel_Bps)
    net = walk.net_bytes / (s.net_Bps * c.net_share * data)
    wire = np.maximum(up, net)
    if protocol != "Simple":
        cap = (c.ll_Bps if protocol == "LL" else c.ll128_Bps) * np.where(s.groups > 1, 1.0, c.ll_gain)
        wire = np.maximum(wire, np.maximum(walk.up_bytes, walk.net_bytes * s.members) / cap)
    full = np.where(s.groups > 1, c.fill_net, c.fill) * travel
    filling = full * wire / np.maximum(full + wire, 1e-12)
    opening = np.where(s.groups > 1, 0.0, c.opening) * travel
    carried = (wire + filling) * wire / np.maximum(wire + opening, 1e-12)
    return Price(c.launch_s + travel + carried, c.launch_s + travel, wire, up >= net)

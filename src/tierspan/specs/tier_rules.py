"""What to say of the tiers of a cluster as a whole: an AI cluster has two, scale-up inside scale-out."""

from __future__ import annotations

import math
from dataclasses import replace

from tierspan.quantities.findings import Finding
from tierspan.specs.hardware import Cluster, Tier


def tier_findings(cluster: Cluster) -> tuple[Finding, ...]:
    """Which of the two usual tiers the cluster lacks; nothing to say of a single accelerator."""
    inner, outer = cluster.tiers[0], cluster.tiers[-1]
    if cluster.accelerators == 1:
        return ()
    if all(tier.kind == "scale-up" for tier in cluster.tiers):
        if outer.domain_size is None and cluster.accelerators > cluster.node_size:
            return (Finding("cluster.unbounded", "warning", {"tier": outer.name, "accelerators": cluster.accelerators}),)
        return (Finding("cluster.no_scale_out", "info", {"tier": outer.name, "domain": outer.domain_size or cluster.accelerators}),)
    if all(tier.kind != "scale-up" for tier in cluster.tiers):
        return (Finding("cluster.no_scale_up", "info", {"tier": inner.name}),)
    return ()


def joins_hosts(cluster: Cluster, hosts: int) -> bool:
    """Whether one domain of the outermost tier holds so many hosts."""
    joined = cluster.tiers[-1].domain_size
    return joined is None or hosts <= 1 or hosts * cluster.node_size <= joined


def with_network(cluster: Cluster) -> Cluster:
    """The cluster as the laws of collectives want it: where it has scale-up tiers alone, with a network beyond them, which nothing may use."""
    if any(tier.kind != "scale-up" for tier in cluster.tiers):
        return cluster
    return replace(cluster, tiers=(*cluster.tiers, Tier("", "scale-out", None, math.inf, 0.0, "none")))

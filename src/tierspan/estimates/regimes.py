"""The regime of a case: decided from the case and its prediction, never from an error. Errors are kept by regime."""

from __future__ import annotations

from tierspan.estimates.cases import Case

NANOTRON = "nanotron"
SPANS = ("one node", "many nodes")


def regime_of(case: Case, host_bound: bool) -> str:
    """``one node | many nodes``, ``device-bound | host-bound``, ``dense | moe``; nanotron, whose runs stall by chance, is one of its own."""
    if case.stack.id == NANOTRON:
        return NANOTRON
    inside = case.cluster.accelerators <= max(case.cluster.node_size, case.cluster.scale_up_domain_size)
    density = "moe" if case.model.experts else "dense"
    return f"{SPANS[0] if inside else SPANS[1]}, {'host-bound' if host_bound else 'device-bound'}, {density}"

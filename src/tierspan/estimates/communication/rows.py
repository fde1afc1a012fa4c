"""Rows of communication benchmarks as cases: accelerator and tiers from the catalogue, the rest from hints in the row's own text.

A row says little of its library's choices; what its text says is read, what it does not say is the library's usual choice, and every value that had
to be assumed is named.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from tierspan.estimates.communication.cases import CollectiveCase
from tierspan.quantities.errors import TierspanError
from tierspan.specs.catalog import accelerator, cluster_of, default_system, system
from tierspan.specs.hardware import Accelerator, Cluster, System, Tier
from tierspan.specs.measurement import CollectiveRow

OPERATION: Final = {
    "all_reduce": "all_reduce", "all_gather": "all_gather", "reduce_scatter": "reduce_scatter", "alltoall": "all_to_all", "broadcast": "broadcast",
    "reduce": "reduce", "sendrecv": "send_recv", "sendrecv_bidir": "send_recv", "rdma_put": "point_to_point", "rdma_write_bw": "rdma_stream",
    "rdma_read_or_write_bw": "rdma_stream", "rdma_read_lat": "rdma_latency", "rdma_read_batch128": "rdma_stream",
    "allreduce": "all_reduce", "allgather": "all_gather", "reducescatter": "reduce_scatter", "all_to_all": "all_to_all", "alltoallv": "all_to_all",
    "gather": "gather", "scatter": "scatter", "send_recv": "send_recv",
}  # fmt: skip
"""Operations of measurement files that the laws know."""
PER_RANK: Final = ("all_gather", "reduce_scatter")
"""Operations whose size is that of one rank in hccl_test and in scripts of a framework."""
BATCH: Final = {"rdma_read_batch128": 128}
"""Messages of one measured time."""
GIGABIT: Final = 1e9 / 8

_STAND_IN: Final = (
    (r"nvlink4", "h100"),
    (r"nvlink3", "a100"),
    (r"nvlink5", "b200"),
)
"""Where no accelerator is named, one with the fabric that is named."""


@dataclass(frozen=True, slots=True)
class ReadRow:
    """A row as a case, with what was assumed; ``messages`` of the case make one measured time. ``case`` is ``None`` where ``reason`` says why."""

    case: CollectiveCase | None
    messages: int = 1
    reason: str = ""
    assumed: tuple[str, ...] = ()


def read_row(row: CollectiveRow) -> ReadRow:
    """A row as a case that can be estimated."""
    operation = OPERATION.get(row.collective)
    if operation is None:
        return ReadRow(None, reason="operation not modelled")
    if not row.size_bytes:
        return ReadRow(None, reason="no message size")
    text = _text(row)
    assumed: list[str] = []
    rdma = operation.startswith("rdma") or operation == "point_to_point"
    ranks = row.n_gpus or (2 if rdma else None)
    if ranks is None:
        return ReadRow(None, reason="number of accelerators not given")
    nodes = row.n_nodes or 1
    if row.n_nodes is None:
        assumed.append("n_nodes")
    if ranks < 2:
        return ReadRow(None, reason="one accelerator")
    found = _system_of(row, text, assumed)
    if found is None and not operation.startswith("rdma"):
        return ReadRow(None, reason="accelerator not known")
    if operation.startswith("rdma") and not row.nic_gbps:
        return ReadRow(None, reason="network rate not given")
    cluster = _cluster(row, found or system("hgx-h100"), ranks, nodes, text, assumed)
    algorithm, nvls = _algorithm(row, text)
    harness = _harness(nodes, text)
    if harness == "one_process" and "one process" not in text:
        assumed.append("harness")
    size = float(row.size_bytes) * (ranks if operation in PER_RANK and re.search(r"hccl|torch (script|all_)", text) else 1)
    case = CollectiveCase(
        operation, size, cluster, ranks, max(ranks // nodes, 1), algorithm=algorithm, protocol=_protocol(text), nvls=nvls,
        transport=_transport(text), library=_library(row, text), harness=harness, in_network="sharp/collnet enabled" in text or None,
        channels=_channels(text),
    )  # fmt: skip
    return ReadRow(case, BATCH.get(row.collective, 1), assumed=tuple(assumed))


def read_rows(rows: Sequence[CollectiveRow]) -> list[ReadRow]:
    """``read_row`` for every row."""
    return [read_row(r) for r in rows]


def _text(row: CollectiveRow) -> str:
    parts = (row.system, row.raw.get("scaleup_kind", ""), row.raw.get("algo_or_env", ""), row.raw.get("library_version", ""), row.notes, row.source)
    return " | ".join(parts).lower()


def _system_of(row: CollectiveRow, text: str, assumed: list[str]) -> System | None:
    name = row.accelerator
    try:
        card: Accelerator | None = accelerator(name) if name else None
    except TierspanError:
        card = None
    if card is None:
        for word in (row.accelerator.split(" ")[0], row.accelerator.split("-")[0], *(a for p, a in _STAND_IN if re.search(p, text))):
            try:
                card = accelerator(word) if word else None
            except TierspanError:
                continue
            if card is not None:
                assumed.append("accelerator")
                break
    return system(default_system(card.id)) if card is not None else None


def _cluster(row: CollectiveRow, found: System, ranks: int, nodes: int, text: str, assumed: list[str]) -> Cluster:
    kind = row.raw.get("scaleup_kind", "").lower()
    nic = row.nic_gbps * GIGABIT if row.nic_gbps else None
    if nic is None and nodes > 1:
        assumed.append("nic_gbps_per_gpu")
    base = cluster_of(found, max(ranks, found.tiers[0].domain_size or 1), nic_Bps=nic)
    tiers: tuple[Tier, ...] = base.tiers
    if "nolocal" in text or "ib_only" in text or "none (1 gpu" in kind or "none used" in kind or row.collective == "rdma_put":
        tiers = tuple(t for t in tiers if t.kind != "scale-up")
    elif "disabled" in kind and (tiers[0].domain_size or 0) > found.node_size:
        tiers = (replace(tiers[0], domain_size=found.node_size), *tiers[1:])
    if "bridge" in kind and "bridge" not in tiers[0].name.lower():
        bridge = system("h100-pcie-node8").tiers[0]
        tiers = (replace(bridge, domain_size=found.node_size), *tiers[1:])
    if "pcie only" in kind and tiers[0].transport != "pcie":
        tiers = (system("v100-pcie-node8").tiers[0], *tiers[1:])
    return replace(base, accelerators=max(ranks, base.accelerators), tiers=tiers)


def _algorithm(row: CollectiveRow, text: str) -> tuple[str | None, bool | None]:
    said = row.raw.get("algo_or_env", "").lower()
    nvls = False if re.search(r"nvls_enable=0", said) else None
    if "ctsrd" in said:
        return "recursive_doubling", None
    if "ctring" in said or re.search(r"nccl_algo=ring|^ring,|1 channel forced", said):
        return "ring", nvls
    if re.search(r"nccl_algo=tree", said):
        return "tree", nvls
    if "sharp/collnet" in text:
        return "collnet", nvls
    return None, nvls


def _protocol(text: str) -> str | None:
    found = re.search(r"nccl_proto=(simple|ll128|ll)\b", text)
    return {"simple": "Simple", "ll128": "LL128", "ll": "LL"}[found[1]] if found else None


def _channels(text: str) -> int | None:
    found = re.search(r"\b(\d+) channels?\b", text)
    return int(found[1]) if found and "p2p channels" not in text else None


def _transport(text: str) -> str | None:
    for pattern, name in (
        (r"tcpxo", "tcpxo"), (r"ipoib|tcp\)", "tcp"), (r"gib\b|a3 ultra", "roce-gib"), (r"\befa\b|\baws\b", "efa"), (r"slingshot", "slingshot"),
        (r"\broce\b|pollara|ainic|thor2", "roce"), (r"\bib\b|infiniband|ndr|hdr|cx-?7|ndv?4|nd_?h|ndm", "infiniband"),
    ):  # fmt: skip
        if re.search(pattern, text):
            return name
    return None


def _library(row: CollectiveRow, text: str) -> str:
    if row.collective.startswith(("rdma_read", "rdma_write")):
        return "rdma"
    for pattern, name in ((r"msccl", "mscclpp"), (r"ctran", "ctran"), (r"ibgda", "ibgda"), (r"ibrc", "ibrc"), (r"ib_only", "nccl-p2p")):
        if re.search(pattern, text):
            return name
    return "rccl" if re.search(r"rccl", text) else "nccl"


def _harness(nodes: int, text: str) -> str:
    """Who drives the devices. A one-node log that does not say is read as one process, the usual call of nccl-tests on a single host."""
    if "torch all_reduce" in text:
        return "torch"
    if nodes == 1 and not re.search(r"cuda graph: 1|msccl|ctran|ib_only|ncclx", text):
        return "one_process"
    return "process"

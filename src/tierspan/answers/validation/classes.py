"""The classes by which errors are shown: span, regime, density, curated; decided from the row or the prediction, never from the error."""

from __future__ import annotations

from tierspan.specs.measurement import TrainingRow

ONE_NODE = "one node"
MANY_NODES = "many nodes"
WIDE_DOMAIN = "several nodes in one domain"
NANOTRON = "nanotron"


def is_nanotron(row: TrainingRow) -> bool:
    """Rows of the nanotron grid, judged apart: their repeats have a heavy slow tail."""
    return row.source.startswith("HF Ultra")


def is_curated(row: TrainingRow) -> bool:
    """Every row outside the nanotron grid."""
    return not is_nanotron(row)


def without_lora(row: TrainingRow) -> bool:
    """Curated rows without the LoRA flag."""
    return is_curated(row) and "LORA" not in row.raw.get("flags", "")


def tensor_groups_across_nodes(row: TrainingRow) -> bool:
    """The nanotron rows that show the outer tier: PP 1, at most 256 accelerators, TP larger than the domain."""
    return is_nanotron(row) and (row.pp or 1) == 1 and (row.n_accelerators or 0) <= 256 and (row.tp or 1) > (row.hbd_size or 8)


def span(row: TrainingRow) -> str:
    """``one node`` up to the size of the host, or of the scale-up domain where that is larger; else ``many nodes``; "" if unknown."""
    size = max(row.node_size or 0, row.hbd_size or 0)
    if not size or row.n_accelerators is None:
        return ""
    return ONE_NODE if row.n_accelerators <= size else MANY_NODES


def in_wide_domain(row: TrainingRow) -> bool:
    """Runs over several hosts whose scale-up domain holds several hosts (shown besides the two spans)."""
    return bool(row.node_size and row.hbd_size and row.hbd_size > row.node_size and (row.n_accelerators or 0) > row.node_size)


def density(row: TrainingRow) -> str:
    """``moe`` or ``dense``."""
    return "moe" if row.moe else "dense"


def regime(row: TrainingRow, host_bound: bool | None) -> str:
    """(one node | many nodes) x (device-bound | host-bound) x (dense | moe), nanotron apart; "" where the prediction does not say."""
    if is_nanotron(row):
        return NANOTRON
    if host_bound is None:
        return ""
    return f"{span(row) or MANY_NODES}, {'host-bound' if host_bound else 'device-bound'}, {density(row)}"

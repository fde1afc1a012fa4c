"""What a row measured, in one unit, and whether it may be scored (the rules of the validation definitions)."""

from __future__ import annotations

from typing import Final

from tierspan.specs.measurement import CollectiveRow, TrainingRow

EXCLUDED_FLAGS: Final = frozenset(
    [
        "DEGENERATE",
        "INCONSISTENT",
        "SUSPECT_SLOW",
        "DUPLICATE",
        "PRECISION_UNKNOWN",
        "UNEXPLAINED_SPREAD",
        "NOT_SCORABLE",
        "DERIVED_SERIES",
        "DEGRADED",
        "IPOIB",
    ]
)
"""Rows with one of these flags are counted and not scored."""


def excluded_reason(row: TrainingRow | CollectiveRow) -> str | None:
    """The flag that keeps a row out of the error statistics (the first by name where there are several), or ``None``."""
    return min(EXCLUDED_FLAGS & row.flags, default=None)


def measured_step_time_s(row: TrainingRow) -> float | None:
    """Measured time of one step in s.

    ``step_time_s`` as given; tokens/s per accelerator: batch * seq_len / (value * n); tokens/s in total: batch * seq_len / value;
    sequences/s: batch / value. ``None`` where a field is missing or the row has FLOP/s or MFU alone: their definitions differ.
    """
    value, batch, seq, n = row.value, row.global_batch, row.seq_len, row.n_accelerators
    if not value:
        return None
    if row.metric == "step_time_s":
        return value
    if row.metric in ("tokens_per_s_per_gpu", "tokens_per_s_per_npu"):
        return batch * seq / (value * n) if batch and seq and n else None
    if row.metric == "tokens_per_s_total":
        return batch * seq / value if batch and seq else None
    if row.metric in ("sequences_per_s_total", "samples_per_s_total"):
        return batch / value if batch else None
    return None


def is_complete(row: TrainingRow) -> bool:
    """Whether a row says enough to be asked for: not excluded, step time derivable, counts, batch, TP, PP and architecture given."""
    given = (row.n_accelerators, row.global_batch, row.seq_len, row.tp, row.pp, row.layers, row.hidden)
    return excluded_reason(row) is None and bool(measured_step_time_s(row)) and all(given)


def measured_collective_time_us(row: CollectiveRow) -> float | None:
    """Measured time of one operation in us: as given, else from size and algbw, else from size and busbw; ``None`` without a size.

    busbw = algbw * f with f = 2(n-1)/n for all_reduce, (n-1)/n for all_gather, reduce_scatter and alltoall, else 1.
    """
    size, n = row.size_bytes, row.n_gpus
    if not size:
        return None
    if row.time_us:
        return row.time_us
    if row.algbw_GBps:
        return size / row.algbw_GBps / 1e3
    if not row.busbw_GBps or not n:
        return None
    share = {"all_reduce": 2 * (n - 1) / n, "all_gather": (n - 1) / n, "reduce_scatter": (n - 1) / n, "alltoall": (n - 1) / n}
    factor = share.get(row.collective, 1.0)
    return size * factor / row.busbw_GBps / 1e3 if factor else None

"""Which columns make a measurement file what it is."""

from __future__ import annotations

import difflib
from typing import Final

from tierspan.quantities.errors import InputError, Place
from tierspan.specs.measurement import MeasurementKind

_MODEL = "layers hidden heads kv_heads ffn vocab experts topk seq_len"
_SIZES = "n_accelerators tp sp pp vpp cp ep dp zero micro_batch global_batch recompute precision"
_SERVING_SIDE = "batch_size num_workers tp_size pp_size attention_dp_size moe_tp_size moe_ep_size"

REQUIRED: Final[dict[MeasurementKind, tuple[str, ...]]] = {
    "training": ("id", "source", "model", "accelerator", "n_accelerators", "global_batch", "seq_len", "metric", "value"),
    "memory": ("id", "source", "model", "accelerator", "n_accelerators", "tp", "pp", "dp", "outcome"),
    "collectives": ("id", "source", "collective", "n_gpus", "n_nodes", "size_bytes", "time_us"),
    "serving": ("id", "model_path", "system", "isl", "osl", "silicon_ttft_ms", "silicon_tpot_ms"),
    "operations": ("id", "domain", "source", "metric", "value", "unit"),
}
"""A file is of the kind whose required columns it has."""

OPTIONAL: Final[dict[MeasurementKind, tuple[str, ...]]] = {
    "training": tuple(
        f"""date framework moe params_b {_MODEL} {_SIZES} head_dim mlp_matrices moe_ffn shared_experts node_size hbd_size nic_gbps_per_accelerator
        etp shard_group overlap unit second_metric second_value peak_memory_gb quality flags notes locator""".split()
    ),
    "memory": tuple(f"{_MODEL} {_SIZES} after_pp_fix peak_allocated_gb peak_reserved_gb notes".split()),
    "collectives": (
        "url_or_issue",
        "date",
        "library_version",
        "accelerator",
        "system",
        "scaleup_kind",
        "nic_gbps_per_gpu",
        "algo_or_env",
        "dtype",
        "algbw_GBps",
        "busbw_GBps",
        "in_or_out_of_place",
        "notes",
        "flags",
    ),
    "serving": tuple(
        f"""silicon_data_source backend backend_version precision mode gemm_quant_mode moe_quant_mode flags batch_meaning {_SERVING_SIDE}
        {" ".join(f"prefill_{c} decode_{c}" for c in _SERVING_SIDE.split())}""".split()
    ),
    "operations": ("system", "model", "config", "conditions", "notes"),
}
"""Columns that are understood where they stand; absent ones read as empty."""

_NEAR = 0.85


def known_columns(kind: MeasurementKind) -> tuple[str, ...]:
    """All columns that the reader of ``kind`` understands."""
    return tuple(dict.fromkeys(REQUIRED[kind] + OPTIONAL[kind]))


def recognise(header: tuple[str, ...], place: Place) -> MeasurementKind:
    """The kind of a file by its columns.

    Raises:
        InputError: the columns fit no kind; the message names the nearest kind and what it lacks.
    """
    have = set(header)
    missing = {kind: [c for c in need if c not in have] for kind, need in REQUIRED.items()}
    for kind, lack in missing.items():
        if not lack:
            return kind
    best = min(missing, key=lambda kind: len(missing[kind]) / len(REQUIRED[kind]))
    columns = ", ".join(header)
    if len(missing[best]) * 2 >= len(REQUIRED[best]):
        raise InputError("validation.kind_unknown", place=place, columns=columns[:300], kinds=", ".join(REQUIRED))
    raise InputError("validation.column_missing", place=place, kind=best, missing=", ".join(missing[best]), columns=columns[:300])


def extra_columns(kind: MeasurementKind, header: tuple[str, ...], place: Place) -> tuple[str, ...]:
    """Columns that nobody reads.

    Raises:
        InputError: a column whose name is nearly that of an absent known one (a typing slip would empty that column silently).
    """
    known = known_columns(kind)
    extra = tuple(c for c in header if c not in known)
    absent = [c for c in known if c not in header]
    for column in extra:
        near = difflib.get_close_matches(column.lower(), absent, n=1, cutoff=_NEAR)
        if near:
            raise InputError("validation.column_misspelt", place=place, column=column, suggestion=near[0], kind=kind)
    return extra

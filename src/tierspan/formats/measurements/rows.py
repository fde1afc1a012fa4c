"""Rows of the five kinds of measurement files from their cells."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Literal, cast

from tierspan.formats.measurements.cells import Cells, decimal_year
from tierspan.quantities.errors import InputError
from tierspan.specs.measurement import CollectiveRow, MeasurementKind, MeasurementRow, MemoryRow, OperationRow, ServingRow, TrainingRow
from tierspan.specs.strategy import Recompute

_RECOMPUTE = ("none", "selective", "full")


def _recompute(c: Cells) -> Recompute | None:
    written = c.word("recompute", _RECOMPUTE)
    return cast(Recompute, written) if written else None


def _zero(c: Cells) -> int | None:
    value = c.whole("zero", 0)
    if value is not None and value > 3:
        raise InputError("validation.bad_word", place=c.place("zero"), column="zero", value=value, allowed="0, 1, 2, 3")
    return value


def training_row(c: Cells) -> TrainingRow:
    """One row of a training file."""
    for column in ("heads", "kv_heads", "head_dim", "ffn", "mlp_matrices", "vocab", "experts", "topk", "moe_ffn", "shared_experts"):
        c.whole(column, 0)
    c.number("params_b")
    c.number("second_value")
    return TrainingRow(
        id=c.text("id"), line=c.line, source=c.text("source"), date=c.text("date"), year=decimal_year(c.text("date")),
        framework=c.text("framework"), model=c.text("model"), moe=c.yes("moe"), layers=c.whole("layers"), hidden=c.whole("hidden"),
        seq_len=c.whole("seq_len"), accelerator=c.text("accelerator"), node_size=c.whole("node_size"), hbd_size=c.whole("hbd_size"),
        nic_gbps=c.number("nic_gbps_per_accelerator"), n_accelerators=c.whole("n_accelerators"), tp=c.whole("tp"), sp=c.yes("sp"),
        pp=c.whole("pp"), vpp=c.whole("vpp"), cp=c.whole("cp"), ep=c.whole("ep"), etp=c.whole("etp"), dp=c.whole("dp"), zero=_zero(c),
        shard_group=c.whole("shard_group"), micro_batch=c.whole("micro_batch"), global_batch=c.whole("global_batch"),
        recompute=_recompute(c), precision=c.text("precision").lower(), overlap=c.text("overlap"), metric=c.text("metric"),
        value=c.number("value"), peak_memory_gb=c.number("peak_memory_gb"), quality=c.text("quality"), flags=c.flags(),
        notes=c.text("notes"), raw=c.values,
    )  # fmt: skip


def memory_row(c: Cells) -> MemoryRow:
    """One row of a memory file."""
    for column in ("heads", "kv_heads", "ffn", "vocab", "experts", "topk"):
        c.whole(column, 0)
    outcome = c.word("outcome", ("fits", "oom"))
    if not outcome:
        raise InputError("validation.cell_empty", place=c.place("outcome"), column="outcome")
    return MemoryRow(
        id=c.text("id"), line=c.line, source=c.text("source"), model=c.text("model"), layers=c.whole("layers"), hidden=c.whole("hidden"),
        seq_len=c.whole("seq_len"), accelerator=c.text("accelerator"), n_accelerators=c.whole("n_accelerators"), tp=c.whole("tp"),
        sp=c.yes("sp"), pp=c.whole("pp"), vpp=c.whole("vpp"), cp=c.whole("cp"), ep=c.whole("ep"), dp=c.whole("dp"), zero=_zero(c),
        micro_batch=c.whole("micro_batch"), global_batch=c.whole("global_batch"), recompute=_recompute(c),
        precision=c.text("precision").lower(), outcome=cast(Literal["fits", "oom"], outcome),
        peak_allocated_gb=c.number("peak_allocated_gb"), peak_reserved_gb=c.number("peak_reserved_gb"), notes=c.text("notes"),
        raw=c.values,
    )  # fmt: skip


def collective_row(c: Cells) -> CollectiveRow:
    """One row of a file of communication benchmarks."""
    return CollectiveRow(
        id=c.text("id"), line=c.line, source=c.text("source"), locator=c.text("url_or_issue"), collective=c.text("collective"),
        accelerator=c.text("accelerator"), system=c.text("system"), n_gpus=c.whole("n_gpus"), n_nodes=c.whole("n_nodes"),
        nic_gbps=c.number("nic_gbps_per_gpu"), size_bytes=c.whole("size_bytes", 0), time_us=c.number("time_us"),
        algbw_GBps=c.number("algbw_GBps"), busbw_GBps=c.number("busbw_GBps"), flags=c.flags(), notes=c.text("notes"), raw=c.values,
    )  # fmt: skip


def serving_row(c: Cells) -> ServingRow:
    """One row of a serving file."""
    for column in c.values:
        if column.endswith(("_size", "_num_workers")):
            c.whole(column, 0)
    return ServingRow(
        id=c.text("id"), line=c.line, source=c.text("silicon_data_source"), model=c.text("model_path"), system=c.text("system"),
        backend=c.text("backend"), mode=c.text("mode"), input_tokens=c.whole("isl"), output_tokens=c.whole("osl"),
        ttft_ms=c.number("silicon_ttft_ms"), tpot_ms=c.number("silicon_tpot_ms"), flags=c.flags(), raw=c.values,
    )  # fmt: skip


def operation_row(c: Cells) -> OperationRow:
    """One row of a file on operations; a value that is no single number stays text."""
    value: float | None = None
    with contextlib.suppress(InputError):
        value = c.number("value", float("-inf"))
    return OperationRow(
        id=c.text("id"), line=c.line, source=c.text("source"), domain=c.text("domain"), metric=c.text("metric"), value=value,
        value_text=c.text("value"), unit=c.text("unit"), raw=c.values,
    )  # fmt: skip


ROW_READERS: dict[MeasurementKind, Callable[[Cells], MeasurementRow]] = {
    "training": training_row,
    "memory": memory_row,
    "collectives": collective_row,
    "serving": serving_row,
    "operations": operation_row,
}

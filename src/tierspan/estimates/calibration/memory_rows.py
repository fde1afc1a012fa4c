"""Rows of a memory measurement file as arrays for the memory law, with the software variant that each row ran."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tierspan.specs.arrays import ModelArrays, StrategyBatch
from tierspan.specs.catalog import accelerator
from tierspan.specs.model import ModelSpec
from tierspan.specs.strategy import Job, Strategy

Array = NDArray[np.float64]
Row = Mapping[str, str]
GB = 1e9
JOB = re.compile(r"\bjob (\d+)")
LATE_JOB = 14_017_000
"""Jobs of the nanotron grid without pipeline stages: up to 14016400 every one keeps gathered inputs, from 14019166 on none does."""


@dataclass(frozen=True, slots=True)
class MemoryRows:
    """Usable rows of a file, all arrays of shape (n,) in file order.

    ``position`` is the row's place in the file, ``peak_bytes`` the measured peak (NaN where none), ``reserved`` whether that is the
    reserved one, ``first_stage`` whether it is the peak of rank 0, on the first pipeline stage, and not that of the heaviest rank,
    ``died`` whether it ran out of memory, ``assumed`` what had to be assumed, ``unread`` the reason per skipped position.
    """

    position: NDArray[np.int64]
    models: ModelArrays
    strategies: StrategyBatch
    names: tuple[str, ...]
    stacks: tuple[str, ...]
    accelerators: tuple[str, ...]
    peak_bytes: Array
    reserved: NDArray[np.bool_]
    first_stage: NDArray[np.bool_]
    died: NDArray[np.bool_]
    assumed: tuple[tuple[str, ...], ...]
    unread: Mapping[int, str]

    def take(self, keep: NDArray[np.bool_]) -> MemoryRows:
        """Pick the rows where ``keep`` holds."""
        index = np.flatnonzero(keep)
        pick = [int(i) for i in index]
        return MemoryRows(
            position=self.position[index],
            models=self.models.take(keep),
            strategies=self.strategies.take(keep),
            names=tuple(self.names[i] for i in pick),
            stacks=tuple(self.stacks[i] for i in pick),
            accelerators=tuple(self.accelerators[i] for i in pick),
            peak_bytes=self.peak_bytes[index],
            reserved=self.reserved[index],
            first_stage=self.first_stage[index],
            died=self.died[index],
            assumed=tuple(self.assumed[i] for i in pick),
            unread=self.unread,
        )


def read_memory_rows(path: Path) -> MemoryRows:
    """Read ``path`` (columns of ``memory.csv``); a row whose model or plan is not complete is left out with a reason."""
    with path.open(encoding="utf-8", newline="") as stream:
        return memory_rows(list(csv.DictReader(stream)))


def memory_rows(rows: Sequence[Row]) -> MemoryRows:
    """As :func:`read_memory_rows`, from dictionaries."""
    widths = {_shape(r): r["ffn"] for r in rows if r["ffn"]}
    kept: list[tuple[int, Row, ModelSpec, Strategy, Job, tuple[str, ...]]] = []
    unread: dict[int, str] = {}
    for position, row in enumerate(rows):
        missing = [k for k in ("layers", "hidden", "heads", "vocab", "seq_len", "n_accelerators", "tp", "pp", "micro_batch") if not row[k]]
        ffn = row["ffn"] or widths.get(_shape(row), "")
        if missing or not ffn:
            unread[position] = ", ".join(missing or ["ffn"])
            continue
        if row["experts"] or "deepseek" in row["model"].lower():
            unread[position] = "architecture not in the columns"
            continue
        strategy, job, assumed = _plan(row)
        if not row["ffn"]:
            assumed = (*assumed, "ffn")
        kept.append((position, row, _model(row, ffn), strategy, job, assumed))
    peaks = [float(r["peak_reserved_gb"] or r["peak_allocated_gb"] or "nan") * GB for _, r, *_ in kept]
    return MemoryRows(
        position=np.array([k[0] for k in kept], dtype=np.int64),
        models=ModelArrays.of([k[2] for k in kept]),
        strategies=StrategyBatch.of([(k[3], k[4], int(k[1]["n_accelerators"])) for k in kept]),
        names=tuple(k[1]["model"] for k in kept),
        stacks=tuple(stack_of(k[1]) for k in kept),
        accelerators=tuple(k[1]["accelerator"] for k in kept),
        peak_bytes=np.array(peaks),
        # the figure that torchtitan logs and its tables repeat is the allocator's reserved maximum, whatever column it stands in
        reserved=np.array([bool(k[1]["peak_reserved_gb"]) or "torchtitan" in k[1]["source"] for k in kept]),
        # the source does not say whose peak it is; where the last stage is the heaviest the figures follow the first (docs/concepts/memory.md)
        first_stage=np.array(["nanotron" in k[1]["model"] for k in kept]),
        died=np.array([k[1]["outcome"] == "oom" for k in kept]),
        assumed=tuple(k[5] for k in kept),
        unread=unread,
    )


def stack_of(row: Row) -> str:
    """Name the software variant whose constants hold.

    nanotron has three: before the pipeline fix without (``nanotron-single``) and with pipeline stages (``nanotron-staged``), and after it
    (``nanotron-fixed``). They differ in the placing of layers and in whether gathered block inputs are kept. Runs without stages from
    job ``LATE_JOB`` on keep none, as those with stages. torchtitan keeps a stage's weights gathered where there are pipeline stages.
    """
    if "nanotron" in row["model"]:
        if row["after_pp_fix"] == "yes":
            return "nanotron-fixed"
        job = JOB.search(row["source"])
        late = job is not None and int(job.group(1)) >= LATE_JOB
        return "nanotron-staged" if late or row["pp"] != "1" else "nanotron-single"
    if "torchtitan" in row["source"]:
        return "torchtitan" if row["pp"] in ("", "1") else "torchtitan-staged"
    return "megatron-core"


def offered_bytes(accelerators: Sequence[str]) -> Array:
    """Bytes that each accelerator offers to a framework: the catalogue's usable memory, else its nominal one; shape (n,)."""
    table = {name: accelerator(name) for name in set(accelerators)}
    return np.array([table[name].memory_usable_bytes or table[name].memory_bytes for name in accelerators])


def _shape(row: Row) -> tuple[str, ...]:
    return tuple(row[k] for k in ("model", "layers", "hidden", "heads"))


def _number(row: Row, key: str, default: int) -> int:
    return int(float(row[key])) if row.get(key) else default


def _plan(row: Row) -> tuple[Strategy, Job, tuple[str, ...]]:
    assumed = [k for k in ("recompute", "sp", "zero", "global_batch") if not row[k]]
    tp, pp, cp = (_number(row, k, 1) for k in ("tp", "pp", "cp"))
    micro = _number(row, "micro_batch", 1)
    if stack_of(row) == "torchtitan-staged":
        # Its local batch is cut into micro-batches afterwards; at least as many as stages keep the pipeline full.
        micro = max(micro // pp, 1)
        assumed.append("micro_batch")
    dp = _number(row, "n_accelerators", 1) / (tp * pp * cp)
    strategy = Strategy(
        tp=tp,
        pp=pp,
        cp=cp,
        ep=_number(row, "ep", 1),
        vpp=_number(row, "vpp", 1),
        sp=row["sp"] != "no",
        zero=_number(row, "zero", 0),
        micro_batch=micro,
        recompute=row["recompute"] or "none",  # type: ignore[arg-type]
    )
    batch = _number(row, "global_batch", round(dp * micro * pp))
    return strategy, Job(sequence_length=int(row["seq_len"]), global_batch=batch, precision=row["precision"] or "bf16"), tuple(assumed)


def _model(row: Row, ffn: str) -> ModelSpec:
    layers, hidden, heads, vocab = (int(row[k]) for k in ("layers", "hidden", "heads", "vocab"))
    kv_heads = _number(row, "kv_heads", heads)
    layer = hidden * hidden * (2 + 2 * kv_heads / heads) + 3 * hidden * int(ffn)
    return ModelSpec(
        id=row["model"],
        name=row["model"],
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=hidden // heads,
        v_head_dim=hidden // heads,
        ffn=int(ffn),
        mlp_matrices=3,
        vocab=vocab,
        dense_layers=layers,
        tied_embeddings=_tied(row["model"], layers * layer, vocab * hidden),
    )


def _tied(name: str, layers: float, table: float) -> bool:
    """Read a name: one that ends in a parameter count (1.34G) tells whether the embedding counts once or twice; without one: twice."""
    word = name.split()[-1]
    if not word.endswith("G") or not word[:-1].replace(".", "").isdigit():
        return False
    total = float(word[:-1]) * GB
    return abs(layers + table - total) < abs(layers + 2 * table - total)

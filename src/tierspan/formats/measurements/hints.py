"""What notes, overlap text and flags say about a run beyond its columns.

Traits:

=================== ====================================================================================
lora                 adapters only: no weight gradients of the base
packed               several samples packed into one sequence
fine-tuning          SFT or LoRA
truncated            fewer layers than the named model
mtp / no-mtp         the multi-token-prediction head counts / was left out
balanced-routing     experts force-balanced
token-drop           tokens above the expert capacity are dropped
hybrid               state-space layers among attention layers
parallel-block       attention and MLP side by side
sliding-window       attention window named in the notes only
cuda-graph           layers captured in CUDA graphs
torch-compile        PyTorch compiled
async-tp             TP communication decomposed and overlapped
cpu-offload          optimizer or parameters on the host
launch-blocking      every kernel launch waits
fp8-param-gather     parameters gathered in FP8
muon                 Muon optimizer
evaluation           the measured time may include evaluation
may-hang             the author notes a sick run
regression           the author notes a known regression of this release
pure-bf16            parameters and reductions in BF16
two-values           the page prints two values for this cell
=================== ====================================================================================
"""

from __future__ import annotations

import re
from typing import Final

from tierspan.specs.measurement import TrainingRow

_IN_TEXT: Final = (
    ("lora", r"\blora\b"),
    ("packed", r"sequence-packed|packed (squad|\d+ sequences)"),
    ("fine-tuning", r"task (sft|lora)|\bsft\b|fine-?tun"),
    ("truncated", r"layers truncated|truncated to \d+ layers"),
    ("no-mtp", r"without mtp"),
    ("balanced-routing", r"force-balanced"),
    ("token-drop", r"token-?drop"),
    ("hybrid", r"hybrid mamba|nemotron-h\b"),
    ("parallel-block", r"parallel block"),
    ("sliding-window", r"sliding[- ]window"),
    ("cuda-graph", r"(layer|mcore)_cuda_graph=(1|true)"),
    ("torch-compile", r"torch\.compile"),
    ("async-tp", r"asynctp"),
    ("cpu-offload", r"cpu offload|offl=y"),
    ("launch-blocking", r"cuda_launch_blocking=1"),
    ("fp8-param-gather", r"fp8_param_gather=(1|true)|fp8_params=true|fp8 all-gather"),
    ("muon", r"\bmuon\b"),
    ("may-hang", r"may hang"),
    ("regression", r"known \w+ regression"),
    ("pure-bf16", r"fsdp pure"),
    ("two-values", r"prints two values"),
)
_BY_FLAG: Final = {"LORA": "lora", "TRUNCATED": "truncated", "MAY_INCLUDE_EVALUATION": "evaluation"}
_NOT_MEGASCALE: Final = frozenset({"parallel-block", "sliding-window"})


def traits(row: TrainingRow) -> frozenset[str]:
    """The traits of a row (see the table above)."""
    text = f"{row.model}; {row.overlap}; {row.notes}".lower()
    found = {name for name, pattern in _IN_TEXT if re.search(pattern, text)}
    found |= {trait for flag, trait in _BY_FLAG.items() if flag in row.flags}
    if row.source.startswith("MegaScale") and not row.framework.lower().startswith("megascale"):
        found -= _NOT_MEGASCALE  # one note stands beside both the product and its baseline
    if row.framework.lower().startswith("megatron-bridge") and re.search(r"deepseek.?v3", text) and "no-mtp" not in found:
        found.add("mtp")
    if "lora" in found:
        found.add("fine-tuning")
    return frozenset(found)


def switch(row: TrainingRow, name: str) -> bool | None:
    """The value of ``NAME=True`` or ``NAME=0`` in the overlap text, or ``None`` where the name does not stand there."""
    match = re.search(rf"(?<![A-Za-z_]){name}=(\w+)", row.overlap, re.IGNORECASE)
    return match[1].lower() in ("1", "true", "yes") if match else None


def said_overlap(row: TrainingRow) -> dict[str, bool]:
    """The overlaps that the row names, by field of ``Strategy``; a field that is absent is not said."""
    text = row.overlap.lower()
    said: dict[str, bool] = {}
    for field, name in (
        ("overlap_tp", "TP_COMM_OVERLAP"),
        ("overlap_grad_reduce", "OVERLAP_GRAD_REDUCE"),
        ("overlap_param_gather", "OVERLAP_PARAM_GATHER"),
    ):
        value = switch(row, name)
        if value is not None:
            said[field] = value
    for field, words in (("overlap_grad_reduce", "overlap-grad-reduce"), ("overlap_param_gather", "overlap-param-gather"),
                         ("overlap_tp", "tp-comm-overlap"), ("overlap_p2p", "p2p overlap")):  # fmt: skip
        if words in text:
            said[field] = True
    if "asynctp" in text:
        said["overlap_tp"] = True
    if "vanilla tp" in text:
        said["overlap_tp"] = False
    if "no gradient bucketing" in text:
        said["overlap_grad_reduce"] = False
    return said


def said_accumulation(row: TrainingRow) -> int | None:
    """Micro-batches per step that the notes or the model name print, or ``None``."""
    match = re.search(r"gradient_accumulation_steps (\d+)", row.notes) or re.search(r"\bGA=(\d+)", row.model)
    return int(match[1]) if match else None


def said_precision(row: TrainingRow) -> str:
    """The precision that the model name or the first clause of the notes prints, or ""."""
    first = row.notes.split(";")[0]
    for name in ("nvfp4", "mxfp8", "fp8", "bf16", "fp16", "int8"):
        if re.search(rf"\b{name}\b", f"{row.model} {first}", re.IGNORECASE):
            return name
    return ""


def says_size_one(row: TrainingRow, group: str) -> bool:
    """Whether the notes print that a parallel group has one member (``tp=1`` and the like)."""
    return re.search(rf"\b{group}\s*=\s*1\b(?!\d)", row.notes, re.IGNORECASE) is not None

"""Options that other tools have, by what they are called here."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

_COUNT: Final = ("-n", "--accelerators", "--ranks")
_NODES: Final = ("--nodes", "-n", "--node-size")
_PER_NODE: Final = ("--per-node", "--node-size")
_BATCH: Final = ("--global-batch", "--micro-batch")
_SEQUENCE: Final = ("--seq-len",)
_PRECISION: Final = ("--precision",)

MEANT: Final = {
    **dict.fromkeys(("gpu", "gpus", "ngpu", "ngpus", "num-gpus", "total-gpus", "n-gpus", "npu", "npus", "num-npus", "cards", "num-cards"), _COUNT),
    **dict.fromkeys(("world-size", "ws", "devices", "num-devices", "chips", "num-chips", "num-accelerators", "ranks", "num-ranks", "np"), _COUNT),
    **dict.fromkeys(("num-processes", "nprocs", "ntasks", "accelerators"), _COUNT),
    **dict.fromkeys(("node", "nodes", "nnodes", "num-nodes", "n-nodes", "hosts", "num-hosts", "num-machines"), _NODES),
    **dict.fromkeys(("gpus-per-node", "num-gpus-per-node", "nproc-per-node", "ntasks-per-node", "npus-per-node", "ppn", "per-node"), _PER_NODE),
    **dict.fromkeys(("batch", "batch-size", "bs", "train-batch-size"), _BATCH),
    **dict.fromkeys(("gbs", "gradient-accumulation-steps"), ("--global-batch",)),
    **dict.fromkeys(("mbs", "micro-bs", "train-micro-batch-size", "per-device-train-batch-size", "local-batch-size"), ("--micro-batch",)),
    **dict.fromkeys(("seq", "seqlen", "seq-size", "sequence", "context", "context-length", "max-length", "max-seq-len", "max-model-len"), _SEQUENCE),
    **dict.fromkeys(("max-seq-length", "max-position-embeddings", "block-size", "ctx-len"), _SEQUENCE),
    **dict.fromkeys(("dtype", "torch-dtype", "data-type", "datatype", "bf16", "fp16", "fp8", "fp4", "mixed-precision", "quantization"), _PRECISION),
    **dict.fromkeys(("tensor-parallel", "tensor-parallel-size", "tensor-parallel-degree", "tp-size", "tp-degree", "mp"), ("--tp",)),
    **dict.fromkeys(("pipeline-parallel", "pipeline-parallel-size", "pipeline-parallel-degree", "pp-size", "stages"), ("--pp",)),
    **dict.fromkeys(("context-parallel", "context-parallel-degree", "cp-size"), ("--cp",)),
    **dict.fromkeys(("expert-parallel", "expert-parallel-size", "expert-parallel-degree", "ep-size"), ("--ep",)),
    **dict.fromkeys(("data-parallel", "data-parallel-degree", "dp-size"), ("--dp",)),
    **dict.fromkeys(("zero-stage", "fsdp", "use-distributed-optimizer", "sharding"), ("--zero",)),
    **dict.fromkeys(("recompute-granularity", "activation-checkpointing", "gradient-checkpointing", "checkpoint-activations"), ("--recompute",)),
    **dict.fromkeys(("gpu-type", "gpu-name", "hardware", "device", "cluster", "machine", "chip"), ("--system", "--accelerator")),
    **dict.fromkeys(("bandwidth", "bw", "network", "nic-bandwidth", "network-bandwidth", "ib"), ("--nic",)),
    **dict.fromkeys(("framework", "backend", "engine"), ("--stack",)),
    **dict.fromkeys(("algo",), ("--algorithm",)),
    **dict.fromkeys(("proto",), ("--protocol",)),
    **dict.fromkeys(("output", "out", "html"), ("--report", "--out", "--json")),
}  # fmt: skip
"""Word of a launcher or another tool, without dashes -> our options, the likeliest first; a verb has some of them."""


def meant_by(option: str, known: Collection[str]) -> list[str]:
    """The options among ``known`` that somebody who writes ``option`` means; at most two, none where the table does not tell."""
    found = [name for name in MEANT.get(option.lstrip("-").replace("_", "-").casefold(), ()) if name in known]
    return found[:2]

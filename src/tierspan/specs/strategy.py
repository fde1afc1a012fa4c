"""How a job is cut over ranks: one strategy, and thousands of them as arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

MEGATRON_ORDER = "tp-cp-ep-dp-pp"
"""Megatron-Core's default rank order, innermost first (EP is carved out of DP)."""

Recompute = Literal["none", "selective", "full"]
RECOMPUTE_CODE = {"none": 0, "selective": 1, "full": 2}
Schedule = Literal["1f1b", "gpipe", "interleaved", "zb-h1", "zb-h2", "dualpipe"]
SCHEDULE_CODE = {"1f1b": 0, "interleaved": 1, "gpipe": 2, "zb-h1": 3, "zb-h2": 4, "dualpipe": 5}
"""1f1b with more than one chunk a stage is the interleaved one."""
Dispatcher = Literal["alltoall", "deepep", "hybridep"]
DISPATCHER_CODE = {"alltoall": 0, "deepep": 1, "hybridep": 2}
"""All but ``alltoall`` send a token once to a remote domain and there once to a rank."""
OF_STACK = -1
"""Code of a dispatcher that is left to the stack."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is trained: ``sequence_length`` tokens, ``global_batch`` sequences a step, ``precision`` of the matrix products.

    ``tokens`` of the whole training, ``None`` where nobody said; the step does not depend on them.
    """

    sequence_length: int
    global_batch: int
    precision: str = "bf16"
    kind: str = "training"
    lora: bool = False
    tokens: float | None = None


@dataclass(frozen=True, slots=True)
class Strategy:
    """Parallel sizes and options of one plan; ``dp`` is derived: accelerators / (tp * pp * cp).

    ``ep`` ranks share the experts (carved out of cp * dp); ``etp`` is the tensor-parallel size inside an expert (``None`` = tp).
    ``shard_group`` is the size of the ZeRO sharding group where it is smaller than dp * cp (HSDP, hierarchical ZeRO).
    ``*_offload`` are the shares (0 to 1) of optimizer states, of activations kept for the backward pass and of parameters that lie in
    the memory of the host. ``expert_imbalance`` are the tokens of the busiest expert-parallel rank over the mean: the step follows the
    slowest rank. ``dispatcher`` sends tokens to their experts (``None``: as the stack does).
    """

    tp: int = 1
    pp: int = 1
    cp: int = 1
    ep: int = 1
    etp: int | None = None
    vpp: int = 1
    sp: bool = True
    zero: int = 1
    shard_group: int | None = None
    micro_batch: int = 1
    recompute: Recompute = "none"
    schedule: Schedule = "1f1b"
    overlap_grad_reduce: bool = True
    overlap_param_gather: bool = True
    overlap_tp: bool = False
    overlap_p2p: bool = True
    rank_order: str = MEGATRON_ORDER
    optimizer_offload: float = 0.0
    activation_offload: float = 0.0
    parameter_offload: float = 0.0
    expert_imbalance: float = 1.0
    dispatcher: Dispatcher | None = None
    notes: tuple[str, ...] = field(default=())

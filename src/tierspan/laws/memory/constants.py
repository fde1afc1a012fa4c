"""Constants of the memory law: an argument, never module state. The shipped ones stand in ``priors.json`` with their sources."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Value = float | Array


@dataclass(frozen=True, slots=True)
class MemoryConstants:
    """Scalars or arrays of shape (n,), one value a strategy.

    Static bytes per parameter that a rank holds: ``weight_bytes``, ``gradient_bytes`` (accumulated gradients), ``optimizer_bytes``
    (master copy and moments, sharded from ZeRO-1 on), ``bucket_bytes`` (gradients of the reduction buckets, where a data-parallel group
    exists), ``step_bytes`` (temporary buffers of a sharded optimizer step; counts where it exceeds activations), ``fp8_copy_bytes``
    (quantised copies). ``lora_share`` is the trainable share of the parameters under LoRA.

    Activations: ``activation_bytes`` per element; ``norm_bytes`` per token, layer and hidden element outside the parallel region
    (norms, residuals, block inputs, dropout masks); ``mlp_extra`` more tensors of the MLP's width that are kept (unfused activation);
    ``score_bytes`` per attention score where ``flash`` is 0; ``gathered_bytes`` per token, layer and hidden element for gathered block
    inputs that sequence parallelism keeps whole, except for ``gather_free`` of the micro-batches in flight (more of them
    where a rank's share of a block input exceeds ``ahead_bytes``); ``gathered_flat_bytes`` per token and layer of the same copies,
    whatever the width; ``logit_bytes`` per logit;
    ``transient_bytes`` per token and hidden element, whole on each rank, once.

    ``gathered_layers`` are the layers of a stage that ZeRO-3 holds whole at a time (never more than the stage has); with
    ``whole_gradients`` 1 gradients are added up unsharded over the micro-batches of a step, whatever the ZeRO stage. ``fragmentation``
    is the share that the allocator reserves beyond activations, logits and transients; ``reserve_bytes`` its fixed part.
    ``outside_bytes`` is used on the accelerator outside the framework's allocator (context, communication library): it lowers what is
    offered, and is not part of the peak.
    ``stage_rule``: how layers fill stages: 0 equally; 1 by cost, the head weighing as its parameters; 2 as 1, a full stage takes one layer
    more; 3 as 1, to the nearest
    whole number.
    """

    weight_bytes: Value
    gradient_bytes: Value
    optimizer_bytes: Value
    bucket_bytes: Value
    step_bytes: Value
    fp8_copy_bytes: Value
    lora_share: Value
    activation_bytes: Value
    norm_bytes: Value
    mlp_extra: Value
    score_bytes: Value
    flash: Value
    gathered_bytes: Value
    gather_free: Value
    gathered_flat_bytes: Value
    ahead_bytes: Value
    logit_bytes: Value
    transient_bytes: Value
    gathered_layers: Value
    whole_gradients: Value
    fragmentation: Value
    reserve_bytes: Value
    outside_bytes: Value
    stage_rule: Value

    @classmethod
    def of(cls, values: Mapping[str, Value]) -> MemoryConstants:
        """From a mapping that names every constant; extra keys are an error as well as missing ones (TypeError)."""
        return cls(**values)

    def with_values(self, values: Mapping[str, Value]) -> MemoryConstants:
        """Return a copy with some constants replaced."""
        return replace(self, **values)

    @classmethod
    def stack(cls, rows: Sequence[MemoryConstants]) -> MemoryConstants:
        """One array a field from scalar constants, one row each."""
        return cls(**{f.name: np.array([float(getattr(r, f.name)) for r in rows]) for f in fields(cls)})


@cache
def memory_priors() -> MemoryConstants:
    """Read the unfitted constants of ``priors.json`` (a Megatron-like stack; sources and basis stand there)."""
    text = resources.files("tierspan.laws.memory").joinpath("priors.json").read_text(encoding="utf-8")
    return MemoryConstants.of({name: float(entry["value"]) for name, entry in json.loads(text)["constants"].items()})


@cache
def fitted_memory() -> Mapping[str, MemoryConstants]:
    """Read the constants of each software stack that ``fitted.json`` holds: the priors, with what the fit found in their place."""
    text = resources.files("tierspan.laws.memory").joinpath("fitted.json").read_text(encoding="utf-8")
    return {stack: memory_priors().with_values(values) for stack, values in json.loads(text)["constants"].items()}

"""FLOP of a model by part: what one token costs in one layer and in the whole model, forward."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from tierspan.laws.compute import attention_flops, mean_context
from tierspan.laws.counts import (
    attention_parameters,
    dense_mlp_parameters,
    expert_parameters,
    head_parameters,
    router_parameters,
    shared_parameters,
)  # fmt: skip
from tierspan.specs.arrays import ModelArrays
from tierspan.specs.model import ModelSpec


@dataclass(frozen=True, slots=True)
class FlopParts:
    """FLOP a token, forward, by part; a product with a matrix of p parameters counts 2 p."""

    attention_projections: float
    attention_scores: float
    feed_forward: float
    experts: float
    shared_experts: float
    router: float
    output_layer: float

    @property
    def total(self) -> float:
        """All parts together."""
        return float(sum(getattr(self, f.name) for f in fields(self)))


@dataclass(frozen=True, slots=True)
class ModelFlops:
    """FLOP a token at a sequence length, forward: of a layer with a dense MLP, of one with experts, and of the whole model.

    Attention is causal with the masked half left out, averaged over layers with and without a window; of the experts those count that a
    token is sent to. The embedding look-up multiplies nothing. Backward costs twice the forward pass, so training three times
    ``model.total``: the numerator of MFU. A kind of layer that the model does not have is ``None``.
    """

    sequence_length: int
    dense_layer: FlopParts | None
    moe_layer: FlopParts | None
    model: FlopParts


def model_flops(spec: ModelSpec, sequence_length: int) -> ModelFlops:
    """FLOP a token of the model, forward; see ``laws.flops`` for the sum that a step is measured by."""
    m = ModelArrays.of([spec])
    windowed = spec.windowed_layers / spec.layers
    length, half = np.array([float(sequence_length)]), np.ones(1)
    context = (1.0 - windowed) * mean_context(length, np.zeros(1), half) + windowed * mean_context(length, m.window, half)
    projections = 2.0 * float(attention_parameters(m)[0])
    scores = float(attention_flops(np.ones(1), context, m.heads, m.head_dim, m.v_head_dim)[0])
    dense = 2.0 * float(dense_mlp_parameters(m)[0])
    experts, shared, router = (2.0 * float(part[0]) for part in (m.topk * expert_parameters(m), shared_parameters(m), router_parameters(m)))
    moe = spec.layers - spec.dense_layers
    return ModelFlops(
        sequence_length,
        FlopParts(projections, scores, dense, 0.0, 0.0, 0.0, 0.0) if spec.dense_layers else None,
        FlopParts(projections, scores, 0.0, experts, shared, router, 0.0) if moe else None,
        FlopParts(
            spec.layers * projections, spec.layers * scores, spec.dense_layers * dense, moe * experts, moe * shared, moe * router,
            2.0 * float(head_parameters(m)[0]),
        ),
    )  # fmt: skip

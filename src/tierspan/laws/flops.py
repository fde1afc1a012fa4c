"""Model FLOP of a training step: the numerator of MFU."""

from __future__ import annotations

import numpy as np

from tierspan.laws.compute import attention_flops, mean_context
from tierspan.laws.counts import attention_parameters, dense_mlp_parameters, expert_parameters, router_parameters, shared_parameters
from tierspan.specs.arrays import Array, ModelArrays, StrategyBatch


def model_flops_per_step(models: ModelArrays, strategies: StrategyBatch) -> Array:
    """FLOP of one step over all accelerators, shape (n,).

    ``3 x 2 x (active matrix parameters, head included, embedding look-up not) x tokens`` plus attention with the
    masked half left out (Chowdhery et al. 2022, "PaLM", appendix B, with causal halving). Recomputed work does not count.
    """
    m, s = models, strategies
    tokens = s.global_batch * s.sequence_length
    moe = m.layers - m.dense_layers
    active = m.layers * attention_parameters(m) + m.dense_layers * dense_mlp_parameters(m)
    active = active + moe * (router_parameters(m) + shared_parameters(m) + m.topk * expert_parameters(m)) + m.hidden * m.vocab
    one = np.ones_like(m.window)
    share = m.windowed_layers / m.layers
    context = (1.0 - share) * mean_context(s.sequence_length, 0.0 * one, one) + share * mean_context(s.sequence_length, m.window, one)
    core = m.layers * attention_flops(tokens, context, m.heads, m.head_dim, m.v_head_dim)
    return 3.0 * (2.0 * active * tokens + core)

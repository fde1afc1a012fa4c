"""From operators to seconds on one accelerator: matrix products, attention core, memory-bound work.

Roofline with an achievable ceiling: Williams, Waterman, Patterson (2009), "Roofline". A matrix product of m x k by k x n costs ``2 m n k`` FLOP
at the rate that large products reach on this part, reached only when m, n and k are large against the tile and the pipeline depth.
"""

from __future__ import annotations

import numpy as np

from tierspan.specs.arrays import Array


def gemm_s(m: Array, n: Array, k: Array, rate_flops: Array, half_m: Array, half_k: Array, bandwidth_Bps: Array, bytes_per_element: Array) -> Array:
    """Seconds of one matrix product, shapes (n,) broadcast.

    ``2 m n k / rate x (1 + half_m / m)(1 + half_m / n)(1 + half_k / k)``, never faster than moving operands and result once through memory.
    ``half_m`` is the size at which tile and wave quantisation cost as much as the work itself, ``half_k`` the same for the prologue over k.
    """
    compute = 2.0 * m * n * k / rate_flops * (1.0 + half_m / m) * (1.0 + half_m / n) * (1.0 + half_k / k)
    traffic = bytes_per_element * (m * k + k * n + m * n) / bandwidth_Bps
    return np.maximum(compute, traffic)


def attention_flops(tokens: Array, context: Array, heads: Array, head_dim: Array, v_head_dim: Array) -> Array:
    """FLOP of scores and weighted sum, forward: ``2 tokens context heads (head_dim + v_head_dim)``.

    ``context`` is the mean number of keys that a query sees.
    """
    return 2.0 * tokens * context * heads * (head_dim + v_head_dim)


def mean_context(sequence: Array, window: Array, causal_half: Array) -> Array:
    """Mean keys per query: half of the sequence where the kernel skips the masked half, all of it where it does not, at most the window (0 = none).

    With a window w < s the causal mean is ``w - w^2 / (2 s)``.
    """
    full = np.where(causal_half > 0, sequence / 2.0, sequence)
    w = np.where(window > 0, np.minimum(window, sequence), sequence)
    return np.where(w < sequence, np.where(causal_half > 0, w - w * w / (2.0 * sequence), w), full)


def soft_max_s(device_s: Array, host_s: Array, power: Array) -> Array:
    """Device and host work run side by side; their joint time is a soft maximum ``(d^p + h^p)^(1/p)``.

    ``power`` 1 adds them (each launch waits for the device), a large one takes the longer (launches run far ahead).
    """
    longer = np.maximum(device_s, host_s)
    ratio = np.minimum(device_s, host_s) / longer
    return longer * (1.0 + ratio**power) ** (1.0 / power)

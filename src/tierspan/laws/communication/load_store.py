"""Small transfers in a domain with memory semantics: loads and stores against messages."""

from __future__ import annotations

import numpy as np

from tierspan.laws.communication.base import Array


def load_store_s(size_bytes: Array, latency_s: Array, line_Bps: Array, outstanding_bytes: Array) -> Array:
    """Time of a transfer by loads or stores in s: latency + S / min(line, outstanding / latency).

    A processor keeps ``outstanding_bytes`` of requests under way, so that its rate is at most that over the latency (Little's law); nothing is
    started or signalled. Without memory semantics this law does not apply.
    """
    rate = np.minimum(line_Bps, outstanding_bytes / latency_s)
    total: Array = latency_s + size_bytes / rate
    return total


def message_s(size_bytes: Array, start_s: Array, latency_s: Array, line_Bps: Array) -> Array:
    """Time of the same transfer as a message in s: start + latency + S / line; a copy engine or NIC fills the line by itself."""
    total: Array = start_s + latency_s + size_bytes / line_Bps
    return total


def crossover_bytes(start_s: Array, latency_s: Array, line_Bps: Array, outstanding_bytes: Array) -> Array:
    """Size in bytes from which a message is faster than loads and stores: start / (1/rate - 1/line); infinite where they fill the line."""
    rate = np.minimum(line_Bps, outstanding_bytes / latency_s)
    slower = 1.0 / rate - 1.0 / line_Bps
    with np.errstate(divide="ignore"):
        size: Array = np.where(slower > 0, start_s / np.where(slower > 0, slower, 1.0), np.inf)
    return size

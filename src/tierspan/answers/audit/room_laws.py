"""What a feed carries, what a floor bears, and what a cap on power leaves of the work: laws of a room.

They stand beside the audit and not among the laws of a step: no constant is fitted to them.
"""

from __future__ import annotations

import math
from typing import Final, Literal

Redundancy = Literal["N", "N+1", "2N"]
IDLE_SHARE: Final = 0.15
"""Share of its greatest power that an idle machine draws; an assumption, told with each answer that it goes into."""
VOLTAGE_EXPONENT: Final = 3.0
"""Dynamic power grows with frequency times the square of the voltage; where the voltage follows the frequency, with its third power."""


def feed_power_W(voltage_V: float, current_A: float, phases: int, feeds: int, redundancy: Redundancy, continuous_share: float = 1.0) -> float:
    """Watts that the feeds of a rack carry when those that redundancy allows for are down, at a power factor of one.

    ``V x A`` a feed, ``sqrt(3) x V x A`` with three phases (V between two of them). 2N: half of the feeds carry all; N+1: all but one.
    """
    one = voltage_V * current_A * continuous_share * (math.sqrt(3.0) if phases == 3 else 1.0)
    carrying = {"N": feeds, "N+1": feeds - 1, "2N": feeds // 2}[redundancy]
    return one * max(carrying, 0)


def current_A(power_W: float, voltage_V: float, phases: int = 1) -> float:
    """Amperes that a power draws: ``P / V``, with three phases ``P / (sqrt(3) V)``."""
    return power_W / (voltage_V * (math.sqrt(3.0) if phases == 3 else 1.0))


def floor_load_kg_m2(mass_kg: float, footprint_m2: float) -> float:
    """Mass over the area that it stands on."""
    return mass_kg / footprint_m2


def capped_throughput(power_share: float, idle_share: float = IDLE_SHARE) -> tuple[float, float]:
    """What is left of compute-bound throughput when power is capped at ``power_share`` (0..1) of what it wants: least and most.

    Least: work falls in proportion to the power above idle, ``(p - i) / (1 - i)``: clocks fall and the voltage does not. Most: the voltage falls
    with the clock, ``((p - i) / (1 - i)) ** (1/3)``. Work that waits for memory or network loses less still. A bound, no measurement.
    """
    if power_share >= 1.0:
        return 1.0, 1.0
    above = max(0.0, (power_share - idle_share) / (1.0 - idle_share))
    return above, above ** (1.0 / VOLTAGE_EXPONENT)

"""A figure of a sheet, read: what it says, what it was taken to mean, and what it becomes on one basis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

ReadingStatus = Literal["certain", "assumed", "ambiguous"]
Quantity = Literal[
    "compute rate", "bandwidth", "memory bandwidth", "memory", "latency", "power", "energy", "count", "ratio", "percentage", "mass", "voltage",
    "current", "price", "length", "frequency", "time", "temperature", "efficiency", "throughput", "other",
]  # fmt: skip
ReadingTier = Literal["", "memory", "scale-up", "host", "scale-out", "storage", "management", "dci"]
ReadingScope = Literal["", "lane", "link", "port", "die", "package", "accelerator", "node", "rack", "domain", "cluster", "switch", "nic", "superchip"]
LatencyBasis = Literal["", "chip", "port", "nic to nic", "accelerator to accelerator", "collective", "time to first token", "time per token"]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a figure was taken as it was: a message id of the catalogues with its values."""

    id: str
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReadingAlternative:
    """Another meaning of the same figure, on the same basis as the reading; ``reason`` says when it would hold."""

    value_si: float
    unit_si: str
    factor: float
    reason: Reason
    changes: Mapping[str, str] = field(default_factory=dict)
    """Fields of the reading that differ: ``{"direction": "per-direction"}``."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One figure.

    ``printed_si`` is the figure as printed, in ``unit_si`` (B/s, FLOP/s, B, s, W, 1 ...); ``value_si`` is the same on tierspan's basis (per
    direction, dense, per accelerator where the printed scope can be divided) and equals ``printed_si * factor`` up to the rounding of the sheet;
    ``reasons`` explain each part of the factor. ``scope``, ``direction``, ``density`` and ``precision`` describe the PRINTED figure; "" where the
    sheet does not say and nothing was assumed. ``subject`` is the thing the figure is about as written, ``catalog_id`` the part of the catalogue
    that it was recognised as. ``count`` is the number that stood before the figure as a factor ("8 x 400G": 8), 1 without.
    """

    text: str
    line: int
    quantity: Quantity
    printed_si: float
    unit_si: str
    status: ReadingStatus = "certain"
    file: str = ""
    label: str = ""
    subject: str = ""
    tier: ReadingTier = ""
    direction: Literal["", "per-direction", "both-directions"] = ""
    scope: ReadingScope = ""
    density: Literal["", "dense", "sparse"] = ""
    precision: str = ""
    latency_basis: LatencyBasis = ""
    peak: Literal["", "peak", "sustained", "typical", "maximum", "nominal"] = ""
    bound: Literal["", "about", "at most", "at least"] = ""
    count: float = 1.0
    value_si: float = float("nan")
    factor: float = 1.0
    reasons: tuple[Reason, ...] = ()
    alternatives: tuple[ReadingAlternative, ...] = ()
    catalog_id: str = ""
    noun: str = ""
    """What is counted, by the figure itself ("72 GPUs": gpu) or by the factor before it ("18 links x 50 GB/s": link); "part" for a named part."""
    column: int = 0
    """Where the figure begins in its line, counted from 0; tells apart equal figures of one line."""

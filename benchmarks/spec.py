"""What a benchmark is, and one measurement of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


class NotAvailableError(Exception):
    """The benchmark cannot run here; the text says why."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """``value`` in ``unit``; ``detail`` names what the figure rests on."""

    value: float
    unit: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class BenchSpec:
    """One benchmark.

    ``sizes`` says how the cost grows with the work (their meaning is ``size_axis``), ``severities`` (0 benign, 100 pathological) how it grows as
    the input gets nastier. ``run(size, severity)`` measures once; it raises ``NotAvailableError`` where it cannot run.
    """

    name: str
    question: str
    size_axis: str
    sizes: tuple[int, ...]
    run: Callable[[int, int], Measurement]
    severities: tuple[int, ...] = (0,)

    @property
    def smoke(self) -> tuple[int, int]:
        """Size and severity of the smoke run."""
        return self.sizes[0], self.severities[0]

"""What every adapter is given: one row as tierspan reads it, with the figures of the accelerator's sheet from tierspan's catalogue."""

from __future__ import annotations

from dataclasses import dataclass

from tierspan.estimates.cases import Case
from tierspan.estimates.measured import measured_cases
from tierspan.formats.measurements import excluded_reason, measured_step_time_s, read_measurements
from tierspan.specs.hardware import Tier
from tierspan.specs.model import ModelSpec
from tierspan.specs.precision import PEAK_FALLBACK
from tierspan.specs.strategy import Strategy


class NotExpressibleError(Exception):
    """The peer has no word for this row; the text says for what."""


class OutOfMemoryError(Exception):
    """The peer says that the row does not fit; ``step_s`` is its time with that check lifted."""

    def __init__(self, step_s: float) -> None:
        super().__init__("out of memory by its own reckoning; the time is the one with that check lifted")
        self.step_s = step_s


@dataclass(frozen=True, slots=True)
class PeerCase:
    """One scored row."""

    id: str
    case: Case
    peak_flops: float

    @property
    def width(self) -> str:
        """``fp4``, ``fp8`` or ``16``: the bits of the matrix products, whatever the format is called."""
        precision = self.case.job.precision
        return "fp8" if precision.endswith("fp8") else "fp4" if precision.endswith("fp4") else "16"

    @property
    def model(self) -> ModelSpec:
        return self.case.model

    @property
    def strategy(self) -> Strategy:
        return self.case.strategy

    @property
    def accelerators(self) -> int:
        return self.case.cluster.accelerators

    @property
    def dp(self) -> int:
        """Data-parallel size."""
        s = self.strategy
        return self.accelerators // (s.tp * s.pp * s.cp)

    @property
    def micro_batches(self) -> int:
        """Micro-batches a step of one data-parallel rank."""
        return max(1, self.case.job.global_batch // (self.dp * self.strategy.micro_batch))

    @property
    def inner(self) -> Tier:
        """The scale-up domain."""
        return self.case.cluster.tiers[0]

    @property
    def outer(self) -> Tier:
        """The cluster network (the domain itself where there is none)."""
        return self.case.cluster.tiers[min(1, len(self.case.cluster.tiers) - 1)]

    @property
    def domain(self) -> int:
        """Accelerators in one scale-up domain."""
        return self.inner.domain_size or self.accelerators


def scored_cases(path: str) -> list[PeerCase]:
    """Every scored row of a training file that tierspan can read as a case."""
    rows = [r for r in read_measurements(path).training if excluded_reason(r) is None and measured_step_time_s(r)]
    found = []
    for item in measured_cases(rows):
        if item.case is not None:
            sheet, precision = item.case.cluster.accelerator.peak_flops, item.case.job.precision
            peak = sheet.get(precision) or sheet.get(PEAK_FALLBACK.get(precision, ""))
            if peak:
                found.append(PeerCase(item.row.id, item.case, peak))
    return found

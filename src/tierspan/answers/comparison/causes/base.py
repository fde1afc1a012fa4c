"""A cause: what it is, the test that looks for its traces in a run, and how likely the traces make it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import median
from typing import Final, Literal

from tierspan.answers.comparison.expectation import Expect, Expectation
from tierspan.answers.comparison.results import ComparedRow
from tierspan.answers.comparison.setting import Setting
from tierspan.answers.comparison.verdict import MATTERS_BYTES, Decision, measured_rate
from tierspan.specs.benchmark import CollectiveLog, CollectiveSample

CLOSE: Final = 0.08
"""A changed setting explains a measurement where its expectation lies within 8 %, the error that the laws reach on known systems."""


@dataclass(frozen=True)
class Evidence:
    """One run with everything a test may look at. ``expect`` gives the expectation of a changed setting."""

    log: CollectiveLog
    samples: Sequence[CollectiveSample]
    setting: Setting
    rows: Sequence[ComparedRow]
    expected: Expectation
    decision: Decision
    expect: Expect

    @property
    def bad(self) -> bool:
        """Whether the run is slow or broken."""
        return self.decision.verdict in ("slow", "broken")

    @property
    def ratio(self) -> float:
        """Measured over expected at the sizes that decide; 1 where nothing is known."""
        return 1.0 if self.decision.ratio is None else self.decision.ratio

    @property
    def tier(self) -> str:
        """Name of the tier that the run needs."""
        return self.setting.tier.name if self.setting.tier is not None else "-"

    @cached_property
    def deciding(self) -> list[ComparedRow]:
        """The rows that the verdict rests on."""
        return [r for r in self.rows if r.decides]

    @cached_property
    def measured_Bps(self) -> float:
        """Median measured rate at the sizes that decide, on the scale of the expectation; NaN where unknown."""
        rates = [rate for r in self.deciding if (rate := measured_rate(r)) is not None]
        return median(rates) if rates else math.nan

    @cached_property
    def best_Bps(self) -> float:
        """Highest measured rate of all sizes; NaN where unknown."""
        rates = [rate for r in self.rows if (rate := measured_rate(r)) is not None]
        return max(rates, default=math.nan)

    def under(self, changed: Setting) -> float:
        """Measured over what a changed setting would give, at the sizes that decide; NaN where the laws have no answer."""
        ratios = self._ratios(changed, self.deciding)
        return median(ratios) if ratios else math.nan

    def explains(self, changed: Setting) -> float:
        """How well a changed setting explains the run: 1 where it hits, 0 outside of ``CLOSE``.

        It must hit the plateau and, at the median, every size that matters: two settings may share a plateau and differ on the way there.
        """
        plateau = self._ratios(changed, self.deciding)
        if not plateau:
            return 0.0
        way = self._ratios(changed, [r for r in self.rows if r.size_bytes >= MATTERS_BYTES]) or plateau
        off = max(abs(math.log(median(plateau))), median(abs(math.log(r)) for r in way))
        return max(1 - off / CLOSE, 0.0)

    def _ratios(self, changed: Setting, rows: Sequence[ComparedRow]) -> list[float]:
        other = self.expect(changed, [r.size_bytes for r in rows]) if rows else None
        if other is None:
            return []
        rates = [(measured_rate(r), float(expected)) for r, expected in zip(rows, other.rate_Bps, strict=True)]
        return [rate / expected for rate, expected in rates if rate and math.isfinite(expected)]

    def environment(self, name: str) -> str:
        """A variable of the run's environment as the log shows it, or as its command sets it; "" where neither does."""
        found = self.log.context.environment.get(name, "")
        if found:
            return str(found)
        _, sep, rest = self.log.context.command.partition(f"{name}=")
        return rest.split()[0].strip("'\"") if sep and rest.split() else ""

    def with_network(self, factor: float) -> Setting:
        """The setting with a scale-out bandwidth ``factor`` times as large."""
        cluster = self.setting.cluster
        assert cluster is not None
        tiers = tuple(t if i == 0 else replace(t, bandwidth_Bps=t.bandwidth_Bps * factor) for i, t in enumerate(cluster.tiers))
        return replace(self.setting, cluster=replace(cluster, tiers=tiers))

    def with_domain(self, bandwidth_Bps: float, transport: str | None = None) -> Setting:
        """The setting with another scale-up bandwidth."""
        cluster = self.setting.cluster
        assert cluster is not None
        first = replace(cluster.tiers[0], bandwidth_Bps=bandwidth_Bps)
        if transport is not None:
            first = replace(first, transport=transport, in_network_reduction=False)
        return replace(self.setting, cluster=replace(cluster, tiers=(first, *cluster.tiers[1:])))

    def with_context(self, **changes: object) -> Setting:
        """The setting with other options of the library."""
        return replace(self.setting, context=replace(self.setting.context, **changes))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Found:
    """Traces of a cause: ``points`` order causes (about 10: certain; 3: the figures fit; 1: possible), ``values`` fill its texts.

    ``variant`` picks another text of the evidence or of the next command: ``compare.cause.<id>.evidence.<variant>``.
    """

    points: float
    values: Mapping[str, object] = field(default_factory=dict)
    variant: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A cause that can be looked for; ``kind`` is ``fault`` (explains a slow run) or ``note`` (explains a figure that looks odd and is none)."""

    id: str
    tier: Literal["reading", "software", "scale-up", "scale-out"]
    test: Callable[[Evidence], Found | None]
    kind: Literal["fault", "note"] = "fault"


def gigabytes(rate_Bps: float) -> str:
    """A rate as a number of GB/s for a text."""
    from tierspan.quantities.printing import format_number

    return format_number(rate_Bps / 1e9) if math.isfinite(rate_Bps) else "-"


def size_text(size_bytes: float) -> str:
    """A message size as benchmarks spell it: 16 MiB."""
    from tierspan.quantities.printing import format_bytes

    return format_bytes(size_bytes, binary=True)


def percent(share: float) -> str:
    """A share as a whole number of percent."""
    return f"{100 * share:.0f}"

"""``tierspan calibrate LOG``: a profile of one's own network from communication benchmarks, for predict and scale."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

from tierspan.answers.compare import compare
from tierspan.answers.comparison.results import RunComparison
from tierspan.answers.comparison.setting import Asked
from tierspan.answers.results import SCHEMA_VERSION
from tierspan.quantities.errors import InputError, Place
from tierspan.specs.profile.load import save_profile
from tierspan.specs.profile.profile import Profile, priors, shipped_profile, transports

LEAST_BYTES: Final = 2**26
"""Smaller messages tell latency, not the rate of a link."""
CONSTANT: Final = {"scale-up": "scale_up_efficiency", "scale-out": "scale_out_efficiency"}


@dataclass(frozen=True, slots=True)
class MeasuredShare:
    """Achievable share of the line rate of one transport: as shipped, and as this log says; ``runs`` stand behind it."""

    constant: str
    transport: str
    tier: str
    shipped: float
    measured: float
    runs: int
    verdicts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LogCalibration:
    """Answer of ``calibrate`` on a benchmark log: the profile, and each share that it changes."""

    profile: Profile
    shares: tuple[MeasuredShare, ...]
    skipped: tuple[str, ...]
    schema_version: str = SCHEMA_VERSION


def calibrate_log(log: str | Path, asked: Asked | None = None) -> LogCalibration:
    """Shares of line rate from the plateau of each run: the shipped share times measured over expected, at most 1.

    Wrong results and runs whose accelerator, ranks or network nobody told are skipped. A slow or broken network is taken as it is: the
    profile then predicts what jobs get on it.

    Raises:
        InputError: the log cannot be read, or no run in it tells a rate.
    """
    answer = compare(log, asked=asked)
    found: dict[tuple[str, str, str], list[RunComparison]] = {}
    skipped = []
    for run in answer.runs:
        kind = _kind(run)
        enough = (run.decided_to_bytes or 0.0) >= LEAST_BYTES
        if run.ratio is None or not kind or not enough or run.wrong_rows:
            skipped.append(f"{run.tool} {run.setting.operation}".strip())
            continue
        found.setdefault((CONSTANT[kind], run.setting.tier_transport, run.setting.tier), []).append(run)
    if not found:
        raise InputError("calibrate.log_without_rates", place=Place(str(log)), least="64 MiB")
    shares = []
    values: dict[str, dict[str, float]] = {name: dict(table) for name, table in shipped_profile().values.items()}
    for (constant, transport, tier), runs in found.items():
        shipped = transports()[transport][0] if transport in transports() else priors()[constant].prior
        share = min(shipped * median(r.ratio for r in runs if r.ratio is not None), 1.0)
        values.setdefault(constant, {})[transport] = round(max(share, priors()[constant].low), 4)
        shares.append(MeasuredShare(constant, transport, tier, shipped, values[constant][transport], len(runs), tuple(r.verdict for r in runs)))
    record: dict[str, Any] = {**shipped_profile().record, "network": {"log": Path(log).name, "shares": len(shares)}}
    version = f"{shipped_profile().version} with {Path(log).name}"
    return LogCalibration(Profile(version, values, record), tuple(shares), tuple(skipped))


def write_log_profile(found: LogCalibration, out: str | Path) -> Path:
    """Write the profile; ``--profile`` of predict and scale takes it."""
    return save_profile(found.profile, out)


def _kind(run: RunComparison) -> str:
    """Which tier decided the run; "" where that is not known."""
    return run.setting.tier_kind if run.setting.tier_transport else ""

"""``tierspan calibrate``: constants fitted from training measurements, with the record of the fit."""

from __future__ import annotations

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

from tierspan.answers.results import SCHEMA_VERSION
from tierspan.estimates.calibration.ablation import ablate
from tierspan.estimates.calibration.cross import cross_validate, fit_profile, predict_with
from tierspan.estimates.calibration.dataset import TrainingData, training_data
from tierspan.estimates.calibration.folds import group_fold, group_text, publisher
from tierspan.estimates.calibration.intervals import MEASURED, after_one_run, interval_table, spread_of, table_to_json
from tierspan.estimates.calibration.witnesses import few_witnesses
from tierspan.estimates.fingerprint import law_hash
from tierspan.estimates.regimes import NANOTRON, regime_of
from tierspan.formats.measurements import read_measurements
from tierspan.quantities.display import Shown
from tierspan.quantities.errors import InputError, Place
from tierspan.specs.arrays import Array
from tierspan.specs.profile.profile import Profile, priors, profile_to_json

Progress = Callable[[str, int, int], None]
NEIGHBOUR_COLUMNS = (
    "id", "source", "model", "model_id", "accelerator", "accelerators", "stack", "precision", "sequence_length", "global_batch", "micro_batch",
    "tp", "pp", "vpp", "cp", "ep", "zero", "parameters_b", "moe", "measured_s", "error",
)  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class Calibration(Shown):
    """Answer of ``calibrate``: the profile, its errors on left-out groups, and constants that stand at a physical bound."""

    profile: Profile
    neighbours: str
    rows: int
    constants: int
    median_ape_left_out: float
    median_ape_fitted: float
    at_bounds: tuple[str, ...]
    schema_version: str = SCHEMA_VERSION


def calibrate(path: str | Path, progress: Progress | None = None, *, ablation: bool = False, processes: int = 1) -> Calibration:
    """Fit a profile on a training measurement file.

    Three things are made: constants from all rows; intervals by regime from ten folds of whole groups left out; and, for stacks and accelerators
    that nobody measured, intervals from whole publishers left out. The record also tells what each constant stands on.

    Args:
        path: the measurements.
        progress: told (stage, done, all).
        processes: fits side by side (see ``estimates.parallel``).
        ablation: fit again without each term of the step, and record the errors that it then has.

    Raises:
        InputError: the file is not a training measurement file, or has no row to fit.
    """
    file = read_measurements(path)
    if file.kind != "training":
        raise InputError("calibrate.kind", place=Place(str(path)), kind=file.kind)
    data = training_data(file.training)
    if not (data.weights > 0).any():
        raise InputError("calibrate.no_rows", place=Place(str(path)), rows=len(file.rows))

    def tell(stage: str) -> Callable[[int, int], None]:
        return lambda done, total: progress(stage, done, total) if progress is not None else None

    version = date.today().isoformat()
    fitted = fit_profile(data, version=version)
    tell("fit")(1, 1)
    everything = np.arange(len(data.cases))
    inside, _ = predict_with(data, fitted, everything)
    groups = cross_validate(data, [group_fold(r) for r in data.rows], tell("groups"), processes)
    sources = cross_validate(data, [publisher(r.source) for r in data.rows], tell("sources"), processes)
    regimes = [regime_of(c, bool(b)) for c, b in zip(data.cases, groups.host_bound, strict=True)]
    residual = np.log(data.measured_s / groups.predicted_s)
    new = np.log(data.measured_s / sources.predicted_s)
    scored = data.scored
    kept = [r for r, s in zip(regimes, scored, strict=True) if s]
    usual = scored & np.array([r != NANOTRON for r in regimes])
    table = interval_table(residual[scored], kept, new[usual])
    # runs of the nanotron grid stall by chance: they would tell of its cluster, not of what a measured run is worth
    names = [group_text(r.source, r.model, r.accelerator) for r, u in zip(data.rows, usual, strict=True) if u]
    spread = spread_of(residual[usual], names)
    one = after_one_run(residual[usual], names, spread)
    if one is not None:
        table[MEASURED] = one
    deviations = fitted.record.get("standard_errors", {})
    record = {
        "date": version,
        "data": Path(path).name,
        "data_sha256": hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16],
        "law_hash": law_hash(),
        "rows_fitted": int((data.weights > 0).sum()),
        "rows_scored": int(scored.sum()),
        "iterations": fitted.record.get("iterations", 0),
        "errors": {
            "fitted": _errors(data, inside, scored),
            "groups left out": _errors(data, groups.predicted_s, scored),
            "sources left out": _errors(data, sources.predicted_s, scored),
        },
        "intervals": table_to_json(table),
        "spread": {"between groups": round(spread.between, 4), "within a group": round(spread.within, 4)},
        "standard_errors": deviations,
        "few": few_witnesses(data, deviations),
        "counts": {name: dict(sorted(count.items())) for name, count in _witnesses(data).items()},
    }
    if ablation:
        record["ablation"] = ablate(data, tell("ablation"), processes)
    profile = Profile(version, fitted.values, record)
    return Calibration(
        profile=profile,
        neighbours=_neighbours(data, groups.predicted_s),
        rows=int(scored.sum()),
        constants=sum(len(v) for v in fitted.values.values()),
        median_ape_left_out=record["errors"]["groups left out"]["median_ape"],
        median_ape_fitted=record["errors"]["fitted"]["median_ape"],
        at_bounds=at_bounds(profile),
    )


def write_calibration(result: Calibration, out: str | Path) -> tuple[Path, Path]:
    """Write the profile (JSON) and, beside it, the neighbours (CSV); returns both paths."""
    path = Path(out)
    beside = path.with_name("neighbours.csv" if path.name == "profile.json" else path.stem + ".neighbours.csv")
    try:
        path.write_text(profile_to_json(result.profile), encoding="utf-8")
        beside.write_text(result.neighbours, encoding="utf-8")
    except OSError as problem:
        raise InputError("validation.cannot_write", place=Place(str(path)), path=str(path), reason=problem.strerror or str(problem)) from None
    return path, beside


def at_bounds(profile: Profile) -> tuple[str, ...]:
    """Constants that the data push against a physical bound: a law is missing there, or a row is wrong."""
    out = []
    for name, table in profile.values.items():
        low, high = priors()[name].low, priors()[name].high
        out += [f"{name}[{key}]" if key else name for key, v in table.items() if v <= low * 1.001 or v >= high * 0.999]
    return tuple(out)


def _errors(data: TrainingData, predicted: Array, scored: np.ndarray) -> dict[str, float]:
    e = predicted[scored] / data.measured_s[scored] - 1.0
    curated = np.array([c.stack.id != NANOTRON for c, s in zip(data.cases, scored, strict=True) if s])
    ape = np.abs(e)
    told = {"median_ape_curated": round(float(np.median(ape[curated])), 4)} if curated.any() else {}
    return {
        **told,
        "median_ape": round(float(np.median(ape)), 4),
        "mean_ape": round(float(ape.mean()), 4),
        "bias": round(float(np.median(e)), 4),
    }


def _witnesses(data: TrainingData) -> dict[str, Counter[str]]:
    """Scored rows by accelerator and precision, and by stack: what the constants stand on."""
    units: Counter[str] = Counter()
    stacks: Counter[str] = Counter()
    for case, scored in zip(data.cases, data.scored, strict=True):
        if scored:
            precision = "bf16" if case.job.precision == "fp16" else case.job.precision
            units[f"{case.cluster.accelerator.id}|{precision}"] += 1
            stacks[case.stack.id] += 1
    return {"accelerator|precision": units, "stack": stacks}


def _neighbours(data: TrainingData, predicted: Array) -> str:
    """The scored measurements with the error of the fold that left them out, as CSV."""
    from tierspan.laws.parameters import parameter_counts

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(NEIGHBOUR_COLUMNS)
    for case, row, measured, p, scored in zip(data.cases, data.rows, data.measured_s, predicted, data.scored, strict=True):
        if not scored:
            continue
        s, j = case.strategy, case.job
        size = parameter_counts(case.model).total / 1e9
        writer.writerow(
            [row.id, row.source, row.model, case.model.id, case.cluster.accelerator.id, case.cluster.accelerators, case.stack.id, j.precision,
             j.sequence_length, j.global_batch, s.micro_batch, s.tp, s.pp, s.vpp, s.cp, s.ep, s.zero, f"{size:.4g}", int(case.model.experts > 0),
             f"{measured:.5g}", f"{p / measured - 1:.4f}"]
        )  # fmt: skip
    return out.getvalue()

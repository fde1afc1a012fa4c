"""The fit of the constants with its record: what was fitted on what, how wrong it is, and a hash that tells when it is stale."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, Final

import numpy as np

from tierspan.estimates.calibration.intervals import interval_table, table_to_json
from tierspan.estimates.communication.constants import CommunicationProfile
from tierspan.estimates.communication.cross import cross_validate
from tierspan.estimates.communication.dataset import CollectiveData, collective_data
from tierspan.estimates.communication.fit import fit, values_of
from tierspan.formats.measurements import read_measurements
from tierspan.laws.communication.base import Array

ROOT: Final = Path(__file__).parents[2]
PARTS: Final = ("laws/communication", "estimates/communication")
SUFFIXES: Final = (".py", ".csv", ".json")
FITTED: Final = Path(__file__).parent / "data" / "fitted.json"
SOURCES: Final = 3
LARGE: Final = 2**20
PRIORS: Final = CommunicationProfile("priors")


def communication_hash() -> str:
    """SHA-256 over the laws of communication, their fit and its data, without the fitted file itself."""
    digest = hashlib.sha256()
    for part in PARTS:
        for path in sorted((ROOT / part).rglob("*")):
            if path.suffix in SUFFIXES and path.name != FITTED.name:
                digest.update(path.relative_to(ROOT).as_posix().encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def calibrate_communication(path: str | Path, progress: Callable[[int, int], None] | None = None) -> CommunicationProfile:
    """Fit the constants on a file of communication benchmarks; intervals come from whole pages left out.

    Raises:
        InputError: the file cannot be read.
    """
    data = collective_data(read_measurements(path).collectives, PRIORS)
    whole = fit(data.fit_data)
    left_out, _ = cross_validate(data, data.pages, base=whole, progress=progress)
    measured, scored = data.fit_data.measured_s, data.fit_data.weights > 0
    inside = np.exp(whole.residual) * measured
    residual = np.log(measured / left_out)
    regimes = [r for r, s in zip(data.regimes, scored, strict=True) if s]
    table = interval_table(residual[scored], regimes, _whole_new(data, residual))
    version = date.today().isoformat()
    record: dict[str, Any] = {
        "date": version,
        "data": Path(path).name,
        "data_sha256": hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16],
        "law_hash": communication_hash(),
        "rows": int(scored.sum()),
        "pages": len({p for p, s in zip(data.pages, scored, strict=True) if s}),
        "iterations": whole.iterations,
        "errors": {"fitted": _errors(inside, measured, scored), "pages left out": _errors(left_out, measured, scored), **_judged(data, left_out)},
        "intervals": table_to_json(table),
    }
    return CommunicationProfile(version, values_of(data.fit_data, whole), record)


def write_profile(profile: CommunicationProfile, path: Path = FITTED) -> Path:
    """Write a profile as JSON."""
    content = {"version": profile.version, "values": profile.values, "record": profile.record}
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def _whole_new(data: CollectiveData, residual: Array) -> Array:
    """Left-out residuals of pages that alone stand behind their transport or fabric: what a new one meets."""
    keys = [data.fit_data.batch.keys[i] for i in data.fit_data.case_of]
    scored = data.fit_data.weights > 0
    pages: dict[tuple[str, str], set[str]] = {}
    for k, page, s in zip(keys, data.pages, scored, strict=True):
        if s:
            pages.setdefault((k.transport, k.generation), set()).add(page)
    alone = np.array([bool(s) and len(pages[k.transport, k.generation]) == 1 for k, s in zip(keys, scored, strict=True)], dtype=bool)
    chosen: Array = residual[alone]
    return chosen


def _judged(data: CollectiveData, predicted: Array) -> dict[str, dict[str, float]]:
    """Errors with pages left out of operations and accelerators with three pages or more, by size."""
    rows = [data.rows[i] for i in data.index]
    scored = data.fit_data.weights > 0
    pages: dict[tuple[str, str], set[str]] = {}
    for row, page, s in zip(rows, data.pages, scored, strict=True):
        if s:
            pages.setdefault((row.collective, row.accelerator), set()).add(page)
    many = scored & np.array([len(pages.get((r.collective, r.accelerator), ())) >= SOURCES for r in rows], dtype=bool)
    large = np.array([(r.size_bytes or 0) >= LARGE for r in rows], dtype=bool)
    measured = data.fit_data.measured_s
    parts = {"1 MiB and above": many & large, "below 1 MiB": many & ~large}
    return {f"pages left out, three pages or more, {name}": _errors(predicted, measured, part) for name, part in parts.items() if part.any()}


def _errors(predicted: Array, measured: Array, scored: np.ndarray) -> dict[str, float]:
    e = predicted[scored] / measured[scored] - 1.0
    ape = np.abs(e)
    return {"median_ape": round(float(np.median(ape)), 4), "mean_ape": round(float(ape.mean()), 4), "bias": round(float(np.median(e)), 4)}

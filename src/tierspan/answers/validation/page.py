"""What the page of a validation tells, before any face draws it: reports, the points of the figures, peers, licences, how to reproduce."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tierspan.answers.validation.peers import PeerErrors, peer_errors
from tierspan.answers.validation.result import Validation
from tierspan.answers.validation.series import SlopeSeries, slope_series
from tierspan.answers.validation.statistics import to_array
from tierspan.formats.companions import LICENCES, PEERS, licence_of, read_licences, read_peers
from tierspan.specs.companions import PeerLine, SourceLicence

ORDER: Final = ("training", "memory", "collectives", "serving", "operations")
NOT_FILES: Final = frozenset({LICENCES, PEERS})
"""Tables of a folder of measurements that are no measurements."""


@dataclass(frozen=True, slots=True)
class Point:
    """One scored row in a figure; ``label`` is its source (training), operation (collectives) or model (memory)."""

    id: str
    label: str
    measured: float
    predicted: float
    low: float | None
    high: float | None
    size: float | None = None


@dataclass(frozen=True, slots=True)
class Confusion:
    """Rows of memory by what happened and what was predicted."""

    fits_told_fits: int
    fits_told_oom: int
    oom_told_fits: int
    oom_told_oom: int


@dataclass(frozen=True, slots=True)
class FilePage:
    """One file: its report (as ``--json`` prints it) and what the figures show."""

    name: str
    kind: str
    report: dict[str, Any]
    points: tuple[Point, ...]
    series: tuple[SlopeSeries, ...] = ()
    confusion: Confusion | None = None
    peers: tuple[PeerErrors, ...] = ()
    licences: tuple[tuple[SourceLicence, int], ...] = ()
    """The entries of this file with the number of its rows that stand here."""


@dataclass(frozen=True, slots=True)
class ValidationPage:
    """All of a page."""

    files: tuple[FilePage, ...]
    profile_version: str
    cross_validated: str
    ablation: dict[str, dict[str, float]]

    def of(self, kind: str) -> tuple[FilePage, ...]:
        """The files of a kind."""
        return tuple(f for f in self.files if f.kind == kind)


def measurement_files(paths: Sequence[str | Path]) -> tuple[Path, ...]:
    """The files that are meant: a folder stands for its CSV files, without the tables that are no measurements."""
    found: list[Path] = []
    for given in paths:
        path = Path(given)
        found += sorted(p for p in path.glob("*.csv") if p.name not in NOT_FILES) if path.is_dir() else [path]
    return tuple(dict.fromkeys(found))


def validation_page(found: Sequence[Validation]) -> ValidationPage:
    """Assemble the page from validated files; ``peers.csv`` and ``licences.csv`` are read where they stand beside a file.

    Raises:
        InputError: one of these tables does not read cleanly.
    """
    folders = {Path(one.file.path).parent for one in found if one.file is not None}
    peers = {folder: read_peers(folder / PEERS) for folder in folders if (folder / PEERS).is_file()}
    licences = {folder: read_licences(folder / LICENCES) for folder in folders if (folder / LICENCES).is_file()}
    files = []
    for one in sorted(found, key=lambda v: ORDER.index(v.report["kind"])):
        folder = Path(one.file.path).parent if one.file is not None else Path()
        files.append(_file_page(one, peers.get(folder, ()), licences.get(folder, ())))
    return ValidationPage(
        tuple(files),
        next((one.profile_version for one in found if one.report["kind"] == "training"), found[0].profile_version if found else ""),
        next((one.cross_validated for one in found if one.cross_validated), ""),
        {term: dict(errors) for one in found for term, errors in one.ablation.items()},
    )


def _file_page(found: Validation, peers: tuple[PeerLine, ...], licences: tuple[SourceLicence, ...]) -> FilePage:
    file = found.file
    kind = found.report["kind"]
    if file is None:
        return FilePage("", kind, found.report, ())
    name = Path(file.path).name
    return FilePage(
        name,
        kind,
        found.report,
        _points(found),
        _series(found),
        _confusion(found),
        peer_errors(found, peers) if kind == "training" else (),
        _licences(found, name, licences),
    )


def _points(found: Validation) -> tuple[Point, ...]:
    file = found.file
    if file is None or file.kind not in ("training", "memory", "collectives"):
        return ()
    labels: list[tuple[str, float | None]]
    if file.kind == "training":
        labels = [(r.source, None) for r in file.training]
    elif file.kind == "memory":
        labels = [(r.model if r.outcome == "fits" else "", None) for r in file.memory]
    else:
        labels = [(r.collective, r.size_bytes) for r in file.collectives]
    shown = ("fits", "oom") if file.kind == "memory" else ("predicted",)
    return tuple(
        Point(line.id, label, line.measured, line.predicted, line.low, line.high, size)
        for (label, size), line in zip(labels, found.lines, strict=True)
        if label and line.status in shown and line.measured and line.predicted
    )


def _series(found: Validation) -> tuple[SlopeSeries, ...]:
    if found.file is None or found.file.kind != "training":
        return ()
    scored = [(r, line) for r, line in zip(found.file.training, found.lines, strict=True) if line.status == "predicted" and line.measured]
    measured, predicted = (to_array(v) for v in ((x.measured for _, x in scored), (x.predicted for _, x in scored)))
    return tuple(slope_series([r for r, _ in scored], measured, predicted))


def _confusion(found: Validation) -> Confusion | None:
    if found.file is None or found.file.kind != "memory":
        return None
    pairs = [(r.outcome, line.status) for r, line in zip(found.file.memory, found.lines, strict=True)]
    return Confusion(*(pairs.count((was, told)) for was in ("fits", "oom") for told in ("fits", "oom")))


def _licences(found: Validation, name: str, licences: tuple[SourceLicence, ...]) -> tuple[tuple[SourceLicence, int], ...]:
    if found.file is None:
        return ()
    counted = {entry: 0 for entry in licences if entry.file == name}
    for row in found.file.rows:
        entry = licence_of(licences, name, row.raw.get("source", ""))
        if entry is not None:
            counted[entry] += 1
    return tuple(counted.items())

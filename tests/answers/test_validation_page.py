"""What the page tells is what the report tells, and what the examiner computes from the predictions alone."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tierspan.answers.validate import validate
from tierspan.answers.validation.page import measurement_files, validation_page
from tierspan.answers.validation.peers import peer_errors
from tierspan.answers.validation.statistics import summary
from tierspan.specs.companions import PeerLine

ROOT = Path(__file__).parents[2]
ROOM = ROOT / "validation"
STEPS = ROOT / "docs" / "examples" / "steps.csv"
EXAMINER = ROOT.parent / "shared" / "examine.py"


@pytest.fixture(scope="module")
def room():
    return validation_page([validate(path) for path in measurement_files([ROOM])])


def examined(measured, predictions):
    if not EXAMINER.exists():
        pytest.skip("the examiner is not here")
    done = subprocess.run([sys.executable, str(EXAMINER), str(measured), str(predictions), "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def scores(points):
    found = summary(
        [p.measured for p in points], [p.predicted for p in points], *(np.array([getattr(p, b) for p in points], float) for b in ("low", "high"))
    )
    assert found is not None
    return found


def test_a_folder_stands_for_its_measurement_files():
    assert [path.name for path in measurement_files([ROOM, STEPS, STEPS])][-2:] == ["training.csv", "steps.csv"]
    assert not {"peers.csv", "licences.csv"} & {path.name for path in measurement_files([ROOM])}


@pytest.mark.slow
def test_files_stand_in_the_order_of_reading(room):
    assert [file.kind for file in room.files] == ["training", "memory", "collectives", "serving", "operations"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["training", "collectives"])
def test_the_points_of_the_figures_are_the_rows_of_the_report(room, kind):
    (file,) = room.of(kind)
    assert scores(file.points) == pytest.approx(file.report["overall"])
    by = file.report["by"]["source" if kind == "training" else "operation"]
    for label in {p.label for p in file.points}:
        assert scores([p for p in file.points if p.label == label]) == pytest.approx(by[label], nan_ok=True)


@pytest.mark.slow
def test_series_and_confusion_are_those_of_the_report(room):
    (training,), (memory,) = room.of("training"), room.of("memory")
    slopes = training.report["slopes"]
    assert len(training.series) == slopes["series"]
    assert np.mean([s.error_points for s in training.series]) == pytest.approx(slopes["error_points"])
    assert np.mean([s.error_points for s in training.series if s.steep]) == pytest.approx(slopes["error_points_steep"])
    c, told = memory.confusion, memory.report["memory"]
    assert c.fits_told_fits / (c.fits_told_fits + c.fits_told_oom) == pytest.approx(told["fits_recall"])
    assert c.oom_told_oom / (c.oom_told_oom + c.oom_told_fits) == pytest.approx(told["oom_recall"])
    assert (c.fits_told_fits + c.oom_told_oom) / memory.report["predicted"] == pytest.approx(told["accuracy"])
    assert scores(memory.points)["median_ape"] == pytest.approx(told["peak_median_ape"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["training.csv", "memory.csv", "collectives.csv"])
def test_the_examiner_agrees(room, name, tmp_path):
    validate(ROOM / name, predictions=tmp_path / "out.csv")
    theirs = examined(ROOM / name, tmp_path / "out.csv")
    (ours,) = [file for file in room.files if file.name == name]
    for key in ("overall", "curated", "memory"):
        if theirs.get(key):
            assert {k: ours.report[key][k] for k in theirs[key]} == pytest.approx(theirs[key])
    if name == "training.csv":
        assert ours.report["by"]["density"]["moe"] == pytest.approx(theirs["by"]["density"]["moe"])
        assert [(g["group"], g["kendall_tau"]) for g in ours.report["ranking"]] == [
            (g["group"], pytest.approx(g["kendall_tau"])) for g in theirs["ranking"]
        ]


@pytest.mark.slow
def test_peers_are_compared_on_equal_rows(room, tmp_path):
    (file,) = room.of("training")
    assert [p.peer for p in file.peers] == ["llm-analysis", "Calculon", "SimuMax"]
    measured = {p.id: (p.measured, p.predicted) for p in file.points}
    with (ROOM / "peers.csv").open(encoding="utf-8", newline="") as lines:
        table = list(csv.DictReader(lines))
    for peer in file.peers:
        same = [r for r in table if r["peer"] == peer.peer and r["predicted_step_s"] and r["id"] in measured]
        theirs = np.median([abs(float(r["predicted_step_s"]) / measured[r["id"]][0] - 1) for r in same])
        ours = np.median([abs(measured[r["id"]][1] / measured[r["id"]][0] - 1) for r in same])
        assert (peer.all[0]["median_ape"], peer.all[1]["median_ape"]) == (pytest.approx(theirs), pytest.approx(ours))
        assert peer.all[0]["rows"] == peer.all[1]["rows"] == len(same)
        assert peer.given == sum(r["peer"] == peer.peer for r in table)
        assert peer.given == len(same) + sum(peer.not_expressible.values())


def test_a_peer_without_common_rows_has_no_errors():
    found = validate(STEPS)
    (peer,) = peer_errors(found, [PeerLine("nobody", "P", "c", 1.0, "predicted", ""), PeerLine("x", "P", "c", None, "not expressible", "experts")])
    assert (peer.all, peer.curated, peer.nanotron, peer.given, peer.not_expressible) == (None, None, None, 2, {"experts": 1})


def test_licences_count_the_rows_that_stand_here(tmp_path):
    steps = tmp_path / "steps.csv"
    steps.write_bytes(STEPS.read_bytes())
    (tmp_path / "licences.csv").write_text(
        "file,source,published_at,licence,basis,reproduced,remark\nsteps.csv,,https://example.org,MIT,read,yes,\nother.csv,,x,MIT,read,yes,\n",
        encoding="utf-8",
    )
    (file,) = validation_page([validate(steps)]).files
    assert [(entry.licence, count) for entry, count in file.licences] == [("MIT", 6)]

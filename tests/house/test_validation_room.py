"""The measurement files of the repository: every source with its licence, nothing but what the sources allow, no copy in the package."""

from __future__ import annotations

import csv
import re
import tomllib
from pathlib import Path

import pytest

from tierspan.answers.validation.page import measurement_files
from tierspan.formats.companions import licence_of, read_licences, read_peers

ROOT = Path(__file__).parents[2]
ROOM = ROOT / "validation"
SHARED = ROOT.parent / "shared" / "validation"
FILES = ("collectives.csv", "memory.csv", "operations.csv", "serving.csv", "training.csv")
LICENCES = read_licences(ROOM / "licences.csv")
PRIVATE = re.compile(r"/(?:Users|home)/(?:[^/;]+/)*")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_room_holds_the_files():
    assert tuple(path.name for path in measurement_files([ROOM])) == FILES


@pytest.mark.parametrize("name", FILES)
def test_every_source_has_a_licence_and_may_stand_here(name: str):
    found = [licence_of(LICENCES, name, row.get("source", "")) for row in rows(ROOM / name)]
    assert None not in found
    assert all(entry.reproduced for entry in found if entry is not None)
    used = {entry for entry in LICENCES if entry.file == name and entry.reproduced}
    assert used == set(found)


@pytest.mark.parametrize("name", FILES)
def test_the_copy_is_the_collection_without_what_is_left_out(name: str):
    if not (SHARED / name).exists():
        pytest.skip("the collection is not here")
    kept = []
    for row in rows(SHARED / name):
        entry = licence_of(LICENCES, name, row.get("source", ""))
        assert entry is not None, row.get("source")
        if entry.reproduced:
            kept.append({c: PRIVATE.sub("", v) if name == "serving.csv" else v for c, v in row.items()})
    assert rows(ROOM / name) == kept


def test_nothing_names_a_person_or_a_machine():
    for path in ROOM.iterdir():
        text = path.read_text(encoding="utf-8")
        assert not PRIVATE.search(text), path.name
        assert not re.search(r"\bids? \d{6,}", text), path.name


def test_the_readme_counts_the_rows():
    told = dict(re.findall(r"^\| `(\w+\.csv)` \| ([\d,]+) \|", (ROOM / "README.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert told == {name: f"{len(rows(ROOM / name)):,}" for name in FILES}
    assert "91 of 273 rows" in (ROOM / "README.md").read_text(encoding="utf-8")


def test_every_row_left_out_says_why():
    assert all(entry.remark for entry in LICENCES if not entry.reproduced)
    assert all(entry.licence and entry.basis for entry in LICENCES)


def test_peers_speak_of_rows_of_the_training_file():
    lines = read_peers(ROOM / "peers.csv")
    assert {line.id for line in lines} <= {row["id"] for row in rows(ROOM / "training.csv")}
    assert {line.peer for line in lines} == {"Calculon", "SimuMax", "llm-analysis"}
    assert len({(line.peer, line.id) for line in lines}) == len(lines)
    assert all((line.predicted_step_s is None) == (line.status == "not expressible") for line in lines)
    assert all(line.reason for line in lines if line.status != "predicted")


def test_packages_carry_no_measurements():
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert build["wheel"]["packages"] == ["src/tierspan"]
    assert "/validation" in build["sdist"]["exclude"]
    assert not (ROOT / "src" / "tierspan" / "validation").exists()

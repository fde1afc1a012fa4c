"""``tierspan calibrate``: what is fitted and written, and files that are never lost."""

from __future__ import annotations

import csv
import io
import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tierspan.answers import schemas
from tierspan.answers.calibrate import NEIGHBOUR_COLUMNS, Calibration
from tierspan.faces.cli.main import main
from tierspan.faces.cli.render import calibration as render
from tierspan.faces.cli.render.console import make_console
from tierspan.specs.profile.load import load_profile
from tierspan.specs.profile.profile import Profile

ROOT = Path(__file__).parents[2]
STEPS = ROOT / "docs" / "examples" / "steps.csv"
TRAINING = ROOT.parent / "shared" / "validation" / "training.csv"
MEMORY = TRAINING.with_name("memory.csv")


def told(*arguments: str, code: int = 0) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        got = main(list(arguments))
    assert got == code, err.getvalue()
    return out.getvalue(), err.getvalue()


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch):
    for name in ("TIERSPAN_LANG", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


def rewrite(source: Path, target: Path, change) -> Path:
    with source.open(encoding="utf-8", newline="") as file:
        rows = [change(i, row) for i, row in enumerate(csv.DictReader(file))]
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return target


@dataclass
class Run:
    folder: Path
    data: Path
    out: str
    err: str


@pytest.fixture(scope="module")
def fitted(tmp_path_factory) -> Run:
    """The six rows as those of two publishers, fitted once."""
    folder = tmp_path_factory.mktemp("fit")
    data = rewrite(STEPS, folder / "two.csv", lambda i, row: row | {"source": ("First lab", "Second lab")[i % 2]})
    out, err = told("calibrate", str(data), "--out", str(folder / "profile.json"), "--lang", "en")
    return Run(folder, data, out, err)


def test_what_was_fitted_is_told(fitted):
    assert " constants fitted to 6 rows of two.csv: median error " in fitted.out
    assert "6 rows are scored; the fit took " in fitted.out
    for line in ("\nall rows ", "\nother groups ", "\nother publishers ", "\nNo interval: fewer than 9 scored rows "):
        assert line in fitted.out
    path = fitted.folder / "profile.json"
    assert fitted.out.endswith(f"  To use it: tierspan validate {fitted.data} --profile {path}\n")
    assert fitted.err.splitlines() == [
        "fit to all rows: 1 of 1",
        "groups left out: 1 of 2",
        "groups left out: 2 of 2",
        "publishers left out: 1 of 2",
        "publishers left out: 2 of 2",
    ]


def test_what_was_written_can_be_used(fitted):
    profile = load_profile(fitted.folder / "profile.json")
    assert profile.record["rows_fitted"] == 6
    assert set(profile.record["errors"]) == {"fitted", "groups left out", "sources left out"}
    neighbours = list(csv.reader((fitted.folder / "neighbours.csv").read_text(encoding="utf-8").splitlines()))
    assert tuple(neighbours[0]) == NEIGHBOUR_COLUMNS
    assert len(neighbours) == 7
    report = json.loads(told("validate", str(fitted.data), "--profile", str(fitted.folder / "profile.json"), "--json")[0])
    assert report["overall"]["median_ape"] == pytest.approx(profile.record["errors"]["fitted"]["median_ape"], abs=1e-3)
    assert report["overall"]["coverage80"] is None


def test_json_follows_the_schema_and_an_old_profile_is_replaced(fitted):
    path = fitted.folder / "again.json"
    path.write_bytes((fitted.folder / "profile.json").read_bytes())
    out, err = told("calibrate", str(fitted.data), "--out", str(path), "--json")
    answer = json.loads(out)
    assert set(answer) == set(schemas.schema("calibrate")["properties"])
    assert (answer["rows"], answer["constants"]) == (6, sum(len(table) for table in answer["profile"]["values"].values()))
    assert err.splitlines()[-1] == f"profile written to {path}, neighbours to {fitted.folder / 'again.neighbours.csv'}"
    assert load_profile(path).values == answer["profile"]["values"]


def test_one_group(tmp_path):
    told("calibrate", str(STEPS), "--out", str(tmp_path / "profile.json"))


@pytest.mark.slow
def test_a_cut_of_the_public_measurements(tmp_path):
    if not TRAINING.is_file():
        pytest.skip("training.csv is not beside this checkout")
    with TRAINING.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        rows = [row for row in reader if row["source"].startswith("NVIDIA Megatron-Bridge")][:30]
    data = tmp_path / "cut.csv"
    with data.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(reader.fieldnames or ()), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    # Of one publisher alone nothing is left to fit without it: one row comes from another.
    rewrite(data, data, lambda i, row: row | ({"source": "Another lab"} if i == 0 else {}))
    out, _ = told("calibrate", str(data), "--out", str(tmp_path / "profile.json"), "--json")
    answer = json.loads(out)
    assert answer["rows"] > 10
    assert answer["median_ape_fitted"] < answer["median_ape_left_out"] < 0.5


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (
            lambda path: path.write_text("my notes", encoding="utf-8"),
            "the file {path} exists and is not a profile; it would be lost\n  remedy: Name another file with --out, or move this one.",
        ),
        (lambda path: path.mkdir(), "{path} is a folder, not a file\n  remedy: Name a file inside it."),
    ],
)
def test_other_files_are_never_lost(prepare, message, tmp_path):
    path = tmp_path / "profile.json"
    prepare(path)
    out, err = told("calibrate", str(STEPS), "--out", str(path), code=2)
    assert out == ""
    assert err == f"error: {path}: {message.replace('{path}', str(path))}\n"
    assert path.is_dir() or path.read_text(encoding="utf-8") == "my notes"


def test_the_measurements_are_never_overwritten(tmp_path):
    path = tmp_path / "steps.csv"
    path.write_bytes(STEPS.read_bytes())
    _, err = told("calibrate", str(path), "--out", str(path), code=2)
    assert err == f"error: {path}: {path} is read, and would be overwritten\n  remedy: Name another file to write.\n"
    assert path.read_bytes() == STEPS.read_bytes()


def test_the_default_stands_in_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "profile.json").write_text("{}", encoding="utf-8")
    _, err = told("calibrate", str(STEPS), code=2)
    assert err.startswith("error: profile.json: the file profile.json exists and is not a profile")
    assert "[default: profile.json]" in told("calibrate", "--help")[0]


def test_files_of_other_kinds(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text("id,domain,source,metric,value,unit\na,power,s,watts,10,W\n", encoding="utf-8")
    _, err = told("calibrate", str(path), "--out", str(tmp_path / "profile.json"), code=2)
    assert err == (
        f"error: {path}: constants are fitted to training runs, collectives or memory peaks, and this is a file of the kind 'operations'\n"
        "  remedy: Give a file of training runs, of collectives, of memory peaks, or the log of a communication benchmark.\n"
    )


def test_collectives_too_few_to_fit(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text("id,source,collective,n_gpus,n_nodes,size_bytes,time_us\na,s,all_reduce,8,1,1024,10\n", encoding="utf-8")
    _, err = told("calibrate", str(path), "--out", str(tmp_path / "constants.json"), code=2)
    assert err.startswith(f"error: {path}: fewer than 20 of the 1 rows can be fitted\n")
    assert not (tmp_path / "constants.json").exists()


@pytest.mark.slow
@pytest.mark.skipif(not MEMORY.exists(), reason="the measurement files are not there")
def test_the_memory_law_is_fitted_from_its_file(tmp_path):
    out, _ = told("calibrate", str(MEMORY), "--out", str(tmp_path / "memory.json"), "--lang", "en")
    assert "12 constants of the memory law fitted to memory.csv (2987 rows)" in out
    record = json.loads((tmp_path / "memory.json").read_text(encoding="utf-8"))
    assert record["errors"]["nanotron-fixed"]["accuracy"] > 0.95


def test_no_row_to_fit(tmp_path):
    path = rewrite(STEPS, tmp_path / "none.csv", lambda i, row: row | {"flags": "DUPLICATE"})
    _, err = told("calibrate", str(path), "--out", str(tmp_path / "profile.json"), "--lang", "zh", code=2)
    assert err == (f"错误：{path}：6 行数据中没有可用于拟合的行\n  处理办法：tierspan validate --predictions 会逐行说明为何无法预测或不计分。\n")
    assert not (tmp_path / "profile.json").exists()


def test_the_command_that_uses_a_profile_can_be_pasted():
    lines = render.written_lines("my runs/two.csv", (Path("a/p.json"), Path("a/n.csv")), "en")
    assert lines[-1] == "  To use it: tierspan validate 'my runs/two.csv' --profile a/p.json"


def test_constants_at_a_bound_are_a_warning():
    errors = {"median_ape": 0.1, "median_ape_curated": float("nan"), "mean_ape": 0.2, "bias": -0.01}
    record = {"rows_fitted": 9, "rows_scored": 8, "iterations": 3, "errors": {"fitted": errors}, "intervals": {"all": [0.9, 1.2, 8]}}
    calibration = Calibration(Profile("v", {"half_m": {"": 1.0}}, record), "", 8, 1, 0.1, 0.05, ())

    def shown(found: Calibration) -> str:
        out = io.StringIO()
        console = make_console(out)
        for part in render.calibration_parts(found, "folder/two.csv", "en"):
            console.print(part)
        return out.getvalue()

    plain = shown(calibration)
    assert " ".join(plain.split()).startswith(
        "1 constants fitted to 9 rows of two.csv: median error 10.0 % on rows whose group was left out, 5.0 % on the"
    )
    assert "warning" not in plain
    assert [line.split() for line in plain.splitlines() if line.startswith(("all rows", "all regimes"))] == [
        ["all", "rows", "10.0", "-", "20.0", "-1.0"],
        ["all", "regimes", "-10.0", "+20.0", "8"],
    ]
    warned = shown(replace(calibration, at_bounds=("half_m", "jitter[x]")))
    assert "warning: 2 constants stand at a physical bound" in warned
    assert "half_m, jitter[x]" in " ".join(warned.split())

"""``tierspan validate``: tables, JSON, predictions, profiles, and messages for files that cannot be used."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from pydantic import TypeAdapter

from tierspan.answers.validate import validate
from tierspan.answers.validation.document import ValidationReport
from tierspan.faces.cli.main import main
from tierspan.faces.cli.plain import plain
from tierspan.faces.cli.progress import progress
from tierspan.faces.cli.render import validation as render
from tierspan.faces.cli.render.console import make_console
from tierspan.faces.cli.session import Session
from tierspan.specs.profile.load import is_profile, load_profile
from tierspan.specs.profile.profile import Profile, profile_to_json

ROOT = Path(__file__).parents[2]
STEPS = ROOT / "docs" / "examples" / "steps.csv"
SHARED = ROOT.parent / "shared" / "validation"
SMALL = {"gemm_efficiency": {"hopper|bf16": 0.6}}
RECORD = {"intervals": {"all": [0.5, 2.0, 40]}}


def told(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    got = main(list(arguments))
    captured = capsys.readouterr()
    assert got == code, captured.err
    return captured.out, captured.err


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch):
    for name in ("TIERSPAN_LANG", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def two_groups(tmp_path: Path) -> Path:
    """The six rows as those of two publishers, which stand in two folds."""
    with STEPS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for i, row in enumerate(rows):
        row["source"] = ("First lab", "Second lab")[i % 2]
    path = tmp_path / "two.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def shared(name: str) -> Path:
    path = SHARED / name
    if not path.is_file():
        pytest.skip(f"{name} is not beside this checkout")
    return path


def cut(tmp_path: Path, name: str, rows: int, source: str = "") -> Path:
    """The first rows of a shared file, of one source if given."""
    with shared(name).open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        kept = [row for row in reader if source in row.get("source", "")][:rows]
    path = tmp_path / name
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(reader.fieldnames or ()), lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept)
    return path


def test_the_six_rows_of_the_example(capsys):
    out, err = told(capsys, "validate", str(STEPS))
    assert out.startswith("Training steps: 6 rows predicted and scored; 6 of 6 rows are complete. Median error ")
    assert [head for head in ("Errors", "By source", "By regime", "By accelerator", "By span") if f"\n{head}\n" not in out] == []
    assert "\nmany nodes, device-bound, dense " in out
    assert "1 series of one job at growing sizes" in out
    assert "Not predicted" not in out
    assert "Not scored" not in out
    assert err == ""
    assert all(len(line) <= 100 for line in out.splitlines())


def test_the_same_in_chinese(capsys):
    out, _ = told(capsys, "validate", str(STEPS), "--lang", "zh")
    assert out.startswith("训练步时间：预测并计分 6 行；6 行中 6 行数据完整。误差中位数 ")
    assert "\n多节点，设备受限，稠密 " in out


def test_json_is_the_report(capsys):
    out, err = told(capsys, "validate", str(STEPS), "--json")
    assert json.loads(out) == plain(validate(STEPS).report)
    assert err == ""


@pytest.mark.parametrize("name", ["training.csv", "memory.csv", "collectives.csv", "serving.csv", "operations.csv"])
def test_the_reports_of_all_kinds_follow_the_schema(name, tmp_path, capsys):
    path = cut(tmp_path, name, 20)
    out, err = told(capsys, "validate", str(path), "--json")
    report = json.loads(out)
    adapter = TypeAdapter(ValidationReport)
    assert plain(adapter.validate_python(report)) == {"complete": 0, "without_lora": None, "truncated": None, "tp_across_node": None} | report
    assert (report["kind"], report["rows"]) == (name.removesuffix(".csv"), 20)
    assert err == ""
    told(capsys, "validate", str(path))
    told(capsys, "validate", str(path), "--lang", "zh")


def test_predictions_are_written_in_the_order_of_the_file(tmp_path, capsys):
    path = tmp_path / "out.csv"
    _, err = told(capsys, "validate", str(STEPS), "--predictions", str(path))
    assert err == f"6 lines written to {path}\n"
    written = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    assert [line["id"][-4:] for line in written] == ["0049", "0050", "0051", "0052", "0053", "0054"]
    assert {line["status"] for line in written} == {"predicted"}


def test_the_measurements_are_never_overwritten(two_groups, capsys):
    before = two_groups.read_bytes()
    out, err = told(capsys, "validate", str(two_groups), "--predictions", str(two_groups), code=2)
    assert out == ""
    assert err == f"error: {two_groups}: {two_groups} is read, and would be overwritten\n  remedy: Name another file to write.\n"
    assert two_groups.read_bytes() == before


def test_a_missing_folder_is_told_before_the_work(tmp_path, capsys):
    path = tmp_path / "none" / "out.csv"
    out, err = told(capsys, "validate", "there-is-no-such-file.csv", "--predictions", str(path), code=2)
    assert out == ""
    assert err == (f"error: {path}: there is no folder {path.parent} to write {path} in\n  remedy: Make the folder, or name another one.\n")


def test_groups_left_out(two_groups, capsys):
    out, err = told(capsys, "validate", str(two_groups), "--cross-validate", "group")
    assert err == "groups left out: 1 of 2\ngroups left out: 2 of 2\n"
    assert "Every row was predicted by constants that never saw its group (source, model, accelerator): ten folds." in " ".join(out.split())
    fitted = json.loads(told(capsys, "validate", str(two_groups), "--cross-validate", "source", "--json")[0])
    assert fitted["overall"]["coverage80"] is None


def test_one_group_left_out(capsys):
    told(capsys, "validate", str(STEPS), "--cross-validate", "group")


def test_a_profile_of_the_user(tmp_path, capsys):
    path = tmp_path / "mine.json"
    path.write_text(profile_to_json(Profile("my run", SMALL, RECORD)), encoding="utf-8")
    out, _ = told(capsys, "validate", str(STEPS), "--profile", str(path))
    assert "Constants: profile my run. It may have seen these rows" in out
    assert "the 80 % interval holds 100.0 % of them." in out
    other = json.loads(told(capsys, "validate", str(STEPS), "--json")[0])["overall"]["bias"]
    assert json.loads(told(capsys, "validate", str(STEPS), "--json", "--profile", str(path))[0])["overall"]["bias"] != other


def test_a_profile_says_nothing_of_memory(tmp_path, capsys):
    path = tmp_path / "mine.json"
    path.write_text(profile_to_json(Profile("my run", SMALL, RECORD)), encoding="utf-8")
    _, err = told(capsys, "validate", str(cut(tmp_path, "memory.csv", 20)), "--profile", str(path))
    assert err == "note: a profile holds no constants of memory; the shipped ones were used\n"


def test_profile_and_cross_validation_exclude_each_other(capsys):
    arguments = ("validate", str(STEPS), "--profile", "mine.json", "--cross-validate", "group")
    assert told(capsys, *arguments, code=2)[1] == (
        "error: --profile: cross-validation fits constants of its own, and mine.json would not be used\n"
        "  remedy: Give either --profile or --cross-validate.\n"
    )
    assert told(capsys, *arguments, "--lang", "zh", code=2)[1] == (
        "错误：--profile：交叉验证自行拟合常数，mine.json 不会被使用\n  处理办法：请只给出 --profile 或 --cross-validate 之一。\n"
    )


def profile_text(**changes: object) -> str:
    return json.dumps({"version": "v", "values": SMALL, "record": RECORD} | changes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ": the file {path} holds nothing\n  remedy: Fill the file, or name another one."),
        ('{\n"version": }', ":2:12: the text is not valid JSON: Expecting value\n  remedy: Correct the text at this place."),
        ("[1]", ":1: a profile is a JSON object, and this is [1]\n  remedy: Give a file that tierspan calibrate wrote."),
        (
            '{"version": "v"}',
            " [values]: the key values is missing, so this is not a whole profile\n  remedy: Give a file that tierspan calibrate wrote.",
        ),
        (profile_text(version=3), " [version]: version must be a text, not 3\n  remedy: Write the date or the name of the fit in quotation marks."),
        (profile_text(values=[]), " [values]: values must be an object, not []\n  remedy: Give a file that tierspan calibrate wrote."),
        (
            profile_text(values={"magic": {"": 1}}),
            " [values.magic]: no constant is called magic\n"
            "  remedy: The profile belongs to another release or was edited: run tierspan calibrate again.",
        ),
        (
            profile_text(values={"gemm_efficiency": {"x|bf16": "fast"}}),
            ' [values.gemm_efficiency[x|bf16]]: values.gemm_efficiency[x|bf16] must be a finite number, not "fast"\n'
            "  remedy: Correct the value, or run tierspan calibrate again.",
        ),
        (
            profile_text(values={"gemm_efficiency": {"x|bf16": 7}}),
            " [values.gemm_efficiency[x|bf16]]: values.gemm_efficiency[x|bf16] is 7, and can only lie between {low} and {high}\n"
            "  remedy: Correct the value, or run tierspan calibrate again.",
        ),
        (
            profile_text(record={"intervals": {"all": [2, 1, 9]}}),
            " [record.intervals.all]: record.intervals.all must hold [low, high, rows] with 0 < low <= high, and is [2, 1, 9]\n"
            "  remedy: Correct the three numbers, or run tierspan calibrate again.",
        ),
        (
            profile_text(record={"intervals": {"nanotron": [0.5, 1, 9]}}),
            " [record.intervals.all]: the key all is missing, so this is not a whole profile\n  remedy: Give a file that tierspan calibrate wrote.",
        ),
    ],
)
def test_profiles_that_cannot_be_used(text, message, tmp_path, capsys):
    from tierspan.specs.profile.profile import priors

    path = tmp_path / "mine.json"
    path.write_text(text, encoding="utf-8")
    prior = priors()["gemm_efficiency"]
    out, err = told(capsys, "validate", str(STEPS), "--profile", str(path), code=2)
    assert out == ""
    expected = message.replace("{path}", str(path)).replace("{low}", f"{prior.low:g}").replace("{high}", f"{prior.high:g}")
    assert err == f"error: {path}{expected}\n"


def test_a_profile_survives_its_file(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(profile_to_json(Profile("v", SMALL, RECORD)), encoding="utf-8")
    assert load_profile(path) == Profile("v", SMALL, RECORD)
    assert is_profile(path)
    assert not is_profile(STEPS)
    assert not is_profile(tmp_path)


def test_a_malformed_row(tmp_path, capsys):
    path = tmp_path / "steps.csv"
    path.write_text(STEPS.read_text(encoding="utf-8").replace(",14.67,s,", ",fast,s,", 1), encoding="utf-8")
    out, err = told(capsys, "validate", str(path), code=2)
    assert out == ""
    assert err == (
        f"error: {path}:3:32 [value]: the column value needs a number and holds 'fast'\n"
        "  remedy: Write a plain decimal number without unit or thousands separator, or leave the cell empty if the source does not say.\n"
    )


def test_a_file_without_constants_cannot_be_cross_validated(tmp_path, capsys):
    path = tmp_path / "c.csv"
    path.write_text("id,domain,source,metric,value,unit\na,power,s,rack,10,kW\n", encoding="utf-8")
    assert told(capsys, "validate", str(path), "--cross-validate", "source", code=2)[1] == (
        f"error: {path}: a file of the kind 'operations' has no constants to refit\n"
        "  remedy: Leave --cross-validate out; it applies to files of training runs, memory and collectives.\n"
    )
    assert told(capsys, "validate", str(path))[0].endswith("Not predicted: 1 rows\n  1  not modelled yet\n")


def test_a_collective_of_nobody_knows_which_accelerator(tmp_path, capsys):
    path = tmp_path / "c.csv"
    path.write_text("id,source,collective,n_gpus,n_nodes,size_bytes,time_us\na,s,all_reduce,8,1,1024,10\n", encoding="utf-8")
    out, _ = told(capsys, "validate", str(path))
    assert out == (
        "Collectives: 0 rows predicted and scored; 1 of 1 rows are complete.\n\n"
        "Not predicted: 1 rows\n  1  the accelerator is not given or not in the catalogue\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["training.csv", "memory.csv"])
def test_every_reason_has_its_words(name):
    report = validate(shared(name)).report
    spelled = [render.reason_text("validate.reason", reason, "en") for reason in report["not_predicted"]]
    spelled += [render.reason_text("validate.flag", reason, "en") for reason in report["excluded"]]
    assert spelled
    assert [text for text in spelled if " " not in text] == []


def test_missing_columns_are_named():
    assert render.reason_text("validate.reason", "seq_len, vocab", "en") == "the source does not say: seq_len, vocab"
    assert render.reason_text("validate.flag", "SOMETHING_NEW", "en") == "SOMETHING_NEW"


def shown(*parts: object) -> str:
    out = io.StringIO()
    console = make_console(out)
    for part in parts:
        console.print(part)
    return out.getvalue()


def test_the_largest_groups_of_the_grid_are_ranked_apart():
    groups = [
        {"group": "nanotron 1B @ 8", "plans": 10, "kendall_tau": 0.5, "regret": 0.1, "regret_top3": 0.0},
        {"group": "BLOOM 176B @ 512", "plans": 9, "kendall_tau": 0.7, "regret": 0.3, "regret_top3": 0.2},
        {"group": "nanotron 1B @ 512", "plans": 20, "kendall_tau": -0.25, "regret": 0.6, "regret_top3": 0.5},
    ]
    lines = shown(*render.ranking_parts(groups, "en")).splitlines()
    assert [line.split() for line in lines if line.startswith(("all groups", "nanotron"))] == [
        ["all", "groups", "but", "the", "next", "2", "19", "0.60", "20.0", "10.0"],
        ["nanotron", "at", "512", "accelerators", "1", "20", "-0.25", "60.0", "50.0"],
    ]
    assert render.ranking_parts([], "en") == []


def test_a_long_list_shows_the_classes_with_most_rows():
    errors = {"median_ape": 0.1, "mean_ape": 0.1, "p90_ape": 0.2, "bias": -0.0001, "coverage80": None}
    found = {f"card-{i:02d}": errors | {"rows": i} for i in range(1, 16)} | {"none": None}
    text = shown(*render.section("accelerator", found, "en"))
    assert "card-15" in text
    assert "card-04" in text
    assert "card-03" not in text
    assert text.rstrip().endswith("\nand 3 more; --json tells all")
    assert "+0.0             -" in text
    assert "card-03" in shown(*render.section("source", found, "en"))


def test_rates_that_nobody_knows_are_dashes():
    memory = {"accuracy": 1.0, "oom_recall": None, "fits_recall": 1.0, "peak_median_ape": 0.1, "peak_p90_ape": 0.2}
    text = shown(*render.memory_parts({"memory": memory, "by": {"model": {}}}, "en"))
    assert [line.split()[-2:] for line in text.splitlines() if line.startswith(("fits", "runs out"))] == [["100.0", "0.0"], ["-", "-"]]


def test_the_sentence_of_each_fold():
    for kind, split, text in (
        ("training", "source", "Every row was predicted by constants that never saw its publisher."),
        ("memory", "group", "Every row was predicted by constants that never saw its model."),
    ):
        found = SimpleNamespace(report={"kind": kind}, cross_validated=split, profile_version="v")
        assert render.constants_sentence(found, "en") == text


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bar(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    stderr = Terminal()
    with progress(Session("en", stdout=io.StringIO(), stderr=stderr), "validate.stage.group") as report:
        report("validate.stage.group", 1, 2)
        report("validate.stage.source", 2, 2)
    assert "groups left out" in stderr.getvalue()
    assert "publishers left out" in stderr.getvalue()
    assert "2/2" in stderr.getvalue()
    assert "\n1 of 2" not in stderr.getvalue()

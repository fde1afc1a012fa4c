"""Tables in docs that come from data files: the page must show what the files hold.

A generated table stands between ``<!-- NAME:begin -->`` and ``<!-- NAME:end -->``. After a change of the data write the pages again::

    .venv/bin/python tests/house/test_docs_constants.py
"""

from __future__ import annotations

import csv
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tierspan.answers.audit.trial.score import RuleScore, TrapScore, run_trial

ROOT = Path(__file__).parents[2]
CONCEPTS = ROOT / "docs" / "concepts"
PROFILE = ROOT / "src" / "tierspan" / "specs" / "profile" / "data"
MEMORY = ROOT / "src" / "tierspan" / "laws" / "memory"
UPDATE = "the page and its data differ; run: .venv/bin/python tests/house/test_docs_constants.py"
NO_RECORD = "No fitted profile ships with this version: the priors are in use, and predictions have no interval."


def rows_of(name: str) -> list[dict[str, str]]:
    with (PROFILE / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def json_of(path: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return read


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", ", ") for cell in line) + " |" for line in lines)


def constants_table() -> str:
    def fitted(row: Mapping[str, str]) -> str:
        return row["fit"] if row["fit"] in ("yes", "no") else f"{row['fit']} alone; else {row['neutral'] or 'the prior'}"

    rows = (
        [f"`{r['name']}`", r["unit"], r["level"], r["prior"], r["sigma"], f"{r['low']} to {r['high']}", fitted(r), r["meaning"]]
        for r in rows_of("constants.csv")
    )
    return table(["name", "unit", "level", "prior", "sigma", "bounds", "fitted", "meaning"], rows)


def transports_table() -> str:
    return table(
        ["transport", "share of line rate", "source"], ([f"`{r['transport']}`", r["efficiency"], r["source"]] for r in rows_of("transports.csv"))
    )


def memory_priors_table() -> str:
    read = json_of(MEMORY / "priors.json")
    rows = ([f"`{name}`", f"{c['value']:g}", c["source"], c["basis"]] for name, c in read["constants"].items())
    sources = "\n".join(f"- {name}: {text}" for name, text in read["sources"].items())
    return table(["constant", "prior", "source", "basis"], rows) + "\n\nSources:\n\n" + sources


def memory_fit_table() -> str:
    read = json_of(MEMORY / "fitted.json")
    found = {stack: values for stack, values in read["constants"].items() if stack in read["errors"]}
    names = sorted({name for values in found.values() for name in values})
    values = ([f"`{name}`", *(f"{v[name]:g}" if name in v else "prior" for v in found.values())] for name in names)
    errors = ([stack, *_memory_errors(read["errors"][stack])] for stack in found)
    head = [
        "stack",
        "rows",
        "fits or dies told right",
        "deaths found",
        "rows with a peak",
        "peak: median error",
        "peak: 90th percentile",
        "peak: bias",
    ]
    return table(["constant", *found], values) + "\n\n" + table(head, errors)


def _memory_errors(e: Mapping[str, Any]) -> list[str]:
    peaks = [percent(e[key]) for key in ("peak_median_ape", "peak_p90_ape", "peak_bias")]
    return [f"{e['rows']:,}", percent(e["accuracy"]), percent(e["oom_recall"]), f"{e['peak_rows']:,}", *peaks]


def percent(share: float | None) -> str:
    return "-" if share is None or not math.isfinite(share) else f"{100 * share:.1f} %"


def record_table(path: Path = PROFILE / "profile.json") -> str:
    """Errors and intervals of the shipped profile."""
    record = json_of(path)["record"] if path.exists() else {}
    if "errors" not in record:
        return NO_RECORD
    columns = ("median_ape_curated", "median_ape", "mean_ape", "bias")
    errors = table(
        ["rows predicted with", "median error, curated", "median error, all", "mean error, all", "bias, all"],
        ([_FITS.get(name, name), *(percent(e.get(key)) for key in columns)] for name, e in record["errors"].items()),
    )
    intervals = table(
        ["regime", "low", "high", "residuals behind it"],
        ([name, f"{low:.2f}", f"{high:.2f}", f"{rows:,}"] for name, (low, high, rows) in record.get("intervals", {}).items()),
    )
    told = f"Profile of {record['date']}: {record['rows_scored']:,} rows scored, {record['rows_fitted']:,} rows with weight in the fit."
    return f"{told}\n\n{errors}\n\nBounds as factors on the predicted step time:\n\n{intervals}"


_FITS = {
    "fitted": "constants that saw them (flatters)",
    "groups left out": "their group left out of the fit",
    "sources left out": "their publisher left out of the fit",
}


def audit_trial_table() -> str:
    """Recall by trap and precision by rule of both parts of the trial, side by side."""
    tuned, held = run_trial("tuned"), run_trial("held-out")
    told = [
        f"{name}: {trial.truths} true statements, {len(trial.false_alarms)} with a warning or an error ({percent(trial.false_alarm_rate)}); "
        f"{trial.mutants:,} with a trap, {percent(trial.recall)} found, {percent(trial.mean_recall)} as the mean over kinds of trap; "
        f"of what was told {percent(trial.precision)} holds a trap."
        for name, trial in (("Part for tuning", tuned), ("Part held out", held))
    ]
    kinds = [{score.trap: score for score in trial.traps} for trial in (tuned, held)]
    traps = ([trap, *(cell for kind in kinds for cell in _trap_cells(kind.get(trap)))] for trap in sorted({*kinds[0], *kinds[1]}))
    spoken = [{score.rule: score for score in trial.rules} for trial in (tuned, held)]
    rules = ([f"`{rule}`", *(cell for score in spoken for cell in _rule_cells(score.get(rule)))] for rule in sorted({*spoken[0], *spoken[1]}))
    head = ["statements with a trap", "true statements", "precision"]
    return "\n\n".join(
        (
            "\n".join(f"- {line}" for line in told),
            table(["trap", "shown", "found", "recall", "held out: shown", "found", "recall"], traps),
            table(["rule", *head, *(f"held out: {name}" for name in head)], rules),
        )
    )


def _trap_cells(score: TrapScore | None) -> list[str]:
    return ["-"] * 3 if score is None else [str(score.shown), str(score.found), percent(score.recall)]


def _rule_cells(score: RuleScore | None) -> list[str]:
    return ["-"] * 3 if score is None else [str(score.found), str(score.false), percent(score.precision)]


TABLES: dict[tuple[str, str], Callable[[], str]] = {
    ("constants.md", "constants"): constants_table,
    ("constants.md", "transports"): transports_table,
    ("memory.md", "memory-priors"): memory_priors_table,
    ("memory.md", "memory-fit"): memory_fit_table,
    ("error-bands.md", "record"): record_table,
    ("audit-trial.md", "audit-trial"): audit_trial_table,
}


def block(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<=<!-- {name}:begin -->\n)(.*?)(?=\n<!-- {name}:end -->)", re.DOTALL)


@pytest.mark.parametrize(("page", "name"), TABLES, ids=[name for _, name in TABLES])
def test_the_page_shows_what_the_data_hold(page: str, name: str):
    expected = TABLES[page, name]()
    found = block(name).search((CONCEPTS / page).read_text(encoding="utf-8"))
    assert found, f"{page} has no {name}:begin and {name}:end; expected between them:\n{expected}"
    assert found[1] == expected, f"{UPDATE}\nexpected in {page}:\n{expected}"


def test_every_marked_block_is_generated():
    marked = {
        (path.name, name) for path in CONCEPTS.glob("*.md") for name in re.findall(r"<!-- ([\w-]+):begin -->", path.read_text(encoding="utf-8"))
    }
    assert marked == set(TABLES)


def test_a_profile_without_a_record_is_told(tmp_path: Path):
    assert record_table(tmp_path / "profile.json") == NO_RECORD


def test_a_record_is_shown_in_percent_and_factors(tmp_path: Path):
    errors = {"groups left out": {"median_ape": 0.0836, "median_ape_curated": math.nan, "mean_ape": 0.14, "bias": -0.001}}
    record = {"date": "2026-01-02", "rows_scored": 1847, "rows_fitted": 3206, "errors": errors, "intervals": {"all": [0.8687, 1.2266, 959]}}
    path = tmp_path / "profile.json"
    path.write_text(json.dumps({"record": record}), encoding="utf-8")
    shown = record_table(path)
    assert "| their group left out of the fit | - | 8.4 % | 14.0 % | -0.1 % |" in shown
    assert "| all | 0.87 | 1.23 | 959 |" in shown


def test_a_bar_inside_a_cell_does_not_split_it():
    assert table(["a"], [["accelerator|precision"]]).splitlines()[-1] == "| accelerator, precision |"


def write_pages() -> list[str]:
    """Write every generated table into its page; returns the pages that changed."""
    changed = []
    for (page, name), make in TABLES.items():
        path = CONCEPTS / page
        before = path.read_text(encoding="utf-8")
        expected = make()
        after = block(name).sub(lambda _, text=expected: text, before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            changed.append(f"{page}: {name}")
    return changed


if __name__ == "__main__":
    sys.stdout.write("".join(f"{line}\n" for line in write_pages()))

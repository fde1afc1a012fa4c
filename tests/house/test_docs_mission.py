"""What the product covers, row by row: ``docs/mission.csv`` holds the rows, ``docs/mission.md`` shows them, and every command is run.

A cell ``command`` holds one command or several joined by ``&&``; a cell ``expect`` holds regular expressions joined by ``;;``, each of which must
be found in what they print, in which runs of spaces count as one. After a change of the data write the page again::

    .venv/bin/python tests/house/test_docs_mission.py
"""

from __future__ import annotations

import csv
import re
import shlex
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tierspan.faces.cli import registry
from tierspan.faces.cli.main import main

ROOT = Path(__file__).parents[2]
DATA = ROOT / "docs" / "mission.csv"
PAGE = ROOT / "docs" / "mission.md"
MISSION = ROOT.parent / "shared" / "MISSION.md"
UPDATE = "the page and its data differ; run: .venv/bin/python tests/house/test_docs_mission.py"
STATUSES = ("shown", "not yet", "out of scope")
FLAGS = {
    "W": "the text is wrong",
    "A": "ambiguous",
    "D": "dated",
    "U": "a number without a source",
    "C": "a claim to check",
}
SECTIONS = {
    1: "Tiers, definitions, vocabulary",
    17: "Where compute sits",
    27: "Scale-up technologies",
    54: "Scale-out technologies",
    72: "Parallelism, collectives, efficiency",
    93: "Four comparison dimensions (四个方面)",
    98: "Four-step check of a sheet (四步核对法)",
    104: "Misconceptions (误区)",
    109: "Numbers and arithmetic",
    118: "Trends and operations",
    139: "Facility and mechanics",
    146: "Referred to, not given",
}
ROWS = 147
INTRO = """\
# What it covers

tierspan implements what two Chinese primers on AI computing clusters describe: **A** on scale-up and scale-out and on reading the two tiers of a
cluster, **B** on what an AI computing cluster is. This page lists every system and claim that they name, what tierspan must do about it, and whether
a command shows it today. A test runs every command and looks for the answer in what it prints.
"""


def read_rows() -> list[dict[str, str]]:
    with DATA.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


ALL = read_rows()


def commands_of(row: dict[str, str]) -> tuple[str, ...]:
    return tuple(part.strip() for part in row["command"].split(" && ") if part.strip())


def distinct_commands() -> dict[str, int]:
    """Every command once, with the number it has on the page."""
    found = dict.fromkeys(command for row in ALL for command in commands_of(row))
    return {command: number for number, command in enumerate(found, 1)}


def page() -> str:
    """The page as it follows from the data."""
    counts = Counter(row["status"] for row in ALL)
    verbs = Counter(row["verb"] for row in ALL if row["verb"])
    numbers = distinct_commands()
    parts = [
        INTRO,
        f"Of {len(ALL)} rows {counts['shown']} are shown, {counts['not yet']} not yet, {counts['out of scope']} are out of scope. The verbs that "
        "will show the rest: " + ", ".join(f"`{verb}` {count}" for verb, count in verbs.most_common()) + ".\n",
        "What is wrong with a statement of the text, where something is: "
        + ", ".join(f"**{flag}** {meaning}" for flag, meaning in FLAGS.items())
        + ". Numbers in brackets are the [commands](#commands) below.\n",
    ]
    for row in ALL:
        number = int(row["row"])
        if number in SECTIONS:
            parts += [f"\n## {SECTIONS[number]}\n", _line("row", "text", "item", "works when the product", "flag", "status"), _line(*["---"] * 6)]
        parts.append(_line(row["row"], row["text"], row["item"], row["works_when"], row["flag"], _status(row, numbers)))
    parts += ["\n## Commands\n", _line("number", "command"), _line("---", "---")]
    parts += [_line(str(number), f"`{command}`") for command, number in numbers.items()]
    return "\n".join(parts).replace("\n\n\n", "\n\n") + "\n"


def _line(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _status(row: dict[str, str], numbers: dict[str, int]) -> str:
    note = f"; {row['note']}" if row["note"] else ""
    if row["status"] == "shown":
        return f"**shown** ({', '.join(str(numbers[c]) for c in commands_of(row))}){note}"
    if row["status"] == "not yet":
        return f"not yet: `{row['verb']}`{note}"
    return f"out of scope{note}"


def test_the_page_shows_what_the_data_hold():
    assert PAGE.read_text(encoding="utf-8") == page(), UPDATE


def test_every_row_is_there_once_in_order():
    assert [int(row["row"]) for row in ALL] == list(range(1, ROWS + 1))


@pytest.mark.parametrize("row", ALL, ids=[row["row"] for row in ALL])
def test_a_row_says_what_its_status_needs(row: dict[str, str]):
    assert row["status"] in STATUSES
    assert row["item"]
    assert row["works_when"]
    assert bool(row["command"]) == bool(row["expect"]) == (row["status"] == "shown")
    assert bool(row["verb"]) == (row["status"] == "not yet")
    assert row["verb"] in {"", *(verb for group in registry.GROUPS for verb in group.verbs)}
    assert row["note"] or row["status"] != "out of scope"
    assert set(re.findall(r"\b[A-Z]\b", row["flag"].split(":")[0])) <= set(FLAGS)
    for pattern in row["expect"].split(" ;; "):
        re.compile(pattern)


def test_rows_and_items_agree_with_the_mission():
    if not MISSION.exists():
        pytest.skip("the mission that the rows were taken from lies beside the checkout, not in it")
    named = {
        int(match[1]): match[2].strip()
        for match in re.finditer(r"^\| (\d+) \|(?: A,B \| | A \| | B \| | )([^|]+)\|", MISSION.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert named == {int(row["row"]): row["item"] for row in ALL}


@cache
def run(command: str) -> tuple[int, str, str]:
    """Exit code and output of a command, run once in this process."""
    import contextlib
    import io

    printed = io.StringIO()
    with contextlib.chdir(ROOT), contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            code = main(shlex.split(command)[1:])
        except SystemExit as stop:
            code = int(stop.code or 0)
    return code, " ".join(printed.getvalue().split()), printed.getvalue()


SHOWN = [row for row in ALL if row["status"] == "shown"]


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("TIERSPAN_LANG", raising=False)
    monkeypatch.setenv("COLUMNS", "160")


@pytest.mark.parametrize("row", SHOWN, ids=[f"{row['row']} {row['item'][:40]}" for row in SHOWN])
def test_the_command_of_a_row_shows_it(row: dict[str, str]):
    ran = [run(command) for command in commands_of(row)]
    printed = " ".join(words for _, words, _ in ran)
    assert {code for code, _, _ in ran} == {int(row["exit"] or 0)}, "\n".join(text for _, _, text in ran)
    missing = [pattern for pattern in row["expect"].split(" ;; ") if not re.search(pattern, f" {printed} ")]
    assert missing == [], "\n".join(text for _, _, text in ran)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE.relative_to(ROOT)}\n")

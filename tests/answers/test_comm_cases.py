"""Communication figures from public threads: those of maintainers lie in the band, and the page of verdicts is up to date."""

from __future__ import annotations

import json

import comm_cases
import pytest

from tierspan.estimates.communication.constants import shipped


@pytest.fixture(scope="module")
def cases() -> list[comm_cases.Case]:
    if not comm_cases.CASES.is_file():
        pytest.skip("cases.csv is not beside this checkout")
    if not shipped().record.get("intervals"):
        pytest.skip("no fitted intervals ship with this version")
    return comm_cases.cases()


def test_figures_of_maintainers_lie_in_the_band(cases):
    trusted = [case for case in cases if case.source_type in comm_cases.TRUSTED]
    outside = [case.id for case in trusted if not comm_cases.inside(comm_cases.answer_of(case))]
    assert len(trusted) >= 5
    assert len(outside) <= 0.2 * len(trusted), outside


def test_every_case_is_reviewed(cases):
    reviewed = json.loads(comm_cases.REVIEW.read_text(encoding="utf-8"))
    assert {case.id for case in cases} == set(reviewed)
    assert all(len(text) > 8 for text in reviewed.values())


def test_the_page_shows_what_compare_says(cases):
    page = comm_cases.PAGE.read_text(encoding="utf-8")
    shown = page.split(comm_cases.BEGIN)[1].split(comm_cases.END)[0].strip()
    assert _without_figures(shown) == _without_figures(comm_cases.table()), "run: .venv/bin/python tests/answers/comm_cases.py"


def _without_figures(table: str) -> list[list[str]]:
    """The cells but those of the expectation and the cause, which move a little with every fit."""
    return [[cell for i, cell in enumerate(line.split(" | ")) if i not in (3, 5)] for line in table.splitlines()]

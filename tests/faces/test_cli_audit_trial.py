"""``tierspan audit --self-test`` as a user types it."""

import json

import pytest

from tierspan.answers.audit import trial as package
from tierspan.answers.audit.trial.base import Statement
from tierspan.answers.audit.trial.score import Heard, scored
from tierspan.faces.cli.main import main


def tried(part):
    def statement(trap=""):
        return Statement("s", "s.txt", "en", f"text of {part}", ("source",), trap, "s" if trap else "")

    return scored(part, [Heard(statement(), ("audit.a",)), Heard(statement("links x rate"), ("audit.a", "audit.links"))])


@pytest.mark.parametrize(
    ("arguments", "part"), [(["--self-test"], "tuned"), (["--held-out"], "held-out"), (["--self-test", "--held-out"], "held-out")]
)
def test_the_part_that_is_asked_for_is_tried(arguments, part, capsys, monkeypatch):
    monkeypatch.setattr(package, "run_trial", tried)
    assert main(["audit", *arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["part"], told["recall"], told["false_alarm_rate"], told["schema_version"]) == (part, 1.0, 1.0, "1")


@pytest.mark.parametrize(
    ("lang", "words"), [("en", ("100.0 % found", "audit.links", "text of tuned")), ("zh", ("链路数 × 速率不闭合", "audit.links", "精确率"))]
)
def test_recall_and_precision_are_shown_in_both_languages(lang, words, capsys, monkeypatch):
    monkeypatch.setattr(package, "run_trial", tried)
    assert main(["audit", "--self-test", "--lang", lang]) == 0
    shown = capsys.readouterr().out
    assert [word for word in words if word not in shown] == []


def test_files_beside_the_self_test_are_refused(capsys):
    assert main(["audit", "--self-test", "sheet.txt"]) == 2
    assert "sheet.txt would not be read" in capsys.readouterr().err

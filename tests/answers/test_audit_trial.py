"""The audit on trial: what it must find in false statements, and must not in true ones."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tierspan.answers.audit.result import Audit
from tierspan.answers.audit.trial import generate, texts
from tierspan.answers.audit.trial.base import Amount, Part, Statement, Word
from tierspan.answers.audit.trial.families import FAMILIES
from tierspan.answers.audit.trial.score import Heard, is_open, printed_trial, run_trial, scored
from tierspan.faces.cli.render.audit_trial import headline, rules_sheet, trap_text, traps_sheet
from tierspan.quantities import messages
from tierspan.quantities.findings import Finding
from tierspan.specs.reading import Reading

PARTS: tuple[Part, ...] = ("tuned", "held-out")


def template(text: str, language: str = "en", form: str = "txt") -> texts.Template:
    return texts.Template("t", "f", language, form, text)  # type: ignore[arg-type]


@pytest.mark.parametrize(("part", "least"), [("tuned", 200), ("held-out", 60)])
def test_there_are_enough_true_statements_in_both_languages(part: Part, least: int):
    found = generate.truths(part)
    languages = Counter(statement.language for statement in found)
    assert len({statement.text for statement in found}) == len(found) >= least
    assert min(languages["en"], languages["zh"]) >= 0.4 * len(found)
    assert all(statement.sources and all(statement.sources) for statement in found)


def test_the_held_out_part_shares_no_words_with_the_other():
    tuned, held = ({t.text for t in texts.templates(part)} for part in PARTS)
    assert not tuned & held
    assert not {s.text for s in generate.truths("tuned")} & {s.text for s in generate.truths("held-out")}


@pytest.mark.parametrize("part", PARTS)
def test_no_mutant_is_a_true_statement_and_none_keeps_a_slot(part: Part):
    true = {s.text for p in PARTS for s in generate.truths(p)}
    found = generate.mutants(part)
    assert not true & {s.text for s in found}
    assert not [s.text for s in (*found, *generate.truths(part)) if texts.SLOT.search(s.text)]
    assert {s.truth for s in found} <= {s.id for s in generate.truths(part)}


def test_every_family_has_templates_in_both_languages_and_every_trap_is_shown():
    for part in PARTS:
        assert {(t.family, t.language) for t in texts.templates(part)} == {(f.name, lang) for f in FAMILIES for lang in ("en", "zh")}
    shown = {s.trap for part in PARTS for s in generate.mutants(part)}
    assert shown == {trap.kind for family in FAMILIES for trap in family.traps}


def test_the_statements_are_the_same_in_every_run():
    before = generate.truths("tuned"), generate.mutants("held-out")
    for made in (generate.truths, generate.mutants, generate._cases):
        made.cache_clear()
    assert (generate.truths("tuned"), generate.mutants("held-out")) == before


def test_a_left_out_word_leaves_no_brackets():
    slots = {"rate": Amount(900, "GB/s"), "w": Word("")}
    assert texts.rendered(template("NVLink: <rate> (<w>), per GPU"), slots, "k").replace(" ", "") == "NVLink:900GB/s,perGPU"
    assert texts.rendered(template("互联 <rate>（<w>）", "zh"), slots, "k").endswith("GB/s")


def test_cells_of_comma_separated_values_hold_no_comma():
    slots = {"rate": Amount(1979, "TFLOPS")}
    assert {texts.rendered(template("<rate>", form="csv"), slots, f"k{n}").replace(" ", "") for n in range(12)} == {"1979TFLOPS"}


def statement(trap: str = "") -> Statement:
    return Statement("s", "s.txt", "en", "text", ("source",), trap, "s" if trap else "")


def test_scores_count_alarms_that_the_true_statement_did_not_raise():
    heard = [
        Heard(statement(), ("audit.a",)),
        Heard(statement("one"), ("audit.a", "audit.b")),
        Heard(statement("one"), ("audit.a",)),
        Heard(statement("two"), ("audit.b",)),
        Heard(statement("direction not told"), (), open=True),
        Heard(statement("direction not told"), ("audit.b",)),
    ]
    found = scored("tuned", heard)
    assert (found.truths, found.mutants, len(found.false_alarms), len(found.misses)) == (1, 5, 1, 2)
    assert [(s.trap, s.shown, s.found) for s in found.traps] == [("direction not told", 2, 1), ("one", 2, 1), ("two", 1, 1)]
    assert found.recall == pytest.approx(3 / 5)
    assert found.mean_recall == pytest.approx(2 / 3)
    assert found.false_alarm_rate == 1.0
    assert found.precision == pytest.approx(3 / 4)
    assert [(r.rule, r.found, r.false, r.traps) for r in found.rules] == [
        ("audit.a", 2, 1, ("one",)),
        ("audit.b", 3, 0, ("one", "two", "direction not told")),
    ]
    assert [r.precision for r in found.rules] == [pytest.approx(2 / 3), 1.0]


def test_open_is_what_is_asked_or_not_certain():
    sure = Reading("900 GB/s", 1, "bandwidth", 9e11, "B/s")
    unsure = Reading("900 GB/s", 1, "bandwidth", 9e11, "B/s", status="assumed")
    assert not is_open(Audit((), (sure,), ()))
    assert is_open(Audit((), (unsure,), ()))
    assert is_open(Audit((), (sure,), (Finding("audit.x", "question"),)))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_table_tells_every_trap_in_words(lang: str):
    found = scored(
        "tuned",
        [Heard(statement(trap.kind), ()) for family in FAMILIES for trap in family.traps] + [Heard(statement(), ())],
    )
    assert traps_sheet(found, lang).rows[0][1:]
    assert not rules_sheet(found, lang).rows
    assert "0.0%" in headline(found, lang).replace(" %", "%")
    for score in found.traps:
        assert messages.has(f"trial.trap.{score.trap.lower().replace(',', '').replace('/', '_').replace(' ', '_')}")
        assert trap_text(score.trap, lang)


@pytest.mark.parametrize("part", PARTS)
def test_nine_of_ten_traps_are_told(part: Part):
    found = run_trial(part)
    assert found.recall >= 0.9, sorted((score.recall, score.trap) for score in found.traps)[:8]


def test_every_kind_of_trap_is_told_more_often_than_not():
    found = run_trial("tuned")
    assert found.mean_recall >= 0.95
    assert not [(score.trap, score.recall) for score in found.traps if score.recall < 0.6]


@pytest.mark.parametrize("part", PARTS)
def test_at_most_one_true_statement_in_a_hundred_is_doubted(part: Part):
    found = run_trial(part)
    assert found.false_alarm_rate <= 0.01, [(heard.alarms, heard.statement.text) for heard in found.false_alarms]


def test_the_trial_stands_in_json_with_its_shares():
    found = scored("tuned", [Heard(statement(), ("audit.a",)), Heard(statement("one"), ("audit.a", "audit.b"))])
    told = json.loads(json.dumps(printed_trial(found)))
    assert (told["truths"], told["mutants"], told["recall"], told["false_alarm_rate"]) == (1, 1, 1.0, 1.0)
    assert told["traps"] == [{"trap": "one", "shown": 1, "found": 1, "recall": 1.0}]
    assert told["rules"][0] == {"rule": "audit.a", "found": 1, "false": 1, "precision": 0.5, "traps": ["one"]}
    assert told["false_alarms"] == [{"text": "text", "alarms": ["audit.a"], "sources": ["source"]}]
    assert not told["misses"]

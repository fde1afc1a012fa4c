"""The trial: what the audit says to true statements and to those with a trap."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from tierspan.answers.audit.audit import audit
from tierspan.answers.audit.result import Audit
from tierspan.answers.audit.trial.base import Part, Statement
from tierspan.answers.audit.trial.facts import DATA
from tierspan.answers.audit.trial.generate import mutants, truths
from tierspan.formats.sheets import sheet_of_text

SCHEMA_VERSION = "1"
OPEN = "open"
"""Answer to a trap that makes a statement unclear, not false: the figure is read as assumed or ambiguous, or a question is asked."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What the audit said to one statement: ``alarms`` are the rules that gave a warning or an error, and refuted claims as ``claim.<kind>``."""

    statement: Statement
    alarms: tuple[str, ...]
    told: tuple[str, ...]
    hit: bool


@dataclass(frozen=True, slots=True)
class TrapScore:
    """Of ``shown`` statements with this trap ``found`` were told for what they are, and ``alarmed`` gave any warning or error."""

    trap: str
    shown: int
    found: int
    alarmed: int

    @property
    def recall(self) -> float:
        """Share of traps found."""
        return self.found / self.shown


@dataclass(frozen=True, slots=True)
class RuleScore:
    """How often a rule spoke: to traps that it answers for, to other false statements, and to true ones."""

    rule: str
    right: int
    other: int
    false: int

    @property
    def precision(self) -> float:
        """Share of its alarms that were about a false statement."""
        return (self.right + self.other) / (self.right + self.other + self.false)


@dataclass(frozen=True, slots=True)
class Trial:
    """Recall by trap, precision by rule, and what was missed or raised without cause."""

    part: Part
    truths: int
    mutants: int
    traps: tuple[TrapScore, ...]
    rules: tuple[RuleScore, ...]
    false_alarms: tuple[Heard, ...]
    misses: tuple[Heard, ...]
    schema_version: str = SCHEMA_VERSION

    @property
    def recall(self) -> float:
        """Share of all mutants that were found."""
        return sum(score.found for score in self.traps) / self.mutants

    @property
    def mean_recall(self) -> float:
        """Mean of the recalls of the kinds of trap: each counts the same."""
        return sum(score.recall for score in self.traps) / len(self.traps)

    @property
    def false_alarm_rate(self) -> float:
        """Share of true statements with a warning or an error."""
        return len(self.false_alarms) / self.truths

    @property
    def precision(self) -> float:
        """Share of statements with an alarm that hold a trap."""
        alarmed = sum(score.alarmed for score in self.traps)
        return alarmed / (alarmed + len(self.false_alarms)) if alarmed else 0.0


@cache
def answers() -> Mapping[str, tuple[str, ...]]:
    """Rules (or beginnings of their ids) that answer for a trap; a trap without any is answered by every alarm."""
    found: dict[str, tuple[str, ...]] = {}
    with (DATA / "answers.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found[row["trap"]] = (*found.get(row["trap"], ()), row["answer"])
    return found


def run_trial(part: Part = "tuned", *, progress: Callable[[int, int], None] | None = None) -> Trial:
    """Audit every true statement and every mutant of one part.

    Args:
        part: the statements that rules may be tuned on, or those held out.
        progress: called with statements done and in all.
    """
    every = (*truths(part), *mutants(part))
    heard = []
    for number, statement in enumerate(every, start=1):
        heard.append(hear(statement))
        if progress is not None:
            progress(number, len(every))
    return scored(part, heard)


def hear(statement: Statement) -> Heard:
    """What the audit says to one statement."""
    answer = audit([sheet_of_text(statement.text, statement.name)])
    alarms = tuple(dict.fromkeys(alarms_of(answer)))
    told = tuple(dict.fromkeys(finding.id for finding in answer.findings))
    expected = answers().get(statement.trap, ())
    if not statement.trap:
        hit = False
    elif OPEN in expected:
        hit = is_open(answer)
    else:
        hit = any(not expected or rule.startswith(expected) for rule in alarms)
    return Heard(statement, alarms, told, hit)


def alarms_of(answer: Audit) -> Sequence[str]:
    """Warnings and errors by their id, and refuted claims."""
    found = [finding.id for finding in answer.findings if finding.severity in ("warning", "error")]
    return [*found, *(f"claim.{claim.kind}" for claim in answer.claims if claim.verdict == "refuted")]


def is_open(answer: Audit) -> bool:
    """Whether the audit leaves something open and says so."""
    asked = answer.questions or any(finding.severity == "question" for finding in answer.findings)
    return bool(asked) or any(reading.status != "certain" for reading in answer.readings)


def scored(part: Part, heard: Sequence[Heard]) -> Trial:
    """The trial of what was heard."""
    true = [h for h in heard if not h.statement.trap]
    false = [h for h in heard if h.statement.trap]
    kinds = Counter(h.statement.trap for h in false)
    found = Counter(h.statement.trap for h in false if h.hit)
    alarmed = Counter(h.statement.trap for h in false if h.alarms)
    return Trial(
        part=part,
        truths=len(true),
        mutants=len(false),
        traps=tuple(TrapScore(kind, kinds[kind], found[kind], alarmed[kind]) for kind in sorted(kinds)),
        rules=_rule_scores(true, false),
        false_alarms=tuple(h for h in true if h.alarms),
        misses=tuple(h for h in false if not h.hit),
    )


def _rule_scores(true: Sequence[Heard], false: Sequence[Heard]) -> tuple[RuleScore, ...]:
    right: Counter[str] = Counter()
    other: Counter[str] = Counter()
    for heard in false:
        expected = answers().get(heard.statement.trap, ())
        for rule in heard.alarms:
            (right if not expected or rule.startswith(expected) else other)[rule] += 1
    wrong = Counter(rule for heard in true for rule in heard.alarms)
    return tuple(RuleScore(rule, right[rule], other[rule], wrong[rule]) for rule in sorted({*right, *other, *wrong}))

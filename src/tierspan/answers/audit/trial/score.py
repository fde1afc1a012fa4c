"""The trial: what the audit says to true statements and to those with a trap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from tierspan.answers.audit.audit import audit
from tierspan.answers.audit.result import Audit
from tierspan.answers.audit.trial.base import Part, Statement
from tierspan.answers.audit.trial.generate import mutants, truths
from tierspan.formats.sheets import sheet_of_text

SCHEMA_VERSION: Final = "1"
UNCLEAR: Final = frozenset({"direction not told", "basis not told"})
"""Traps that make a statement unclear, not false: found where a figure is read as assumed or ambiguous, or a question is asked."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What the audit said to one statement: ``alarms`` are rules that gave a warning or an error, refuted claims as ``claim.<kind>``.

    ``open`` says whether it left something open and told so.
    """

    statement: Statement
    alarms: tuple[str, ...]
    open: bool = False


@dataclass(frozen=True, slots=True)
class TrapScore:
    """Of ``shown`` statements with this trap ``found`` were told."""

    trap: str
    shown: int
    found: int

    @property
    def recall(self) -> float:
        """Share of traps found."""
        return self.found / self.shown


@dataclass(frozen=True, slots=True)
class RuleScore:
    """How often a rule spoke: to statements with a trap (``traps``: which, the most frequent first), and to true ones."""

    rule: str
    found: int
    false: int
    traps: tuple[str, ...]

    @property
    def precision(self) -> float:
        """Share of its alarms that were about a statement with a trap."""
        return self.found / (self.found + self.false)


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
        """Share of the statements told that hold a trap."""
        found = sum(score.found for score in self.traps)
        return found / (found + len(self.false_alarms)) if found else 0.0


@cache
def run_trial(part: Part = "tuned") -> Trial:
    """Audit every true statement and every mutant of one part: those that rules may be tuned on, or those held out."""
    return scored(part, [hear(statement) for statement in (*truths(part), *mutants(part))])


def hear(statement: Statement) -> Heard:
    """What the audit says to one statement."""
    answer = audit([sheet_of_text(statement.text, statement.name)])
    return Heard(statement, tuple(dict.fromkeys(alarms_of(answer))), is_open(answer))


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
    before = {h.statement.id: h.alarms for h in true}
    hits = [h for h in false if _is_hit(h, before.get(h.statement.truth, ()))]
    kinds, found = (Counter(h.statement.trap for h in listed) for listed in (false, hits))
    return Trial(
        part=part,
        truths=len(true),
        mutants=len(false),
        traps=tuple(TrapScore(kind, kinds[kind], found[kind]) for kind in sorted(kinds)),
        rules=_rule_scores(true, false),
        false_alarms=tuple(h for h in true if h.alarms),
        misses=tuple(h for h in false if h not in hits),
    )


def _is_hit(heard: Heard, before: Collection[str]) -> bool:
    """Whether the trap was told: by an alarm that the true statement did not raise."""
    return heard.open if heard.statement.trap in UNCLEAR else any(rule not in before for rule in heard.alarms)


def _rule_scores(true: Sequence[Heard], false: Sequence[Heard]) -> tuple[RuleScore, ...]:
    right: dict[str, Counter[str]] = {}
    for heard in false:
        for rule in heard.alarms:
            right.setdefault(rule, Counter())[heard.statement.trap] += 1
    wrong = Counter(rule for heard in true for rule in heard.alarms)
    scores = []
    for rule in sorted({*right, *wrong}):
        traps = right.get(rule, Counter())
        scores.append(RuleScore(rule, traps.total(), wrong[rule], tuple(trap for trap, _ in traps.most_common())))
    return tuple(scores)


def printed_trial(trial: Trial) -> dict[str, object]:
    """The trial as it stands in JSON, shares beside the counts that they come from."""
    traps = [{"trap": s.trap, "shown": s.shown, "found": s.found, "recall": s.recall} for s in trial.traps]
    rules = [{"rule": s.rule, "found": s.found, "false": s.false, "precision": s.precision, "traps": s.traps} for s in trial.rules]
    return {
        "part": trial.part,
        "truths": trial.truths,
        "mutants": trial.mutants,
        "recall": trial.recall,
        "mean_recall": trial.mean_recall,
        "precision": trial.precision,
        "false_alarm_rate": trial.false_alarm_rate,
        "traps": traps,
        "rules": rules,
        "false_alarms": [{"text": h.statement.text, "alarms": h.alarms, "sources": h.statement.sources} for h in trial.false_alarms],
        "misses": [{"trap": h.statement.trap, "text": h.statement.text} for h in trial.misses],
        "schema_version": trial.schema_version,
    }

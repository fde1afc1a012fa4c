"""The trial of the audit as people read it: recall by trap, precision by rule, true statements that were doubted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tierspan.faces.cli.render.parts import fitted, lines, percent, said, title, whole
from tierspan.faces.cli.render.table import Column, Sheet, drawn, number

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tierspan.answers.audit.trial import Trial

_MOST_TRAPS: Final = 3


def trial_parts(trial: Trial, lang: str) -> list[RenderableType]:
    """The parts of the answer from top to bottom."""
    from rich.text import Text

    parts: list[RenderableType] = [
        fitted(Text(headline(trial, lang), style="bold")),
        drawn(traps_sheet(trial, lang)),
        drawn(rules_sheet(trial, lang)),
    ]
    if trial.false_alarms:
        told = (f"{', '.join(heard.alarms)}: {heard.statement.text}" for heard in trial.false_alarms)
        parts.append(lines(*told, head=title("trial.false_alarms", lang)))
    return parts


def headline(trial: Trial, lang: str) -> str:
    """How much was found, how much raised without cause."""
    return said(
        "trial.headline", lang, mutants=whole(trial.mutants), recall=percent(trial.recall), mean=percent(trial.mean_recall),
        truths=whole(trial.truths), false=whole(len(trial.false_alarms)), rate=percent(trial.false_alarm_rate),
    )  # fmt: skip


def traps_sheet(trial: Trial, lang: str) -> Sheet:
    """Recall by kind of trap."""
    rows = tuple((trap_text(s.trap, lang), whole(s.shown), whole(s.found), percent(s.recall)) for s in trial.traps)
    columns = (Column(said("trial.column.trap", lang)), *(number(said(f"trial.column.{name}", lang)) for name in ("shown", "found", "recall")))
    return Sheet(columns, rows, said("trial.traps", lang))


def rules_sheet(trial: Trial, lang: str) -> Sheet:
    """How often each rule was right, and how often not."""
    comma = said("list.comma", lang)
    rows = tuple(
        (s.rule, whole(s.found), whole(s.false), percent(s.precision), comma.join(trap_text(trap, lang) for trap in s.traps[:_MOST_TRAPS]))
        for s in trial.rules
    )
    heads = [number(said(f"trial.column.{name}", lang)) for name in ("found", "false", "precision")]
    return Sheet((Column(said("trial.column.rule", lang)), *heads, Column(said("trial.column.traps", lang))), rows, said("trial.rules", lang))


def trap_text(trap: str, lang: str) -> str:
    """The kind of trap in words."""
    return said(f"trial.trap.{trap.lower().replace(',', '').replace('/', '_').replace(' ', '_')}", lang)

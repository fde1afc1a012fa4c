"""The causes that are looked for, and the likeliest of a run.

A cause is a ``Rule`` in one of the modules here: an id, a tier, and a test that returns what it found or nothing. Its texts are the
messages ``compare.cause.<id>``, ``.evidence`` (or ``.evidence.<variant>``) and ``.next``.
"""

from __future__ import annotations

from tierspan.answers.comparison.causes import domain, fabric, reading, software
from tierspan.answers.comparison.causes.base import Evidence, Found, Rule
from tierspan.answers.comparison.results import Cause
from tierspan.quantities.messages import fill, has

RULES: tuple[Rule, ...] = (*reading.RULES, *software.RULES, *domain.RULES, *fabric.RULES)
MOST = 5
_OF_HEALTHY = ("small_sizes_only", "above_link", "above_nic")


def likely_causes(evidence: Evidence, lang: str) -> tuple[Cause, ...]:
    """The likeliest causes of a slow or broken run, at most five; none for a run that is as expected."""
    return _found(evidence, "fault", lang)[:MOST] if evidence.bad else ()


def notes(evidence: Evidence, lang: str) -> tuple[Cause, ...]:
    """Figures that look odd and have a reason; not faults. In a faulty run only those that help to read it."""
    return tuple(c for c in _found(evidence, "note", lang) if not (evidence.bad and c.id in _OF_HEALTHY))


def _found(evidence: Evidence, kind: str, lang: str) -> tuple[Cause, ...]:
    hits = [(rule, found) for rule in RULES if rule.kind == kind and (found := rule.test(evidence)) is not None]
    return tuple(_told(rule, found, lang) for rule, found in sorted(hits, key=lambda hit: -hit[1].points))


def _told(rule: Rule, found: Found, lang: str) -> Cause:
    head = f"compare.cause.{rule.id}"

    def text(part: str) -> str:
        wanted = f"{head}.{part}.{found.variant}"
        return fill(wanted if found.variant and has(wanted) else f"{head}.{part}", lang, found.values)

    return Cause(rule.id, rule.tier, fill(head, lang, found.values), text("evidence"), text("next"), round(found.points, 2), dict(found.values))

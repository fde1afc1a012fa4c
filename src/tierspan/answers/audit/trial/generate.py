"""True statements from templates and cases, and the same with one trap each; nothing is drawn by chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from tierspan.answers.audit.trial.base import Case, Family, Part, Statement
from tierspan.answers.audit.trial.families import FAMILIES
from tierspan.answers.audit.trial.texts import Template, rendered, spread, templates

_PER_TEMPLATE: Mapping[Part, int] = {"tuned": 1, "held-out": 3}
"""Cases that a template is filled with: the part for tuning has so many templates that one each is enough."""
_LANGUAGE_CASES = ("share",)


@cache
def _cases(family: str, part: Part) -> tuple[Case, ...]:
    """Cases of a family: every third of them is kept for the held-out part where there are enough to share."""
    found = tuple(next(f for f in FAMILIES if f.name == family).cases())
    if len(found) < 4 or family in _LANGUAGE_CASES:
        return found
    return tuple(case for n, case in enumerate(found) if (n % 3 == 2) == (part == "held-out"))


def _chosen(template: Template, part: Part) -> Iterator[Case]:
    fitting = [case for case in _cases(template.family, part) if template.slots <= case.slots.keys()]
    if template.family in _LANGUAGE_CASES:
        fitting = [case for case in fitting if case.id.endswith(template.language)]
    yield from sorted(fitting, key=lambda case: spread(template.id, case.id))[: _PER_TEMPLATE[part]]


@cache
def truths(part: Part = "tuned") -> tuple[Statement, ...]:
    """Distinct true statements of one part, in the order of the templates."""
    found: dict[str, Statement] = {}
    for template in templates(part):
        for case in _chosen(template, part):
            made = _statement(template, case)
            found.setdefault(made.text, made)
    return tuple(found.values())


@cache
def mutants(part: Part = "tuned") -> tuple[Statement, ...]:
    """Every true statement with every trap that its words can hold; a change that leaves the text as it was, or true, is none."""
    true = {statement.text for statement in truths(part)}
    found: dict[str, Statement] = {}
    for template in templates(part):
        family = next(f for f in FAMILIES if f.name == template.family)
        for case in _chosen(template, part):
            for made in _mutated(template, family, case):
                if made.text not in true:
                    found.setdefault(made.text, made)
    return tuple(found.values())


def _mutated(template: Template, family: Family, case: Case) -> Iterator[Statement]:
    truth = _statement(template, case)
    for number, trap in enumerate(family.traps):
        if not set(trap.needs) <= template.slots or set(trap.without) & template.slots:
            continue
        changed = trap.change(case.slots)
        if changed is not None:
            slots = {**case.slots, **changed}
            yield _statement(template, Case(case.id, slots, case.sources), trap=trap.kind, ending=f"#{number}", truth=truth.id)


def _statement(template: Template, case: Case, *, trap: str = "", ending: str = "", truth: str = "") -> Statement:
    name = f"{template.id}/{case.id}{ending}"
    text = rendered(template, case.slots, f"{template.id}/{case.id}")
    return Statement(name, f"{template.id}.{template.form}", template.language, text, case.sources, trap, truth)

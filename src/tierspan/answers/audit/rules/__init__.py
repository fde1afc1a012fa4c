"""The rules of the audit: every module of this folder that has ``RULES``, and what other packages offer as ``tierspan.audit_rules``."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

from tierspan.answers.audit.rules.base import Rule


@cache
def rules() -> tuple[Rule, ...]:
    """All rules in the order of their ids."""
    names = sorted(p.stem for p in Path(__file__).parent.glob("*.py") if p.stem not in ("__init__", "base"))
    found: list[Rule] = []
    for name in names:
        found += getattr(import_module(f"tierspan.answers.audit.rules.{name}"), "RULES", ())
    for entry in entry_points(group="tierspan.audit_rules"):
        found += entry.load()
    return tuple(sorted(found, key=lambda rule: rule.id))

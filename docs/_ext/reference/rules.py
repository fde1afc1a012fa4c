"""The rules that a plan is held against, each with what is said and the remedy."""

from __future__ import annotations

from reference.markdown import code, plain, table
from tierspan.laws.validity import RULES
from tierspan.quantities.messages import catalogue, fill

_ORDER = ("error", "warning", "info")
_HEADS = {"en": ("rule", "severity", "what is said", "remedy"), "zh": ("规则", "级别", "提示", "处理办法")}


def rules_page(lang: str) -> str:
    """A table of all rules, the ones that make a plan invalid first."""
    texts = catalogue(lang)
    rows = [
        (code(rule.id), fill(f"severity.{rule.severity}", lang, {}), plain(texts[rule.id]), plain(texts.get(f"{rule.id}.remedy", "")))
        for severity in _ORDER
        for rule in RULES
        if rule.severity == severity
    ]
    return table(_HEADS[lang], rows)

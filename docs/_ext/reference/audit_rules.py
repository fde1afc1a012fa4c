"""The rules of the audit, each with what is said, why, the remedy and where the trap was seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reference.markdown import code, page, plain
from tierspan.answers.audit.rules import rules
from tierspan.answers.audit.rules.base import Rule
from tierspan.quantities.messages import catalogue, fill

_ORDER = ("error", "warning", "question", "info")
_LABELS = {
    "en": {"why": "Why", "remedy": "Remedy", "sources": "Seen in", "also": "also", "colon": ": "},
    "zh": {"why": "原因", "remedy": "处理办法", "sources": "出处", "also": "也报告", "colon": "："},
}


def audit_rules_page(lang: str) -> str:
    """All rules by severity, what cannot be true first."""
    parts = []
    for severity in _ORDER:
        listed = [rule for rule in rules() if rule.severity == severity]
        if listed:
            parts += [f"## {fill(f'severity.{severity}', lang, {}).capitalize()} ({len(listed)})", "\n".join(_entry(rule, lang) for rule in listed)]
    return page(*parts)


def _entry(rule: Rule, lang: str) -> str:
    texts, label = catalogue(lang), _LABELS[lang]
    colon = label["colon"]
    told = [id_ for id_ in (rule.id, *_variants(rule.id, texts)) if id_ in texts]
    lines = [f"- {code(rule.id)}" + (f"{colon}{plain(texts[rule.id])}" if rule.id in texts else "")]
    for id_ in told:
        if id_ != rule.id:
            lines.append(f"  - {label['also']} {code(id_)}{colon}{plain(texts[id_])}")
        lines += [f"  - {label[kind]}{colon}{plain(texts[f'{id_}.{kind}'])}" for kind in ("why", "remedy") if f"{id_}.{kind}" in texts]
    lines.append(f"  - {label['sources']}{colon}" + "; ".join(plain(source) for source in rule.sources))
    return "\n".join(lines)


def _variants(rule: str, texts: Mapping[str, str]) -> Iterator[str]:
    """Findings of a rule that have a text of their own (``audit.ports.both``)."""
    known = {other.id for other in rules()}
    yield from (id_ for id_ in texts if id_.startswith(f"{rule}.") and not id_.endswith((".why", ".remedy")) and id_ not in known)

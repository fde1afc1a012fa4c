"""Questions for the seller: what the sheet leaves open, in plain words, the most valuable first.

A question is worth the more the larger the factor that hangs on it: bit or byte 8, per accelerator or node 8, latency 10 to 300, precision and
sparsity 2 to 8, direction 2. Figures that leave the same thing open share one question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tierspan.answers.audit.machines import machines_of
from tierspan.answers.audit.result import Question
from tierspan.quantities.findings import Finding
from tierspan.specs.reading import Reading, Reason

MOST: Final = 12
"""More questions than this nobody answers."""
_ORDER: Final = (
    "bits", "per_what", "precision", "density", "direction", "tier", "latency", "domain", "own", "network", "sparse_assumed", "both_assumed",
    "bits_assumed", "latency_missing",
)  # fmt: skip
_READ: Final = {
    "audit.read.no_precision": "precision", "audit.read.no_direction": "direction", "audit.read.no_tier": "tier",
    "audit.read.latency_basis": "latency", "audit.read.nvlink_headline": "both_assumed", "audit.read.bits": "bits_assumed",
    "audit.read.pcie_both": "both_assumed", "audit.read.switch_both": "both_assumed", "audit.read.switch_each": "both_assumed",
}  # fmt: skip
"""What a reading has to say of itself -> the question that it leads to."""
_FOUND: Final = {
    "audit.direction_missing": "direction", "audit.latency_no_basis": "latency", "audit.peak_unclear": "precision", "audit.bit_or_byte": "bits",
    "audit.per_what": "per_what",
}  # fmt: skip
"""Findings that ask what a reading may ask too; every other finding of severity ``question`` asks in its own words."""
_SETTLED_BY: Final = {
    "sparse_assumed": ("precision", "density"),
    "bits_assumed": ("bits", "per_what"),
    "both_assumed": ("bits", "per_what", "direction"),
}
"""Questions that wait for the answer to another one about the same figure."""
_KNOWN: Final = frozenset({"audit.read.both_known", "audit.read.each_known", "audit.read.link_known"})
"""A figure that is that of a known part needs no confirmation."""
_MOST_TEXTS: Final = 5


def questions_of(readings: Sequence[Reading], findings: Sequence[Finding]) -> tuple[Question, ...]:
    """At most ``MOST`` questions, those with the largest factor behind them first, each asked once."""
    groups: dict[str, list[tuple[int, str]]] = {}
    for reading in readings:
        for name in _open(reading):
            groups.setdefault(name, []).append((reading.line, reading.text))
    own: list[Question] = []
    for finding in findings:
        if finding.severity != "question":
            continue
        text, line = str(finding.values.get("text", "")), finding.place.line or 0
        group = _FOUND.get(finding.id)
        if group is None or not text:
            own.append(Question(Reason(finding.id, finding.values), line, text))
        elif all(text not in seen and seen not in text for _, seen in groups.get(group, ())):
            groups.setdefault(group, []).append((line, text))
    if _no_domain(readings):
        groups["domain"] = [(r.line, r.text) for r in readings if r.tier == "scale-up"][:1]
    if _has(readings, "scale-up") and not _has(readings, "scale-out"):
        groups["network"] = []
    if (_has(readings, "scale-up") or _has(readings, "scale-out")) and not any(r.quantity == "latency" for r in readings):
        groups["latency_missing"] = []
    for name, stronger in _SETTLED_BY.items():
        asked_already = {text for other in stronger for _, text in groups.get(other, ())}
        groups[name] = [(line, text) for line, text in groups.get(name, ()) if text not in asked_already]
        if not groups[name]:
            del groups[name]
    asked: list[Question] = []
    for name in _ORDER:
        if name == "own":
            asked += own
        elif name in groups:
            asked.append(_question(name, groups[name]))
    return tuple(_once(asked)[:MOST])


def _open(reading: Reading) -> list[str]:
    """What a figure leaves open."""
    ids = {reason.id for reason in reading.reasons}
    if reading.status == "certain":
        return []
    if "audit.read.no_density" in ids:
        # one question asks for both
        return ["precision"] if "audit.read.no_precision" in ids else ["density"]
    found = [group for id_, group in _READ.items() if id_ in ids and not (group == "both_assumed" and ids & _KNOWN)]
    if not found and reading.quantity == "compute rate" and reading.alternatives:
        found = ["sparse_assumed"]
    return found


def _has(readings: Sequence[Reading], tier: str) -> bool:
    return any(r.quantity == "bandwidth" and r.tier == tier for r in readings)


def _no_domain(readings: Sequence[Reading]) -> bool:
    """Whether the sheet has a scale-up tier, and neither it nor a part that it names tells how many accelerators share it."""
    inner = [r for r in readings if r.tier == "scale-up" and r.quantity == "bandwidth"]
    counted = any(r.quantity == "count" and r.scope == "domain" for r in readings)
    known = any(m.system.tiers and m.system.tiers[0].domain_size for m in machines_of(readings))
    return bool(inner) and not counted and not known


def _question(name: str, figures: Sequence[tuple[int, str]]) -> Question:
    texts = list(dict.fromkeys(text for _, text in figures))
    shown = ", ".join(texts[:_MOST_TEXTS]) + (" ..." if len(texts) > _MOST_TEXTS else "")
    return Question(Reason(f"audit.ask.{name}", {"text": shown}), figures[0][0] if figures else 0, texts[0] if texts else "")


def _once(asked: Sequence[Question]) -> list[Question]:
    seen: dict[tuple[str, str], Question] = {}
    for question in asked:
        seen.setdefault((question.reason.id, question.text), question)
    return list(seen.values())

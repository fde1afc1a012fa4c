"""An audit at the terminal: the count, what is wrong, the figures, claims, the four steps, the room, questions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tierspan.faces.cli.render.parts import fitted, lines, named, number_of, said, title
from tierspan.quantities.messages import fill, has
from tierspan.quantities.printing import format_bytes, format_duration, format_quantity

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tierspan.answers.audit.result import Audit
    from tierspan.faces.cli.render.table import Sheet
    from tierspan.quantities.findings import Finding
    from tierspan.specs.reading import Reading, Reason


def headline(audit: Audit, lang: str) -> str:
    """How many figures there are, how sure they are, and what was found."""
    if not audit.readings:
        return said("audit.headline.none", lang, files=said("list.comma", lang).join(audit.files))
    counts = {s: sum(r.status == s for r in audit.readings) for s in ("certain", "assumed", "ambiguous")}
    found = {f"{s}s": sum(f.severity == s for f in audit.findings) for s in ("error", "warning")} | {"questions": len(audit.questions)}
    return said("audit.headline", lang, figures=len(audit.readings), **counts, **found)


def audit_parts(audit: Audit, lang: str, *, brief: bool = False) -> list[RenderableType]:
    """The parts of the answer from top to bottom; ``brief``: the sentence only."""
    from rich.text import Text

    from tierspan.faces.cli.render.table import drawn

    parts: list[RenderableType] = [fitted(Text(headline(audit, lang), style="bold"))]
    if brief:
        return parts
    if audit.findings:
        parts.append(lines(*(finding_text(f, lang) for f in audit.findings), head=title("audit.findings", lang)))
    if audit.readings:
        parts += [fitted(drawn(sheet)) for sheet in readings_sheets(audit, lang)]
        if whys := _why_lines(audit, lang):
            parts.append(lines(*whys, head=title("audit.reasons", lang)))
    if audit.claims:
        told = [
            f"{named('audit.verdict', c.verdict, lang)}{said('render.colon', lang)}{c.text}\n  "
            + "\n  ".join(reason_text(r, lang) for r in c.arithmetic)
            for c in audit.claims
        ]
        parts.append(lines(*told, head=title("audit.claims", lang)))
    if audit.steps:
        parts.append(lines(head=title("audit.steps", lang)))
        for step in audit.steps:
            light = named("audit.light", step.light, lang)
            head = Text(f"{named('audit.step', step.name.replace(' ', '_'), lang)} ({light})", style="bold")
            parts.append(lines(*(reason_text(r, lang) for r in step.told), head=head))
    if audit.room:
        parts.append(fitted(drawn(room_sheet(audit, lang))))
    if audit.questions:
        asked = [f"{i}. {reason_text(q.reason, lang)}" for i, q in enumerate(audit.questions, 1)]
        parts.append(lines(*asked, head=title("audit.questions", lang)))
    return parts


def readings_sheets(audit: Audit, lang: str, *, reasons: bool = False) -> list[Sheet]:
    """A table for each file that has figures: as written, as read, the value used, the factor, how sure; with ``reasons`` also why."""
    several = len(audit.files) > 1
    found = {name: [r for r in audit.readings if r.file == name] for name in audit.files}
    return [_readings_sheet(listed, name if several else "", lang, reasons) for name, listed in found.items() if listed]


def _readings_sheet(listed: Sequence[Reading], file: str, lang: str, reasons: bool) -> Sheet:
    from tierspan.faces.cli.render.table import Column, Sheet, number

    rows = tuple(
        (
            str(r.line),
            r.text,
            meaning_text(r, lang),
            value_text(r.value_si, r.unit_si, lang),
            factor_text(r.factor),
            named("audit.status", r.status, lang),
            *([said("list.comma", lang).join(why_texts(r, lang))] if reasons else []),
        )
        for r in listed
    )
    names = ("line", "text", "meaning", "value", "factor", "status", "why")
    heads = [said(f"audit.column.{name}", lang) for name in names]
    columns = [number(heads[0]), Column(heads[1]), Column(heads[2]), number(heads[3]), number(heads[4]), Column(heads[5], fold=False)]
    return Sheet(
        (*columns, *([Column(heads[6])] if reasons else [])), rows, said("audit.readings", lang) + (said("render.colon", lang) + file if file else "")
    )


def why_texts(r: Reading, lang: str) -> list[str]:
    """Why a figure was taken as it was, then what else it could be."""
    told = [reason_text(x, lang) for x in r.reasons]
    for other in r.alternatives:
        fields = said("list.comma", lang).join(field_text(name, value, lang) for name, value in other.changes.items() if name != "scope")
        value = value_text(other.value_si, other.unit_si, lang)
        told.append(said("audit.else", lang, value=value, fields=fields, reason=reason_text(other.reason, lang)))
    return told


def factor_text(factor: float) -> str:
    """The factor from the printed figure to the value used, as people write it: 1/2, 18; nothing for 1."""
    if factor == 1.0:
        return ""
    if factor < 1.0 and abs(1.0 / factor - round(1.0 / factor)) < 1e-6:
        return f"1/{round(1.0 / factor)}"
    return number_of(factor, 3)


def _why_lines(audit: Audit, lang: str) -> list[str]:
    """The reasons below the table: figures with the same reasons share a line."""
    by_text: dict[str, list[str]] = {}
    for r in audit.readings:
        for text in why_texts(r, lang):
            by_text.setdefault(text, []).append(r.text)
    colon, comma = said("render.colon", lang), said("list.comma", lang)
    return [f"{comma.join(dict.fromkeys(figures))}{colon}{text}" for text, figures in by_text.items()]


def room_sheet(audit: Audit, lang: str) -> Sheet:
    """The room line by line."""
    from tierspan.faces.cli.render.table import Column, Sheet, number

    rows = tuple(
        (
            named("audit.room.name", check.name, lang),
            value_text(check.needed, check.unit, lang),
            value_text(check.available, check.unit, lang),
            named("audit.light", check.light, lang),
            reason_text(check.told, lang),
        )
        for check in audit.room
    )
    heads = [said(f"audit.column.{name}", lang) for name in ("check", "needed", "available", "status", "why")]
    return Sheet((Column(heads[0]), number(heads[1]), number(heads[2]), Column(heads[3]), Column(heads[4])), rows, said("audit.room", lang))


def meaning_text(r: Reading, lang: str) -> str:
    """What a figure was taken to be, in a few words: tier and quantity, then what it is per and how it counts."""
    head = [named("audit.tier", r.tier, lang)] if r.tier and r.tier != "memory" else []
    quantity = named("audit.quantity", r.quantity.replace(" ", "_"), lang)
    told = ("" if lang == "zh" else " ").join([*head, quantity])
    fields = (("precision", r.precision), ("density", r.density), ("direction", r.direction), ("scope", r.scope), ("latency_basis", r.latency_basis))
    more = [field_text(name, value, lang) for name, value in fields if value]
    return told + (said("list.comma", lang) + said("list.comma", lang).join(more) if more else "")


def field_text(name: str, value: str, lang: str) -> str:
    """The words of one field of a reading."""
    if name == "precision":
        return value.upper()
    return named("audit.latency" if name == "latency_basis" else f"audit.{name}", value.replace(" ", "_"), lang)


def value_text(value: float | None, unit: str, lang: str) -> str:
    """A value with its unit in the usual prefix."""
    if value is None or not math.isfinite(value):
        return "-"
    if unit == "s":
        return format_duration(value, lang=lang)
    if unit == "B":
        return format_bytes(value)
    if unit in ("", "1"):
        return number_of(value, 6)
    return format_quantity(value, unit, lang=lang)


def reason_text(reason: Reason, lang: str) -> str:
    """The text of a reason."""
    return fill(reason.id, lang, reason.values)


def finding_text(finding: Finding, lang: str) -> str:
    """A finding with its place, why it matters, and what to do."""
    colon, where = said("render.colon", lang), str(finding.place)
    told = [named("severity", finding.severity, lang) + colon + (where + colon if where else "") + fill(finding.id, lang, finding.values)]
    for part, label in ((".why", said("audit.why", lang)), (".remedy", said("render.remedy", lang))):
        if has(f"{finding.id}{part}"):
            told.append(f"  {label}{colon}{fill(f'{finding.id}{part}', lang, finding.values)}")
    return "\n".join(told)


def worst(lights: Sequence[str]) -> str:
    """The worst of several lights."""
    order = ("fail", "derate", "unknown", "pass")
    return min(lights, key=order.index, default="unknown")

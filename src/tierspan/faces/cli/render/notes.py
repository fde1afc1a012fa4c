"""What stands under an answer: findings, assumptions, sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tierspan.quantities.messages import fill, render_finding

if TYPE_CHECKING:
    from rich.console import Group

    from tierspan.quantities.facts import Source
    from tierspan.quantities.findings import Assumption, Finding

_STYLES = {"error": "bold red", "warning": "yellow", "question": "cyan", "info": ""}


def findings(found: Sequence[Finding], lang: str) -> Group:
    """Findings with their remedies, the gravest first."""
    order = list(_STYLES)
    lines = [(render_finding(f, lang), _STYLES[f.severity]) for f in sorted(found, key=lambda f: order.index(f.severity))]
    return _block(fill("cli.findings", lang, {}), lines)


def assumptions(taken: Sequence[Assumption], lang: str) -> Group:
    """Values that the input did not give, each with what was taken and why."""
    colon = fill("render.colon", lang, {})
    lines = [(f"{a.field} = {a.value}{colon}{fill(a.reason_id, lang, {**a.values, 'value': a.value})}", "") for a in taken]
    return _block(fill("cli.assumptions", lang, {}), lines)


def sources(read: Sequence[Source], lang: str) -> Group:
    """Where the figures come from, each source once, in the order of first use."""
    told = dict.fromkeys(f"{s.reference} ({s.kind}{', ' + s.date if s.date else ''})" for s in read)
    return _block(fill("cli.sources", lang, {}), [(line, "") for line in told])


def _block(title: str, lines: Sequence[tuple[str, str]]) -> Group:
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    parts: list[Text | Padding] = [Text(title, style="bold")]
    for line, style in lines:
        for index, part in enumerate(line.split("\n")):
            parts.append(Padding(Text(part.strip(), style=style), (0, 0, 0, 2 if index == 0 else 4)))
    return Group(*parts)

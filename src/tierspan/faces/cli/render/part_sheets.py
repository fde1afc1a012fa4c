"""Fabrics, networks, switches, optics, cables and fibres at the terminal: the list, and the sheet of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tierspan.faces.cli.render.facts import facts_table
from tierspan.faces.cli.render.keyvalue import pairs
from tierspan.faces.cli.render.table import Column, table
from tierspan.quantities.messages import fill, has

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tierspan.answers.catalog import PartEntry, PartSheet

_FIRST: Final = (
    "openness",
    "backers",
    "status",
    "memory_semantics",
    "in_network_reduction",
    "topology",
    "phy",
    "link_layer",
    "transport",
    "medium",
    "why",
)
_SLUG: Final = 60
"""Letters of a message id that stand for words."""


def entries(found: Sequence[PartEntry], lang: str) -> list[RenderableType]:
    """One table for each kind that was found."""
    made: list[RenderableType] = []
    for kind in dict.fromkeys(entry.kind for entry in found):
        heads = [Column(_t("id", lang), fold=False), Column(_t("name", lang)), Column(_p("owner", lang)), Column(_p("status", lang))]
        rows = [[one.id, one.name, one.owner, value(one.status, lang)] for one in found if one.kind == kind]
        if not any(row[3] for row in rows):
            heads, rows = heads[:3], [row[:3] for row in rows]
        made.append(table(heads, rows, title=_p(f"kind.{kind}", lang)))
    return made


def part(sheet: PartSheet, lang: str) -> list[RenderableType]:
    """What it is in words, then all figures with their sources."""
    found = sheet.part
    rows = [(_t("id", lang), found.id), (_p("kind", lang), _p(f"one.{found.kind}", lang))]
    if found.owner:
        rows.append((_p("owner", lang), found.owner))
    told = {fact.key: fact.original for fact in found.facts if fact.is_text and fact.used}
    rows += [(label(key, lang), value(told[key], lang)) for key in (*_FIRST, *(key for key in told if key not in _FIRST)) if key in told]
    if found.kind in ("fabric", "network"):
        rows += [(label(key, lang), _t("unknown", lang)) for key in ("memory_semantics", "phy", "link_layer", "transport") if key not in told]
    return [pairs(rows, title=found.name), *facts_table([("", found.facts)], lang)]


def label(key: str, lang: str) -> str:
    """The name of a fact in words."""
    return _p(key, lang) if has(f"cli.part.{key}") else key.replace("_", " ")


def value(words: str, lang: str) -> str:
    """Words of a source, translated where they are the usual ones."""
    slug = "".join(c if c.isascii() and c.isalnum() else "_" for c in words.casefold())[:_SLUG].strip("_")
    return _p(f"word.{slug}", lang) if has(f"cli.part.word.{slug}") else words


def _p(name: str, lang: str) -> str:
    return fill(f"cli.part.{name}", lang, {})


def _t(name: str, lang: str) -> str:
    return fill(f"cli.catalog.{name}", lang, {})

"""Facts as a table: value, as printed, basis, and a number for the source, which stands below."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tierspan.faces.cli.render.table import Column, table
from tierspan.quantities.messages import fill
from tierspan.quantities.printing import format_quantity

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from tierspan.quantities.facts import Fact, Mark


_AS_PRINTED: Final = ("s/m", "dB/m")
"""Units that nobody reads in SI."""


def facts_table(groups: Sequence[tuple[str, Sequence[Fact]]], lang: str) -> tuple[Table, Text]:
    """A table of facts in groups (a tier, the system itself) and the numbered list of their sources.

    A figure that predictions do not take, because another source is preferred, stands in brackets. Each source says whether the vendor's own page
    was read; how many figures rest on which stands above the list.
    """
    numbers: dict[str, int] = {}
    rows: list[tuple[str, ...]] = []
    for group, listed in groups:
        name = group
        for fact in listed:
            source = f"{fact.source.reference} ({', '.join(part for part in (fact.source.kind, fact.source.date) if part)}){_mark(fact, lang)}"
            value = "" if fact.is_text or fact.unit in _AS_PRINTED else format_quantity(fact.value, fact.unit, lang=lang, digits=4)
            printed = "" if fact.is_text else fact.original if value or fact.used else f"({fact.original})"
            words = [fact.original if fact.used else f"({fact.original})"] if fact.is_text else []
            note = "; ".join(part for part in (*words, fact.basis, fact.note) if part)
            shown = value if fact.used or not value else f"({value})"
            rows.append((name, fact.key.replace("_", " "), shown, printed, note, str(numbers.setdefault(source, len(numbers) + 1))))
            name = ""
    heads = [fill(f"cli.facts.{name}", lang, {}) for name in ("of", "figure", "value", "printed", "basis", "source")]
    columns = [Column(head, justify="right" if index in (2, 5) else "left", fold=index in (0, 3, 4)) for index, head in enumerate(heads)]
    if not any(group for group, _ in groups):
        columns, rows = columns[1:], [row[1:] for row in rows]
    counted = Counter(fact.source.mark for _, listed in groups for fact in listed if fact.used and not fact.is_text)
    return table(columns, rows), _sources(numbers, counted, lang)


def _mark(fact: Fact, lang: str) -> str:
    """Whether the vendor's page was read, for sources that are neither measured, derived nor assumed: those say it themselves."""
    name = {"vendor page": "vendor_page", "second hand": "second_hand"}.get(fact.source.mark)
    return "" if name is None else f" - {fill(f'cli.marks.{name}', lang, {})}"


def _sources(numbers: dict[str, int], counted: Counter[Mark], lang: str) -> Text:
    from rich.text import Text

    # An address is copied, so it is never broken.
    block = Text(no_wrap=True, overflow="ignore")
    read, second = counted["vendor page"], counted["second hand"]
    if read or second:
        values = {"all": counted.total(), "read": read, "second": second, "rest": counted.total() - read - second}
        block.append(f"{fill('cli.marks.count', lang, values)}\n\n")
    block.append(fill("cli.sources", lang, {}), style="bold")
    width = len(str(len(numbers)))
    for source, index in numbers.items():
        block.append(f"\n  {index:>{width}}  {source}", style="not bold")
    return block

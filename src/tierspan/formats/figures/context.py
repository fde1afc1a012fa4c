"""What stands around each figure: the words of its clause, the heads of its row and column, the part that it is about, its footnote."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from tierspan.formats.figures.heads import unit_cell, with_unit
from tierspan.formats.figures.known import Part, part
from tierspan.formats.figures.spans import NUMBER_ALONE, Span, counted_alone, spans_of
from tierspan.formats.figures.subjects import Named, named_in
from tierspan.specs.sheet import SheetDocument, SheetLine

_MARK: Final = re.compile(r"^\s?(\*{1,3}|[†‡§¹²³⁴]|\[\d\]|\(\d\))")
_NOTE: Final = re.compile(r"^\s*(\*{1,3}|[†‡§¹²³⁴]|\[\d\]|\(\d\)|注[：:]?)\s*(.+)$")
_LONE: Final = re.compile(
    r"^[,，、/]\s?(?:dense|sparse|with(?:out)?\s+(?:2:4\s+|structured\s+)?sparsity|bi-?\s?directional|uni-?\s?directional"
    r"|both\s+(?:directions|ways)(?:\s+(?:added\s+up|together|combined|summed|counted))?"
    r"|(?:per|in\s+each|each|one)\s+(?:direction|way)|in\s+both\s+directions(?:\s+combined)?|full\s+duplex|(?:不含|含)?(?:结构化)?稀疏|稠密|双向[^\s,，;；。|]{0,4}|单向|每方向)"
    r"\s*(?=$|[,，;；。.)）|（(])",
    re.IGNORECASE,
)
"""A clause behind a figure that is nothing but its label: "156 TFLOPS TF32, sparse"."""
_BRACKET: Final = re.compile(r"\s?[(（][^()（）]*[)）]")
_AND: Final = re.compile(r"(?:\b(?:and|plus)|[和与及])\s*$", re.IGNORECASE)
_JOINED: Final = re.compile(r"\s?(?:[(（][^()（）]*[)）])?\s*(?:and|&|和|与|及|、)\s*", re.IGNORECASE)
"""Between two figures that share the words before them: "dense peaks are 989 (BF16) and 1,979 (FP8)"."""
_CLAUSE: Final = re.compile(r"[,;，；。|]|\.\s|\s{3,}|\s/\s")


@dataclass(frozen=True, slots=True)
class Context:
    """A figure with its surroundings.

    ``before`` and ``after`` reach to the neighbouring figures; ``near_after`` ends with the clause. ``row`` and ``column`` are the heads of a table,
    ``section`` what the line stands under, ``note`` the footnote that a mark behind the figure leads to. ``named`` is the part in force.
    ``prefix`` is all of the line before the figure. Names of parts are blanked in these words: the PCIe of "H100 PCIe" is no bus.
    """

    span: Span
    line: SheetLine
    before: str
    after: str
    near_after: str
    row: str
    column: str
    section: str
    note: str
    named: Named | None
    part: Part | None
    prefix: str = ""
    counted: str = ""
    """What the line counted last before the figure: link in "18 links of 25 GB/s"."""
    earlier: str = ""
    """Words of the lines above in the same block, nearest last: "Switch:" above a list."""


def contexts(document: SheetDocument) -> Iterator[Context]:
    """The figures of a document in the order of the text, each with its context."""
    notes = {m[1]: m[2] for line in document.lines if (m := _NOTE.match(line.text)) and not spans_of(m[2])}
    current: Named | None = None
    above: list[str] = []
    for line in document.lines:
        texts = [(cell, line.heads[i] if i < len(line.heads) else "") for i, cell in enumerate(line.cells)] if line.cells else [(line.text, "")]
        row_named = named_in(line.text)
        if row_named:
            current = row_named[-1] if not line.cells else row_named[0]
        if not line.text.strip():
            above = []
        row = line.cells[0] if line.cells else ""
        unit = unit_cell(line.cells, line.heads)
        for index, (text, head) in enumerate(texts):
            listed = named_in(text)
            own = named_in(head) or named_in(row if line.cells else "")
            yield from _of_text(
                text, line, listed, own[-1] if own else row_named[0] if row_named else current, notes,
                row="" if index == 0 else row, column=head, earlier=" ".join(above[-3:]), unit=unit,
            )  # fmt: skip
        if not any(spans_of(text) for text, _ in texts):
            above.append(line.text)


def _of_text(
    text: str,
    line: SheetLine,
    listed: tuple[Named, ...],
    inherited: Named | None,
    notes: dict[str, str],
    *,
    row: str,
    column: str,
    earlier: str,
    unit: str,
) -> Iterator[Context]:
    found = spans_of(text, [(n.start, n.end) for n in listed])
    if not found and NUMBER_ALONE.fullmatch(text.strip()):
        united = with_unit(text, column, row, unit)
        found = tuple(replace(s, text=text.strip(), start=0, end=len(text)) for s in spans_of(united)) if united else counted_alone(text, row, column)
    # keys of YAML and JSON are words joined by underscores
    spoken = text.replace("_", " ")
    for n in listed:
        spoken = spoken[: n.start] + " " * (n.end - n.start) + spoken[n.end :]
    counted = before = ""
    for i, span in enumerate(found):
        start = found[i - 1].end if i else 0
        # What follows the figure before, up to the end of its clause, is about that one: "25 GB/s per link, 450 GB/s in all".
        between = spoken[start : span.start]
        start += _begins(between) if i else 0
        before = f"{before} " if i and _JOINED.fullmatch(between) else spoken[start : span.start]
        stop = found[i + 1].start if i + 1 < len(found) else len(text)
        after = spoken[span.end : stop]
        mark = _MARK.match(text[span.end : span.end + 5])
        before_names = [n for n in listed if n.start <= span.start]
        named = before_names[-1] if before_names else inherited
        yield Context(
            span=span, line=line, before=before, after=after, near_after=after[: _clause(after, last=i + 1 == len(found))[0]],
            row=row.replace("_", " "),
            column=column.replace("_", " "), section=line.section.replace("_", " "), note=notes.get(mark[1], "") if mark else "", named=named,
            counted=counted, part=part(named.thing, named.id) if named is not None else None, prefix=spoken[: span.start], earlier=earlier,
        )  # fmt: skip
        counted = span.of or (span.noun if span.noun not in ("ratio", "part") else "") or counted


def _begins(between: str) -> int:
    """Where, in the words between two figures, those of the second begin: behind a clause, a bracket or an "and" of the first."""
    if _AND.search(between):
        return len(between)
    bracket = _BRACKET.match(between)
    return max(_clause(between, last=False)[1], bracket.end() if bracket else 0)


def _clause(text: str, *, last: bool) -> tuple[int, int]:
    """Where the clause that a text begins with ends, and where the next one begins (0 where there is none); a label of its own goes with it.

    ``last`` says that no figure follows the text: else a label at its end is that of the next figure.
    """
    cut = _CLAUSE.search(text)
    if cut is None:
        return len(text), 0
    lone = _LONE.match(text[cut.start() :])
    if lone is None or (not last and not text[cut.start() + lone.end() :].strip()):
        return cut.start(), cut.end()
    labelled = cut.start() + lone.end()
    further = _CLAUSE.search(text, labelled)
    return (further.start(), further.end()) if further else (labelled, labelled)

"""A sentence of a sheet with its numbers, the parts and models that it names, and the part that the lines above were about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final

from tierspan.answers.audit.claims.amounts import Amount, amounts_of
from tierspan.formats.figures.known import Part, part
from tierspan.formats.figures.subjects import Named, named_in
from tierspan.specs.model import ModelSpec
from tierspan.specs.models import find_model_id, model, model_ids
from tierspan.specs.reading import Reading
from tierspan.specs.sheet import SheetDocument

_END: Final = re.compile(r"[。；;！!？?](?!\d)|\.(?=\s+[A-Z\u4e00-\u9fff])|\.\s*$|\s\|\s")
_WORD: Final = re.compile(r"[A-Za-z0-9][\w.+-]*(?<!\.)", re.ASCII)
_PROSE: Final = frozenset({"text", "markdown", "pdf", "html"})
_OF: Final = re.compile(r"^\s*(?:[x×*]|of|units?|sets?|NVIDIA|AMD|Huawei|华为|昇腾|英伟达|台|套|张|块|颗|个|柜|\s)*$", re.IGNORECASE)
_FAR: Final = 4
"""So many lines below the last name of a part a sentence is about something else."""
_WRAPPED: Final = 60
"""A shorter line was not broken by a margin: what follows is another sentence."""
_MOST_CHARACTERS: Final = 2000
"""A longer sentence is a table or a mistake; no claim is looked for in it."""


@dataclass(frozen=True)
class Sentence:
    """One sentence; ``named`` are accelerators and systems in it, ``models`` the models, ``readings`` the figures by where they begin.

    ``inherited`` is the part that the lines above were about, ``before`` the sentences just before, nearest first.
    """

    text: str
    line: int
    file: str
    amounts: tuple[Amount, ...]
    named: tuple[Named, ...]
    models: tuple[ModelSpec, ...]
    readings: tuple[tuple[int, Reading], ...] = ()
    inherited: Named | None = None
    before: tuple[Sentence, ...] = ()

    def of(self, unit: str) -> tuple[Amount, ...]:
        """The amounts in this SI unit ("%" for shares)."""
        return tuple(a for a in self.amounts if a.unit == unit)

    def counts(self, *nouns: str) -> tuple[Amount, ...]:
        """The amounts that count these things."""
        return tuple(a for a in self.amounts if a.unit == "1" and a.noun in nouns)

    def says(self, pattern: str) -> bool:
        """Whether a word of the pattern stands in it, whatever the case."""
        return re.search(pattern, self.text, re.IGNORECASE) is not None

    def between(self, a: Amount, b: Amount) -> str:
        """The text from the end of one amount to the beginning of the next."""
        return self.text[a.end : b.start]

    def reading_of(self, amount: Amount) -> Reading | None:
        """The figure that the reader of sheets made of this amount."""
        return next((r for start, r in self.readings if start <= amount.start < start + len(r.text)), None)

    def part_near(self, amount: Amount | None = None) -> Part | None:
        """The part named last before the amount, else the first one named, else the one that the lines above were about."""
        listed = [n for n in self.named if amount is None or n.start <= amount.start] or list(self.named)
        found = (listed[-1] if amount is not None and listed else listed[0] if listed else None) or self.inherited
        return part(found.thing, found.id) if found is not None else None

    @cached_property
    def counted_parts(self) -> tuple[tuple[Amount, Named], ...]:
        """Numbers that stand before the name of a part: ``16,384 H100``, ``432 套 CloudMatrix384``, ``4x DGX H100``."""
        pairs = []
        for named in self.named:
            before = [a for a in self.amounts if a.unit == "1" and a.end <= named.start]
            if before and _OF.match(self.text[before[-1].end : named.start]):
                pairs.append((before[-1], named))
        return tuple(pairs)

    @cached_property
    def part(self) -> Part | None:
        """The part that the sentence is about."""
        return self.part_near()


def sentences_of(document: SheetDocument, readings: Sequence[Reading]) -> Iterator[Sentence]:
    """The sentences of a document that hold a number, in the order of the text."""
    by_line: dict[int, list[Reading]] = {}
    for reading in readings:
        if reading.file in ("", document.name):
            by_line.setdefault(reading.line, []).append(reading)
    inherited: Named | None = None
    last = 0
    before: tuple[Sentence, ...] = ()
    rows = {line.number: named_in(line.text) for line in document.lines if line.cells}
    for text, places in _blocks(document):
        first = places[0][1]
        if first in rows:
            # a cell is about what its row names, never about what another row names
            inherited, before = next(iter(rows[first]), None), ()
        elif first - last > _FAR:
            inherited = None
        for start, end in _cuts(text):
            piece = text[start:end]
            if not piece.strip() or len(piece) > _MOST_CHARACTERS:
                continue
            named = named_in(piece)
            models = _models_in(piece)
            here = _readings_in(by_line, places, start, end)
            amounts = amounts_of(piece, [(n.start, n.end) for n in named] + [span for span, _ in models])
            made = Sentence(
                piece, _line_at(places, start + len(piece) - len(piece.lstrip())), document.name, amounts, named, tuple(model(m) for _, m in models),
                here, inherited, before,
            )  # fmt: skip
            if amounts or named:
                yield made
                before = (made, *before)[:4]
            if named:
                inherited, last = named[-1], first


def _blocks(document: SheetDocument) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Texts in which sentences are looked for, with (offset, line) of each line in them: a cell, or lines of prose that run on."""
    text, places = "", list[tuple[int, int]]()
    for line in document.lines:
        if line.cells:
            if text:
                yield text, places
            text, places = "", []
            for cell in line.cells:
                yield cell, [(0, line.number)]
            continue
        runs_on = document.kind in _PROSE and len(text) >= _WRAPPED and (line.text[:1].islower() or text.rstrip()[-1:] in (",", "，", "、"))
        if text and not runs_on:
            yield text, places
            text, places = "", []
        if text and runs_on:
            places.append((len(text) + 1, line.number))
            text += " " + line.text
        else:
            text, places = line.text, [(0, line.number)]
    if text:
        yield text, places


def _cuts(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _END.finditer(text):
        yield start, match.start()
        start = match.end()
    yield start, len(text)


def _line_at(places: list[tuple[int, int]], offset: int) -> int:
    return [line for at, line in places if at <= offset][-1]


def _readings_in(by_line: dict[int, list[Reading]], places: list[tuple[int, int]], start: int, end: int) -> tuple[tuple[int, Reading], ...]:
    """The figures in a stretch of a block, with their offset in it."""
    return tuple(
        (at + reading.column - start, reading)
        for at, line in places
        for reading in by_line.get(line, ())
        if start <= at + reading.column < end
    )  # fmt: skip


@cache
def _families() -> frozenset[str]:
    return frozenset(re.match(r"[a-z]+", model_id)[0] for model_id in model_ids()) | {"dsv", "llama"}  # type: ignore[index]


def _models_in(text: str) -> tuple[tuple[tuple[int, int], str], ...]:
    """Names of models with their places; the longest name wins."""
    words = list(_WORD.finditer(text))
    found: list[tuple[tuple[int, int], str]] = []
    done = -1
    for i, word in enumerate(words):
        head = re.match(r"[a-z]+", word[0].lower())
        if i <= done or head is None or head[0] not in _families():
            continue
        for last in range(min(i + 4, len(words) - 1), i - 1, -1):
            if last > i and text[words[last - 1].end() : words[last].start()].strip(" -_"):
                continue
            name = text[word.start() : words[last].end()]
            model_id = find_model_id(name) if "\n" not in name else None
            if model_id is not None and (last == i or find_model_id(text[word.start() : words[last - 1].end()]) != model_id):
                found.append(((word.start(), words[last].end()), model_id))
                done = last
                break
    return tuple(found)

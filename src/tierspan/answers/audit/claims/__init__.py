"""Claims of a sheet: sentences with figures, computed again. Every module of this folder that has ``KINDS`` knows some."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final

from tierspan.answers.audit.claims.base import Kind
from tierspan.answers.audit.claims.sentence import Sentence, sentences_of
from tierspan.answers.audit.claims.shares import shares_of
from tierspan.answers.audit.result import Claim
from tierspan.specs.reading import Reading
from tierspan.specs.sheet import SheetDocument

_HELPERS: Final = ("__init__", "base", "amounts", "sentence", "shares", "training_flops")


@cache
def kinds() -> tuple[Kind, ...]:
    """All kinds of claims in the order in which they are asked."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in _HELPERS)
    listed: list[Kind] = []
    for name in names:
        listed += getattr(import_module(f"tierspan.answers.audit.claims.{name}"), "KINDS", ())
    return tuple(sorted(listed, key=lambda kind: (kind.order, kind.name)))


def claims_of(documents: Sequence[SheetDocument], readings: Sequence[Reading]) -> tuple[Claim, ...]:
    """The claims of the documents in the order of the text."""
    claims: list[Claim] = []
    for document in documents:
        listed = [claim for sentence in sentences_of(document, readings) for claim in _claims_in(sentence)]
        claims += sorted([*listed, *shares_of(document)], key=lambda claim: claim.line)
    return tuple(claims)


def _claims_in(sentence: Sentence) -> Iterator[Claim]:
    used: frozenset[int] = frozenset()
    for kind in kinds():
        for found in kind.find(sentence):
            if found.amounts & used:
                continue
            used |= found.amounts
            yield Claim(sentence.text.strip(), sentence.line, kind.name, found.verdict, found.arithmetic)

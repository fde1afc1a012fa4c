"""Ratios and percentages of two numbers that both stand in the sentence: ``148 of 419 (35.3 %)``, ``A is twice B``, ``A是B的三倍``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from tierspan.answers.audit.claims.amounts import Amount, agrees
from tierspan.answers.audit.claims.base import Found, Kind, found, number, shown, told
from tierspan.answers.audit.claims.sentence import Sentence

_OF: Final = re.compile(r"^[^\d,;]{0,12}?\b(?:out\s+of|of|in)\s+(?:the\s+|its\s+|all\s+|a\s+total\s+of\s+)?$", re.IGNORECASE)
_AMONG: Final = re.compile(r"^[^\d。；]{0,10}?(?:中|里|之中|当中)[，,]?[^\d。；]{0,10}$")
_TAKES: Final = re.compile(r"^[^\d。；]{0,10}?占[^\d。；]{0,10}$")
_THEN: Final = re.compile(
    r"^[^\d,;，；。%]{0,40}?(?:[(（=≈:：]|\bis\b|\bare\b|\bor\b|\bi\.e\.|即|为|占|达|是|，占|，即)\s*(?:about|nearly|some|约|近|~|≈)?\s*$",
    re.IGNORECASE,
)
"""What may stand between a part of a whole and its percentage."""
_WHICH: Final = re.compile(r"(?:其中[，,]?\s*有?|\bof\s+(?:which|these|them|those),?)\s*$", re.IGNORECASE)
_BEFORE: Final = re.compile(r"^[^\d,;，；。]{0,16}[(（=:：]\s*$")
_IS: Final = r"(?:\bis\b|\bare\b|=|＝|≈|equals?|makes?|为|是|即|等于|相当于|约)"
_THAN: Final = re.compile(r"^[^\d]{0,30}?(?:\bthan\b|\bof\b|\bthe\b|\bas\b|^\s*$)[^\d]{0,24}$", re.IGNORECASE)


class Share:
    """A part of a whole as a percentage."""

    name = "share"
    order = 45

    def find(self, sentence: Sentence) -> Iterator[Found]:
        """``a of b ... p %``, ``p % of b is a`` and ``b ..., of which a (p %)``, all in Chinese too."""
        yield from _of_which(sentence)
        amounts = sentence.amounts
        for i, (a, b) in enumerate(pairwise(amounts)):
            gap = sentence.between(a, b)
            if a.unit == b.unit != "%" and a.noun != "times" and b.value:
                part, whole = (b, a) if _AMONG.match(gap) else (a, b)
                behind = next((p for p in amounts[i + 2 : i + 3] if p.unit == "%" and _THEN.match(sentence.between(b, p))), None)
                before = next((p for p in amounts[max(i - 1, 0) : i] if p.unit == "%" and _BEFORE.match(sentence.between(p, a))), None)
                if _OF.match(gap) or _AMONG.match(gap) or _TAKES.match(gap):
                    share = behind or before
                    if share is not None and part.value <= whole.value * 1.0001:
                        yield _judged(part, whole, share)
            elif a.unit == "%" and _OF.match(gap) and i + 2 < len(amounts):
                part = amounts[i + 2]
                if part.unit == b.unit != "%" and b.value and re.search(_IS, sentence.between(b, part), re.IGNORECASE):
                    yield _judged(part, b, a)


class Times:
    """One number as a multiple of another."""

    name = "times"
    order = 46

    def find(self, sentence: Sentence) -> Iterator[Found]:
        """``A is N times B`` and ``A是B的N倍``, A and B in one unit."""
        amounts = sentence.amounts
        for i, factor in enumerate(amounts):
            if factor.noun != "times" or i == 0 or factor.value <= 0:
                continue
            a, b = amounts[i - 1], amounts[i + 1] if i + 1 < len(amounts) else None
            if (
                b is not None
                and _same(a, b)
                and re.search(_IS, sentence.between(a, factor), re.IGNORECASE)
                and _THAN.match(sentence.between(factor, b))
            ):
                yield _multiple(a, b, factor)
            elif i >= 2 and _same(amounts[i - 2], a) and _chinese(sentence, amounts[i - 2], a, factor):
                yield _multiple(amounts[i - 2], a, factor)


def _of_which(sentence: Sentence) -> Iterator[Found]:
    """The whole stands earlier and counts the same thing; it may be part of another claim as well."""
    for part, share in pairwise(sentence.amounts):
        if share.unit != "%" or not part.noun or not _WHICH.search(sentence.text[: part.start]) or not _THEN.match(sentence.between(part, share)):
            continue
        whole = max((a for a in sentence.counts(part.noun) if a.end <= part.start), key=lambda a: a.value, default=None)
        if whole is not None and part.value <= whole.value:
            judged = _judged(part, whole, share)
            yield found(judged.verdict, *judged.arithmetic, about=(part, share))


def _same(a: Amount, b: Amount) -> bool:
    return a.unit == b.unit and a.unit not in ("%", "B/s", "s") and "times" not in (a.noun, b.noun) and b.value > 0


def _chinese(sentence: Sentence, a: Amount, b: Amount, factor: Amount) -> bool:
    return bool(re.search(_IS, sentence.between(a, b)) and re.match(r"^[^\d，,。；]{0,12}的\s*(?:约|近)?$", sentence.between(b, factor)))


def _judged(part: Amount, whole: Amount, share: Amount) -> Found:
    true = part.value / whole.value
    line = told("share.line", part=part.text, whole=whole.text, share=shown(true, "%"))
    if abs(true - share.value) <= max(share.step, 1e-9) * 0.51 or abs(true - share.value) <= 0.0006:
        return found("confirmed", line, about=(part, whole, share))
    fits = told("share.fits", said=share.text, whole=number(part.value / share.value, 4), part=part.text) if share.value else None
    return found("refuted", line, *(() if fits is None else (fits,)), about=(part, whole, share))


def _multiple(a: Amount, b: Amount, factor: Amount) -> Found:
    line = told("times.line", first=a.text, second=b.text, ratio=number(a.value / b.value, 3))
    about = (a, b, factor)
    if agrees(factor, a.value / b.value) or (factor.step == 0.0 and abs(a.value / b.value / factor.value - 1.0) <= 0.05):
        return found("confirmed", line, about=about)
    return found("refuted", line, told("ratio.said", said=factor.text), about=about)


KINDS: tuple[Kind, ...] = (Share(), Times())

"""A latency that is said to be lower than another: compared only where both are measured between the same ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tierspan.answers.audit.claims.amounts import Amount, agrees
from tierspan.answers.audit.claims.base import Found, Kind, found, number, shown, told
from tierspan.answers.audit.claims.sentence import Sentence
from tierspan.formats.figures.words import LATENCY, LATENCY_WORDS
from tierspan.specs.reading import Reason

_COMPARED: Final = (
    r"\bvs\b|versus|against|compared|\bthan\b|\bfrom\b.*\bto\b|lower|faster|less|\breduc(?:es|ed|tion)|while|whereas|but only|down to|instead of"
    r"|从|降|比|相比|而|低|快|缩短|减少"
)
_FROM_TO: Final = re.compile(
    r"^\s*(?:down\s+)?(?:to|→|->|降到|降至|降低到|降为|缩短到|缩短至|减少到|下降到|到|至)\s*(?:about|约|only|仅)?\s*$", re.IGNORECASE
)
_WANTED: Final = re.compile(r"require|target|goal|demand|needs?\b|must|要求|需求|目标|需要|应", re.IGNORECASE)
_LONGEST_S: Final = 0.1
"""A longer time is no latency of a network."""


class LatencyRatio:
    """``10 us against 0.1 us, 100x lower latency``."""

    name = "latency ratio"
    order = 30

    def find(self, sentence: Sentence) -> Iterator[Found]:
        """Two latencies that a sentence compares."""
        times = [a for a in sentence.of("s") if 0.0 < a.value < _LONGEST_S]
        if len(times) < 2 or not sentence.says(_COMPARED) or not LATENCY_WORDS.search(sentence.text + _earlier(sentence)):
            return
        first, second = times[0], times[1]
        factor = next(iter(sentence.counts("times")), None)
        share = next(iter(sentence.of("%")), None)
        bases = _bases(sentence, first, second)
        longer, shorter = (first, second) if first.value >= second.value else (second, first)
        ratio = longer.value / shorter.value
        line = told("latency.ratio", first=longer.text, second=shorter.text, ratio=number(ratio, 3))
        about = [first, second, *(a for a in (factor, share) if a is not None)]
        wanted = [told("latency.wanted", text=a.text) for a in (first, second) if _wanted(sentence, a, first)]
        wanted = wanted if len(wanted) == 1 else []
        if factor is not None and not agrees(factor, ratio):
            yield found("refuted", line, told("ratio.said", said=factor.text), about=about)
        elif factor is None and share is not None and not _share_holds(share, ratio):
            yield found("refuted", line, told("latency.share", share=shown(1.0 - 1.0 / ratio, "%"), said=share.text), about=about)
        elif not all(bases):
            unknown = [a.text for a, basis in zip((first, second), bases, strict=True) if not basis]
            yield found("unanswerable", line, *wanted, told("latency.no_basis", text=", ".join(unknown)), about=about)
        elif bases[0] != bases[1]:
            yield found("unanswerable", line, *_told_bases(first, second, bases), *wanted, told("latency.two_bases"), about=about)
        elif wanted:
            yield found("unanswerable", line, *wanted, about=about)
        elif factor is not None or share is not None:
            yield found("confirmed", line, told(f"latency.basis.{bases[0].replace(' ', '_')}", text=f"{first.text}, {second.text}"), about=about)


def _share_holds(share: Amount, ratio: float) -> bool:
    return any(abs(share.value - s) <= max(share.step, 0.005) for s in (1.0 - 1.0 / ratio, 1.0 / ratio))


def _told_bases(first: Amount, second: Amount, bases: tuple[str, str]) -> list[Reason]:
    return [told(f"latency.basis.{basis.replace(' ', '_')}", text=a.text) for a, basis in zip((first, second), bases, strict=True)]


def _bases(sentence: Sentence, first: Amount, second: Amount) -> tuple[str, str]:
    """Between which ends each of the two was measured, by the words of its own clause; "" where none says so."""
    gap = sentence.between(first, second)
    if _FROM_TO.match(gap):
        one = _basis(sentence.text[: first.start]) or _basis(_clause(sentence.text[second.end :]))
        return one, one
    behind = _basis(_clause(gap))
    own = behind or _basis(sentence.text[: first.start])
    rest = gap[len(_clause(gap)) :] if behind else gap
    other = _basis(rest) or _basis(_clause(sentence.text[second.end :]))
    return own, other


def _clause(text: str) -> str:
    cut = re.search(r"[,;，；。]|\bagainst\b|\bvs\b|\bversus\b|\bcompared\b|\bthan\b|\bwhile\b|而|相比|\bfor\s+the\b", text, re.IGNORECASE)
    return text[: cut.start()] if cut else text


def _basis(text: str) -> str:
    """The last basis that a text names."""
    best, place = "", -1
    for name, pattern in LATENCY.items():
        for match in pattern.finditer(text):
            if match.end() > place:
                best, place = name, match.end()
    return best


def _wanted(sentence: Sentence, amount: Amount, first: Amount) -> bool:
    start = 0 if amount == first else first.end
    return bool(_WANTED.search(sentence.text[start : amount.start]) or _WANTED.search(_clause(sentence.text[amount.end :])[:14]))


def _earlier(sentence: Sentence) -> str:
    return " " + sentence.before[0].text if sentence.before else ""


KINDS: tuple[Kind, ...] = (LatencyRatio(),)

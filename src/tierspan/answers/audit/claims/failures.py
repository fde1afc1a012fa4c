"""How often something fails: ``419 interruptions in 54 days, one every 3.1 h``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tierspan.answers.audit.claims.base import Found, Kind, found, number, told
from tierspan.answers.audit.claims.sentence import Sentence

_EVERY: Final = r"\bevery\b|\bone\s+(?:per|in|each)\b|\bMTB[FI]\b|\bmean time\b|\baverage\b|每隔|每\s*\d|平均|一次|间隔"
_HOUR: Final = 3600.0


class Failures:
    """A number of interruptions in a time against the time between two."""

    name = "failures"
    order = 9

    def find(self, sentence: Sentence) -> Iterator[Found]:
        """Events, how long was looked on, and how often one came."""
        events = [a for a in sentence.counts("event") if a.value > 1]
        times = [a for a in sentence.of("s") if a.value >= 60.0]
        if not events or len(times) < 2 or not sentence.says(_EVERY):
            return
        event, total = events[0], max(times, key=lambda a: a.value)
        between = min(times, key=lambda a: a.value)
        true = total.value / event.value
        line = told("failures.line", time=number(total.value / _HOUR), events=number(event.value), between=number(true / _HOUR, 3))
        about = (event, total, between)
        if abs(true - between.value) <= max(between.step, 0.03 * between.value):
            yield found("confirmed", line, about=about)
        else:
            yield found("refuted", line, told("product.said", said=between.text, ratio=number(between.value / true, 3)), about=about)


KINDS: tuple[Kind, ...] = (Failures(),)

"""Counts and shares."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from tierspan.answers.audit.trial.base import Amount, Case, Family, Slots, scaled
from tierspan.answers.audit.trial.facts import name_of, own, sources_of

_SYSTEMS = {"cm384": "cloudmatrix384", "gb200": "gb200-nvl72"}


def _shares() -> Iterator[Case]:
    for thing, facts in own("share").items():
        count, of = float(facts["count"]["value"]), float(facts["of"]["value"])
        for language in ("name", "name_zh"):
            slots: Slots = {
                "count": Amount(count),
                "of": Amount(of),
                "percent": Amount(float(f"{100 * count / of:.3g}"), "%"),
                "cause": facts[language]["value"],
            }
            yield Case(f"{thing}-{'zh' if language == 'name_zh' else 'en'}", slots, sources_of(facts))


def _sets() -> Iterator[Case]:
    for thing, facts in own("pod").items():
        size = float(facts["size"]["value"])
        for cards in (10_000, 50_000, 100_000):
            slots: Slots = {
                "system": name_of("systems", _SYSTEMS[thing]),
                "size": Amount(size),
                "cards": Amount(cards),
                "sets": Amount(ceil(cards / size)),
            }
            yield Case(f"{thing}-{cards}", slots, sources_of(facts))


FAMILIES = (
    Family("share", _shares, (scaled("percentage and count", "percent", 0.7), scaled("percentage and count", "count", 2))),
    Family("sets", _sets, (scaled("sets x size", "sets", 1.66), scaled("sets x size", "cards", 1.6), scaled("sets x size", "sets", 0.5))),
)

"""How many sets, racks or servers a number of accelerators takes: ``100,000 cards need 432 sets (of 384)``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tierspan.answers.audit.claims.amounts import Amount, agrees
from tierspan.answers.audit.claims.base import Found, Kind, found, number, told
from tierspan.answers.audit.claims.sentence import Sentence
from tierspan.formats.figures.known import Part, part
from tierspan.quantities.facts import Fact
from tierspan.specs.catalog.tables import facts
from tierspan.specs.reading import Reason

_NEED: Final = (
    r"\bneed|requir|\btakes?\b|would be|\bequals?\b|[=≈]|amounts? to|\bmakes?\b|\breach|built? (?:of|from)|consist|compris|\btotal|in all|altogether"
    r"|combin|\bhold|需|要|等于|相当于|组成|构成|共|合计|可达|达到|即|由|凑"
)
_EACH_BEFORE: Final = re.compile(
    r"(?:\bof|\beach(?:\s+(?:set|rack|server|node|pod|system)s?)?|每套|每台|每柜|每个(?:超节点|节点|机柜)?|单套|单台|单柜|每套系统)"
    r"\s*(?:with|has|have|holds?|of|for|含|有|为|是|包含|:|：)?\s*$|每[套台柜][^,，;；。]{0,40}?(?:含|有|为|是)\s*$",
    re.IGNORECASE,
)
_EACH_BEHIND: Final = re.compile(r"^\s*(?:each\b|apiece|(?:per|a|/)\s*(?:set|rack|server|node|pod|system|套|柜|台)|一套|一柜|一台)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Size:
    """Accelerators in one set, rack or server, and where the number comes from."""

    accelerators: float
    told: Reason
    amounts: tuple[Amount, ...] = ()
    whole: int = 1
    """Racks of one system, which is bought whole."""


class Sets:
    """Accelerators against the sets, racks or servers that hold them."""

    name = "sets"
    order = 25

    def find(self, sentence: Sentence) -> Iterator[Found]:
        """A number of accelerators and a number of what holds them, joined by a word of need or equality."""
        inner = [a for a in sentence.amounts if a.count and _each(sentence, a)]
        cards = [a for a in _cards(sentence) if a not in inner]
        holders = [(a, kind) for a, kind in _holders(sentence) if a not in inner and a not in cards]
        if cards and holders:
            most = max(cards, key=lambda a: a.value)
            for i, (holder, kind) in enumerate(holders):
                if not (sentence.says(_NEED) or _in_brackets(sentence, most, holder)):
                    continue
                size = _size(sentence, kind, inner, holder) or _closing(sentence, most, holder)
                about = (most, holder) if i == 0 else (holder,)
                if size is None:
                    yield found("unanswerable", told(f"sets.unknown_{kind}", accelerators=number(most.value)), about=about)
                elif size.accelerators > 1:
                    yield _judged(most, holder, size, kind, about)
        yield from _racks_of_sets(sentence, holders, inner)


def _judged(cards: Amount, holder: Amount, size: _Size, kind: str, about: tuple[Amount, ...]) -> Found:
    each, total = size.accelerators, holder.value * size.accelerators
    least = math.ceil(cards.value / each / size.whole - 1e-9) * size.whole
    product = told(f"sets.total_{kind}", number=number(holder.value), size=number(each), total=number(total))
    quotient = told(
        f"sets.least_{kind}", accelerators=number(cards.value), size=number(each), quotient=number(cards.value / each, 5), least=number(least),
        held=number(least * each),
    )  # fmt: skip
    amounts = (*about, *size.amounts)
    if holder.value == least:
        return found("confirmed", size.told, quotient, about=amounts)
    if agrees(cards, total):
        return found("confirmed", size.told, product, about=amounts)
    if agrees(holder, least):
        return found("confirmed", size.told, quotient, about=amounts)
    side = "more" if total > cards.value else "fewer"
    verdict = told(f"sets.{side}_{kind}", ratio=number(total / cards.value, 3), said=number(holder.value), least=number(least))
    return found("refuted", size.told, quotient, product, verdict, about=amounts)


def _racks_of_sets(sentence: Sentence, holders: list[tuple[Amount, str]], inner: list[Amount]) -> Iterator[Found]:
    """Racks against sets: ``432 sets are 6,912 racks``."""
    sets = [a for a, kind in holders if kind == "set"]
    racks = [a for a, kind in holders if kind == "rack"]
    each = next((a for a in inner if a.noun == "rack"), None)
    known = _racks_fact(sentence.part)
    per = each.value if each is not None else known.value if known is not None else math.nan
    if sets and racks and per > 0 and sentence.says(_NEED):
        said, number_of_sets = racks[-1], sets[0]
        line = told("sets.racks", number=number(number_of_sets.value), size=number(per), total=number(per * number_of_sets.value))
        agreed = agrees(said, per * number_of_sets.value)
        off = told("product.said", said=said.text, ratio=number(said.value / per / number_of_sets.value, 3))
        yield found("confirmed" if agreed else "refuted", line, *(() if agreed else (off,)), about=(said,))


def _each(sentence: Sentence, amount: Amount) -> bool:
    return bool(_EACH_BEFORE.search(sentence.text[: amount.start]) or _EACH_BEHIND.match(sentence.text[amount.end :]))


def _in_brackets(sentence: Sentence, cards: Amount, holder: Amount) -> bool:
    first, second = sorted((cards, holder), key=lambda a: a.start)
    gap = sentence.between(first, second)
    return len(gap) < 24 and re.search(r"[(（]\s*$", gap) is not None


def _cards(sentence: Sentence) -> list[Amount]:
    named = [a for a, n in sentence.counted_parts if n.thing == "accelerator" and a.noun in ("", "times", "accelerator")]
    return [*named, *sentence.counts("accelerator")]


def _holders(sentence: Sentence) -> list[tuple[Amount, str]]:
    systems = {a: "set" for a, n in sentence.counted_parts if n.thing == "system" and a.noun in ("", "times", "set")}
    listed = systems | {a: a.noun for a in sentence.counts("set", "rack", "node")}
    return sorted(listed.items(), key=lambda pair: pair[0].start)


def _size(sentence: Sentence, kind: str, inner: list[Amount], holder: Amount) -> _Size | None:
    stated = next((a for a in inner if a.noun in ("accelerator", "")), None)
    if stated is not None:
        return _Size(stated.value, told("sets.stated", size=number(stated.value)), (stated,))
    known = _part_of(sentence, holder)
    if known is None or (kind != "node" and not known.is_system):
        return None
    if kind == "node":
        return _Size(known.node, told("sets.known_node", part=known.id, size=number(known.node)))
    racks = _racks_fact(known)
    if kind == "rack":
        if racks is None:
            return None
        each = known.accelerators / racks.value
        return _Size(each, told("sets.known_rack", part=known.id, size=number(each), racks=number(racks.value)), whole=int(racks.value))
    return _Size(known.accelerators, told("sets.known_set", part=known.id, size=number(known.accelerators)))


def _closing(sentence: Sentence, cards: Amount, holder: Amount) -> _Size | None:
    """A bare number of the sentence that closes the product: ``100,000 / 384 = 260.4, so 261 sets``."""
    bare = (a for a in sentence.amounts if a.count and not a.noun and a not in (cards, holder) and agrees(cards, holder.value * a.value))
    size = next(bare, None)
    return _Size(size.value, told("sets.stated", size=number(size.value))) if size is not None else None


def _part_of(sentence: Sentence, holder: Amount) -> Part | None:
    named = next((n for a, n in sentence.counted_parts if a == holder), None) or next((n for n in sentence.named if n.thing == "system"), None)
    named = named or next(iter(sentence.named), None)
    return part(named.thing, named.id) if named is not None else sentence.part


def _racks_fact(known: Part | None) -> Fact | None:
    listed = facts("system_facts").get(known.id, ()) if known is not None and known.is_system else ()
    return next((fact for fact in listed if fact.key == "racks" and fact.used and not fact.is_text), None)


KINDS: tuple[Kind, ...] = (Sets(),)

"""A bandwidth that is said to be N times another: computed on one basis, each way, never one direction against two."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tierspan.answers.audit.claims.amounts import Amount, agrees
from tierspan.answers.audit.claims.base import Found, Kind, found, number, shown, told
from tierspan.answers.audit.claims.sentence import Sentence
from tierspan.formats.figures.known import Part, near
from tierspan.formats.figures.words import LATENCY_WORDS
from tierspan.specs.catalog.tables import facts

_PCIE: Final = re.compile(
    r"PCI[\s-]?(?:e|Express)\s?(?:Gen(?:eration)?\s?)?([3-7])(?:\.0)?|第\s?([3-7])\s?代\s?PCIe|PCIe\s?第?([3-7])代", re.IGNORECASE
)
_NVLINK: Final = re.compile(
    r"NVLink\s?-?(?:Gen\s?)?([3-6])(?![\d.])|第\s?([3-6])\s?代\s?NVLink|NVLink\s?第?([3-6])代|([3-6])(?:th|rd)?[\s-]gen(?:eration)?\s+NVLink",
    re.IGNORECASE,
)
_INNER: Final = r"scale[\s-]?up|NVLink|intra[\s-]?(?:node|domain)|inside (?:the|a) (?:node|domain|rack)|internal|机内|域内|节点内|内部|纵向|卡间"
_OUTER: Final = r"scale[\s-]?out|InfiniBand|RoCE|inter[\s-]?node|between nodes|network|external|集群网|域外|节点间|外部|横向|网卡"


@dataclass(frozen=True, slots=True)
class _Rate:
    """A rate each way, how the text prints it, and which directions that counts (1 or 2; 0 where nobody says)."""

    each_way: float
    printed: float
    directions: int
    text: str
    amount: Amount | None = None


class BandwidthRatio:
    """``NVLink 5 is 7x PCIe Gen6``; ``scale-up is 9 times scale-out``."""

    name = "bandwidth ratio"
    order = 30

    def find(self, sentence: Sentence) -> Iterator[Found]:
        """A factor, and two rates that are written or known."""
        factors = [a for a in sentence.counts("times") if a.value > 1.0 and not any(a == counted for counted, _ in sentence.counted_parts)]
        if len(factors) != 1 or (LATENCY_WORDS.search(sentence.text) and not sentence.of("B/s")):
            return
        rates = [_written(sentence, a) for a in sentence.of("B/s")][:2]
        pcie, inner = _pcie(sentence.text), _nvlink(sentence)
        if len(rates) == 2:
            pair = sorted(rates, key=lambda r: r.printed, reverse=True)
        elif pcie is not None and (rates or inner is not None):
            other = rates[0] if rates and not _is_pcie(rates[0], pcie) else inner
            if other is None:
                return
            pair = [other, pcie]
        elif sentence.says(_INNER) and sentence.says(_OUTER) and sentence.named and sentence.part is not None and not rates:
            pair = _tiers(sentence.part)
        else:
            return
        if len(pair) == 2:
            yield _judged(factors[0], pair[0], pair[1])


def _judged(factor: Amount, first: _Rate, second: _Rate) -> Found:
    about = [factor, *(r.amount for r in (first, second) if r.amount is not None)]
    if 0 in (first.directions, second.directions):
        ratio = number(first.printed / second.printed, 3)
        unclear = first if first.directions == 0 else second
        line = told("bandwidth.printed", first=first.text, second=second.text, ratio=ratio)
        if not any(agrees(factor, first.printed / second.printed * k) for k in (0.5, 1.0, 2.0)):
            return found("refuted", line, told("ratio.said", said=factor.text), about=about)
        return found("unanswerable", line, told("bandwidth.no_direction", text=unclear.text), about=about)
    ratio_value = first.each_way / second.each_way
    bases = [told(f"bandwidth.{'both' if r.directions == 2 else 'each'}", text=r.text, each=shown(r.each_way, "B/s")) for r in (first, second)]
    line = told("bandwidth.ratio", first=shown(first.each_way, "B/s"), second=shown(second.each_way, "B/s"), ratio=number(ratio_value, 3))
    if agrees(factor, ratio_value):
        return found("confirmed", *bases, line, about=about)
    mixed = any(agrees(factor, ratio_value * k) for k in (0.5, 2.0))
    return found("refuted", *bases, line, told("bandwidth.mixed" if mixed else "ratio.said", said=factor.text), about=about)


def _written(sentence: Sentence, amount: Amount) -> _Rate:
    reading = sentence.reading_of(amount)
    around = sentence.text[max(0, amount.start - 30) : amount.end + 30]
    pcie = _pcie(around) or _pcie(sentence.text)
    if pcie is not None and _is_pcie(_Rate(amount.value, amount.value, 0, ""), pcie):
        directions = 2 if near(amount.value, 2.0 * pcie.each_way, 0.06) else 1
        return _Rate(amount.value / directions, amount.value, directions, amount.text, amount)
    if reading is None or reading.status == "ambiguous" or not reading.direction:
        return _Rate(float("nan"), amount.value, 0, amount.text, amount)
    both = reading.direction == "both-directions"
    return _Rate(amount.value / (2 if both else 1), amount.value, 2 if both else 1, amount.text, amount)


def _is_pcie(rate: _Rate, pcie: _Rate) -> bool:
    return near(rate.printed, pcie.each_way, 0.06) or near(rate.printed, 2.0 * pcie.each_way, 0.06)


def _pcie(text: str) -> _Rate | None:
    """x16 of a generation, each way: 8 GT/s a lane in the third, twice as much in each that follows (PCI-SIG), before coding."""
    match = _PCIE.search(text)
    if match is None:
        return None
    generation = int(next(group for group in match.groups() if group))
    return _Rate(16e9 * 2.0 ** (generation - 3), 0.0, 1, f"PCIe {generation} x16")


def _nvlink(sentence: Sentence) -> _Rate | None:
    match = _NVLINK.search(sentence.text)
    if match is not None:
        generation = next(group for group in match.groups() if group)
        rate = next((f.value for f in facts("fabric_facts").get(f"nvlink{generation}-switch", ()) if f.key == "bandwidth" and f.used), None)
        return _Rate(rate, 0.0, 1, f"NVLink {generation}") if rate is not None else None
    known = sentence.part
    if known is not None and known.scale_up_Bps == known.scale_up_Bps and sentence.says(_INNER):
        return _Rate(known.scale_up_Bps, 0.0, 1, known.id)
    return None


def _tiers(known: Part) -> list[_Rate]:
    pair = [_Rate(known.scale_up_Bps, 0.0, 1, f"{known.id} scale-up"), _Rate(known.scale_out_Bps, 0.0, 1, f"{known.id} scale-out")]
    return [rate for rate in pair if rate.each_way == rate.each_way]


KINDS: tuple[Kind, ...] = (BandwidthRatio(),)

"""Peaks added over many accelerators, and peaks by watt: ``384 cards, 300 PFLOPS in total``, ``256 TFLOPS at 350 W is 5.2 TFLOPS/W``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tierspan.answers.audit.claims.amounts import Amount, agrees
from tierspan.answers.audit.claims.base import Found, Kind, found, number, shown, told
from tierspan.answers.audit.claims.sentence import Sentence
from tierspan.answers.audit.claims.training_flops import accelerators_of
from tierspan.formats.figures.known import Part, near
from tierspan.formats.figures.words import DENSITY, PRECISIONS, nearest
from tierspan.specs.catalog.tables import facts
from tierspan.specs.reading import Reason

_TOTAL: Final = r"\btotal|together|aggregate|combined|cluster|\bsum\b|altogether|deliver|provide|reach|[=≈]|共|总|合计|达|集群|提供|聚合"


class PeakSum:
    """A total of FLOP/s against the number of accelerators and the peak of one."""

    name = "peak sum"
    order = 40

    def find(self, sentence: Sentence) -> Iterator[Found]:
        """A number of accelerators and a rate that is that of all of them."""
        rates = [a for a in sentence.of("FLOP/s") if not a.per]
        counted, devices, known = accelerators_of(sentence)
        if len(rates) != 1 or counted is None or devices < 2 or not sentence.says(_TOTAL):
            return
        said = rates[0]
        each = said.value / devices
        about = (said, counted)
        line = told("peaks.each", total=said.text, number=number(devices), each=shown(each, "FLOP/s"))
        if not sentence.named or known is None or not known.peaks:
            yield found("unanswerable", line, told("peaks.unknown"), about=about)
            return
        precision = nearest(PRECISIONS, sentence.text[: said.start], sentence.text[said.end :])
        density = nearest(DENSITY, sentence.text[: said.start], sentence.text[said.end :])
        yield _judged(known, each, precision, density, about, line)


class PeakPerWatt:
    """A rate, a power and their quotient in one sentence."""

    name = "efficiency"
    order = 16

    def find(self, sentence: Sentence) -> Iterator[Found]:
        """TFLOP/s, W and TFLOP/s/W."""
        said, power = next(iter(sentence.of("FLOP/s/W")), None), next(iter(sentence.of("W")), None)
        rates = sentence.of("FLOP/s")
        if said is None or power is None or not rates or power.value <= 0:
            return
        quotients = [(a, a.value / power.value) for a in rates]
        lines = [told("efficiency.line", rate=a.text, power=power.text, result=f"{q / 1e12:.3g}") for a, q in quotients]
        fits = [line for line, (_, q) in zip(lines, quotients, strict=True) if agrees(said, q)]
        about = (said, power, *rates)
        if fits:
            yield found("confirmed", *fits, about=about)
        else:
            nearest_one = min((q for _, q in quotients), key=lambda q: abs(q / said.value - 1.0))
            yield found("refuted", *lines, told("product.said", said=said.text, ratio=number(said.value / nearest_one, 3)), about=about)


def _judged(known: Part, each: float, precision: str, density: str, about: tuple[Amount, ...], line: Reason) -> Found:
    """The share of one accelerator against its peaks, dense and with sparsity; the precision that is written counts, else every one."""
    names = [p for p in known.peaks if not precision or p == precision or {p, precision} == {"bf16", "fp16"}]
    printed = {p: _printed(known, p) for p in names}
    fits = [
        (p, d, k * v)
        for p in names
        for d, k in (("dense", 1.0), ("sparse", 2.0))
        if density in ("", d) and (v := next((v for v in printed[p] if near(each, k * v, 0.015)), 0.0))
    ]
    if not names:
        return found("unanswerable", line, told("peaks.no_peak", part=known.id, precision=precision.upper()), about=about)
    dense = [told(f"peaks.{d}", part=known.id, precision=p.upper(), peak=shown(v, "FLOP/s")) for p, d, v in fits]
    if fits and (precision or len({p for p, _, _ in fits} - {"fp16"}) == 1) and (density or fits[0][1] == "dense"):
        return found("confirmed", line, dense[0], about=about)
    if fits and precision:
        return found("unanswerable", line, *dense, told("peaks.only_sparse"), about=about)
    if fits:
        return found("unanswerable", line, *dense, told("peaks.no_precision"), about=about)
    listed = ", ".join(f"{p.upper()} {shown(known.peaks[p], 'FLOP/s')}" for p in names)
    return found("refuted", line, told("peaks.none", part=known.id, peaks=listed), about=about)


def _printed(known: Part, precision: str) -> list[float]:
    """All dense peaks that sources print for one accelerator, the one that is used first."""
    listed = facts("accelerator_facts").get(known.accelerator_id, ())
    return [known.peaks[precision], *(f.value for f in listed if f.key == f"peak_flops.{precision}" and not f.is_text)]


KINDS: tuple[Kind, ...] = (PeakSum(), PeakPerWatt())

"""Ratios that give a mistake away: what two figures that should be one are apart by, and which mistake makes that factor.

The ratios are those of the traps list of the facts (facts/README, "Generic checks"): 2, 2.2, 4, 7, 8, 9, 18, 0.94, 1.074, 1.12.
"""

from __future__ import annotations

from collections.abc import Iterator

from tierspan.answers.audit.closing.amounts import agree, number
from tierspan.quantities.findings import Phrase
from tierspan.quantities.unit_table import POUND_KG

_CLOSE = 0.015
_PAYLOAD = 0.9412
"""Of an NVLink signal what is data (measured 450 of 478 GB/s; facts/README, trap 8)."""


def hypothesis(printed: float, expected: float, unit: str, *, links: float = 0.0, accelerators: tuple[float, ...] = ()) -> Phrase | None:
    """The mistake that turns the expected figure into the printed one; None where no usual one does.

    Args:
        printed: the figure as printed, SI.
        expected: what it should be, SI.
        unit: unit of both, SI.
        links: scale-up links of an accelerator, 0 where unknown.
        accelerators: how many accelerators could have been counted together.
    """
    if not (printed > 0 and expected > 0):
        return None
    ratio = printed / expected
    fits = [phrase for factor, phrase in _mistakes(unit, links, accelerators) if agree(ratio, factor, _CLOSE)]
    if not fits:
        return None
    distinct = list(dict.fromkeys((p.id, tuple(p.values.items())) for p in fits))
    told = [Phrase(i, dict(v)) for i, v in distinct[:2]]
    return told[0] if len(told) == 1 else Phrase("audit.ratio.or", {"first": told[0], "second": told[1]})


def explained(printed: float, expected: float, unit: str, *, links: float = 0.0, accelerators: tuple[float, ...] = ()) -> Phrase:
    """As ``hypothesis``; where no usual mistake fits, the ratio itself."""
    found = hypothesis(printed, expected, unit, links=links, accelerators=accelerators)
    return found or Phrase("audit.ratio.none", {"ratio": f"{printed / expected:.3g}"})


def _mistakes(unit: str, links: float, accelerators: tuple[float, ...]) -> Iterator[tuple[float, Phrase]]:
    for count in accelerators:
        if count > 1:
            yield count, Phrase("audit.ratio.all_accelerators", {"number": number(count)})
            yield 1 / count, Phrase("audit.ratio.one_accelerator", {"number": number(count)})
    if unit == "B/s":
        yield 2.0, Phrase("audit.ratio.both")
        yield 0.5, Phrase("audit.ratio.each")
        if links > 1:
            yield links, Phrase("audit.ratio.all_links", {"number": number(links)})
            yield 1 / links, Phrase("audit.ratio.one_link", {"number": number(links)})
            yield links / 2, Phrase("audit.ratio.all_links_both", {"number": number(links)})
            yield 2 / links, Phrase("audit.ratio.one_link_both", {"number": number(links)})
            yield 2 * links, Phrase("audit.ratio.all_links_both", {"number": number(links)})
        yield 8.0, Phrase("audit.ratio.bits")
        yield 1 / 8, Phrase("audit.ratio.bytes")
        yield 4.0, Phrase("audit.ratio.ends")
        yield 0.25, Phrase("audit.ratio.quarter")
        yield 16.0, Phrase("audit.ratio.bits_both")
        yield 1 / 16, Phrase("audit.ratio.bytes_each")
        yield 7.0, Phrase("audit.ratio.mesh")
        yield 1 / 7, Phrase("audit.ratio.pair")
        yield 9.0, Phrase("audit.ratio.nine")
        yield 18.0, Phrase("audit.ratio.eighteen")
        yield 1 / 9, Phrase("audit.ratio.ninth")
        yield 1 / 18, Phrase("audit.ratio.eighteenth")
        yield _PAYLOAD, Phrase("audit.ratio.payload")
        yield 1 / _PAYLOAD, Phrase("audit.ratio.raw")
        yield 1.12, Phrase("audit.ratio.lane112")
        yield 1 / 1.12, Phrase("audit.ratio.lane100")
    if unit == "FLOP/s":
        yield 2.0, Phrase("audit.ratio.sparse")
        yield 0.5, Phrase("audit.ratio.half")
        yield 4.0, Phrase("audit.ratio.sparse_narrow")
        yield 0.25, Phrase("audit.ratio.quarter_peak")
        yield 8.0, Phrase("audit.ratio.sparse_narrower")
    if unit == "B":
        yield 8.0, Phrase("audit.ratio.bits")
        yield 1 / 8, Phrase("audit.ratio.bytes")
        yield 2.0, Phrase("audit.ratio.package")
        yield 0.5, Phrase("audit.ratio.die")
    if unit in ("B", "B/s"):
        for size in (2**10 / 1e3, 2**20 / 1e6, 2**30 / 1e9, 2**40 / 1e12):
            yield size, Phrase("audit.ratio.binary", {"ratio": f"{size:.3f}"})
            yield 1 / size, Phrase("audit.ratio.decimal", {"ratio": f"{size:.3f}"})
    if unit == "kg":
        yield 1 / POUND_KG, Phrase("audit.ratio.pounds")
        yield POUND_KG, Phrase("audit.ratio.kilograms")
    if unit in ("W", "FLOP/s", "B", "B/s"):
        yield 1e3, Phrase("audit.ratio.thousand")
        yield 1e-3, Phrase("audit.ratio.thousandth")

"""Die and package, accelerator and superchip: the whole is a multiple of its part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tierspan.answers.audit.rules.base import Rule, Sheet
from tierspan.answers.audit.rules.surroundings import Check, Hit, by_line, pairs, shown
from tierspan.formats.figures.known import near
from tierspan.specs.reading import Reading

_WHOLES: Final = {"die": ("package", "accelerator"), "accelerator": ("superchip", "package")}
_TAKEN: Final = ("audit.read.sparse_known", "audit.read.dense_known", "audit.read.no_density")
_SOURCES: Final = (
    "https://www.emergentmind.com/topics/cloudmatrix-datacenter-architecture (196 GB/s per die, 392 per package)",
    "github:stas00/ml-engineering compute/accelerator/README.md, note 23 (columns of a superchip are for two GPUs)",
)


def _bundles(sheet: Sheet) -> Iterator[Hit]:
    """Two figures of one kind in one line, one for the part and one for the whole, must be 1 to 2, 3, 4 ..."""
    for listed in by_line(sheet.of("compute rate", "memory", "memory bandwidth", "bandwidth")).values():
        for first, second in pairs(listed):
            for part, whole in ((first, second), (second, first)):
                if _comparable(part, whole) and not _multiple(whole.printed_si / part.printed_si):
                    ratio = whole.printed_si / part.printed_si
                    values = {
                        "part": part.scope,
                        "whole": whole.scope,
                        "other": part.text,
                        "ratio": f"{ratio:.3g}",
                        "half": shown(whole.printed_si / 2, whole.unit_si),
                    }
                    yield Hit(values, whole)


def _comparable(part: Reading, whole: Reading) -> bool:
    """Whether the one is stated per die or accelerator and the other per package or superchip, all else being equal."""
    same = all(getattr(part, f) == getattr(whole, f) for f in ("quantity", "catalog_id", "tier")) and part.printed_si > 0
    labels = ((part.precision, whole.precision), (_density(part), _density(whole)), (part.direction, whole.direction))
    agree = all(not a or not b or a == b for a, b in labels)
    return same and agree and whole.scope in _WHOLES.get(part.scope, ())


def _density(r: Reading) -> str:
    """The density that the sheet states; "" where it was taken."""
    return "" if any(reason.id in _TAKEN for reason in r.reasons) else r.density


def _multiple(ratio: float) -> bool:
    return any(near(ratio, float(number), 0.03) for number in (2, 3, 4, 8))


RULES: tuple[Rule, ...] = (Check("audit.whole_and_part", "error", _SOURCES, _bundles),)

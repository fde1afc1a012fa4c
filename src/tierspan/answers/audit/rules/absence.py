"""A sheet that says none of something that it, or the catalogue, has elsewhere: "NVLink: none" beside a bridge of 600 GB/s."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tierspan.answers.audit.rules.base import Sheet
from tierspan.answers.audit.rules.surroundings import Check, Hit, shown
from tierspan.formats.figures.known import Part, part
from tierspan.formats.figures.subjects import named_in
from tierspan.quantities.errors import Place

_NONE: Final = re.compile(
    r"(?P<what>NVLink|NVSwitch|xGMI|Infinity\s?Fabric|UALink|HCCS|scale-?up|卡间互联|片间互连|片间互联)\s*(?:bridge|support|支持)?\s*[:：=]?\s*"
    r"(?P<none>none\b|no\b|n/?a\b|not\s+(?:supported|available|present)|无|不支持|没有|—|✗|×)",
    re.IGNORECASE,
)
_BUS_ONLY_Bps: Final = 70e9
"""A rate that PCIe x16 of generation 5 carries: what is no faster is no tier of its own."""


def _conflicts(sheet: Sheet) -> Iterator[Hit]:
    for document in sheet.documents:
        current: Part | None = None
        for line in document.lines:
            for match in _NONE.finditer(line.text):
                before = [n for n in named_in(line.text) if n.start <= match.start()]
                about = part(before[-1].thing, before[-1].id) if before else current
                if about is None:
                    continue
                place = Place(document.name, line.number, match.start() + 1)
                links = [r for r in sheet.of("bandwidth") if r.tier == "scale-up" and _same(r.catalog_id, about) and r.line != line.number]
                if links:
                    yield Hit({"words": match.group(0).strip(), "other": links[0].text, "line": links[0].line}, place=place)
            named = named_in(line.text)
            current = part(named[-1].thing, named[-1].id) if named else current


def _known(sheet: Sheet) -> Iterator[Hit]:
    told = {hit.place for hit in _conflicts(sheet)}
    for document in sheet.documents:
        for line in document.lines:
            for match in _NONE.finditer(line.text):
                before = [n for n in named_in(line.text) if n.start <= match.start()]
                place = Place(document.name, line.number, match.start() + 1)
                if not before or place in told:
                    continue
                about = part(before[-1].thing, before[-1].id)
                if about.scale_up_Bps > _BUS_ONLY_Bps:
                    values = {"words": match.group(0).strip(), "part": about.id, "rate": shown(about.scale_up_Bps, "B/s")}
                    yield Hit(values, place=place)


def _same(name: str, about: Part) -> bool:
    return name in (about.id, about.accelerator_id)


RULES: tuple[Check, ...] = (
    Check("audit.absent_and_present", "warning", ("public pages on H100 PCIe: NVLink none beside a bridge of 600 GB/s",), _conflicts),
    Check("audit.absent_but_known", "question", ("github:stas00/ml-engineering network/README.md (NVLink bridges of PCIe cards)",), _known),
)

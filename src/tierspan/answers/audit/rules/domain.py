"""Domains, nodes and slots: what a fabric can reach, what a host holds, and what "scale-up" means for a database."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tierspan.answers.audit.rules.base import Sheet
from tierspan.answers.audit.rules.bounds import family, sources
from tierspan.answers.audit.rules.surroundings import Check, Hit, Surroundings, by_line, name_of, pairs, part_of
from tierspan.formats.figures.known import part
from tierspan.formats.figures.subjects import named_in
from tierspan.quantities.errors import Place

_CARDS: Final = re.compile(r"GPUs?|NPUs?|TPUs?|XPUs?|accelerators?|chips?|cards?|加速卡|加速器|芯片|卡|张", re.IGNORECASE)
_ONE_DOMAIN: Final = re.compile(
    r"\b(?:one|single|a|an|per|each|every|the|same)\b[^,;.]{0,40}\b(?:domain|super-?pod|super-?node|pod)\b(?!s)|\b(?:single|one)\s+rack\b"
    r"|(?:domain|super-?pod|super-?node|pod)\s+(?:size|of\s+up\s+to|of\s+\d)|(?:单个|一个|每个|单)[^，。；]{0,24}(?:域|超节点)|(?:超节点|域)规模|(?:纵向)?扩展域|高带宽域|\bHBD\b|互访|directly\s+over|\bdomain\s+of\s+(?:the|a)\b|组成[^，。；]{0,12}超节点"
    r"|单个?机柜|\d\s?[卡张]的(?:超节点|域)",
    re.IGNORECASE,
)
_SIZE: Final = re.compile(
    r"(?:domain\s+size|域规模|超节点规模)[^:：\n]{0,60}[:：]\s*(\d{1,3}(?:,\d{3})+|\d{2,6})(?![\d.,]|\s?[A-Za-z%个张卡颗])", re.IGNORECASE
)
_SLOTS: Final = re.compile(r"slots?|插槽", re.IGNORECASE)
_PER_NODE: Final = re.compile(
    r"per[\s_-]+(?:node|server|host)|(?:each|every|a)\s+(?:node|server|host)|每台|单台|每个?节点|单节点|每机", re.IGNORECASE
)
_DATABASE: Final = re.compile(r"\bOracle\b|SAP\s?HANA|\bdatabase\b|\bSQL\b|\bERP\b|\bOLTP\b|\bIOPS\b|数据库", re.IGNORECASE)
_SCALE_UP: Final = re.compile(r"scale[\s-]?up|纵向扩展", re.IGNORECASE)


def _domain_sizes(sheet: Sheet, *, fabric: bool) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for r in sheet.of("count"):
        around = at.of(r)
        if not _CARDS.search(f"{r.text} {around.after[:4]}") or not _ONE_DOMAIN.search(f"{around.heads} {around.sentence}"):
            continue
        limit = next((size for name, size in family("domain").items() if re.search(name, f"{around.heads} {around.line}", re.IGNORECASE)), None)
        beyond = limit is not None and r.printed_si > limit
        known = part_of(r)
        if fabric and beyond and limit is not None:
            yield Hit({"limit": f"{limit:,.0f}", "count": f"{r.printed_si:,.0f}"}, r)
        elif not fabric and not beyond and known is not None and 1 < known.domain < r.printed_si:
            yield Hit({"part": name_of(known), "domain": f"{known.domain:,}", "count": f"{r.printed_si:,.0f}"}, r)


def _domain_named(sheet: Sheet) -> Iterator[Hit]:
    """A size without a noun: "Scale-up domain size of X: 576"."""
    for document in sheet.documents:
        for line in document.lines:
            found = _SIZE.search(line.text)
            named = named_in(line.text) if found is not None else ()
            if found is None or not named:
                continue
            known = part(named[0].thing, named[0].id)
            size = float(found[1].replace(",", ""))
            if 1 < known.domain < size:
                place = Place(document.name, line.number, found.start(1) + 1)
                yield Hit({"text": found[1], "part": name_of(known), "domain": f"{known.domain:,}", "count": f"{size:,.0f}"}, place=place)


def _node(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for r in sheet.of("count"):
        known = part_of(r)
        if known is None or not known.is_system or not known.node < known.accelerators == r.printed_si:
            continue
        around = at.of(r)
        if _CARDS.search(f"{r.text} {around.heads}") and (r.scope == "node" or _PER_NODE.search(f"{around.heads} {around.clause}")):
            yield Hit({"part": name_of(known), "node": f"{known.node}", "count": f"{r.printed_si:,.0f}"}, r)


def _slots(sheet: Sheet) -> Iterator[Hit]:
    for listed in by_line(sheet.of("count")).values():
        for first, second in pairs(listed):
            slots, cards = (first, second) if _SLOTS.search(first.text) else (second, first)
            if _SLOTS.search(slots.text) and _CARDS.search(cards.text) and slots.printed_si >= 8 and 0.5 * slots.printed_si < cards.printed_si:
                yield Hit({"slots": f"{slots.printed_si:.0f}", "half": f"{slots.printed_si / 2:.0f}"}, cards)


def _database(sheet: Sheet) -> Iterator[Hit]:
    for document in sheet.documents:
        for line in document.lines:
            found = _DATABASE.search(line.text) and _SCALE_UP.search(line.text)
            if found:
                yield Hit({"text": found.group(0)}, place=Place(document.name, line.number, found.start() + 1))


_SIMM: Final = "https://simmtester.com/News/IndustryArticle/26563"
RULES: tuple[Check, ...] = (
    Check("audit.domain_beyond_limit", "error", sources("domain."), lambda sheet: _domain_sizes(sheet, fabric=True)),
    Check(
        "audit.domain_beyond_system", "warning", ("https://www.slicast.com/article/1pl8afm (576 claimed, 72 shipped)",),
        lambda sheet: (*_domain_sizes(sheet, fabric=False), *_domain_named(sheet)),
    ),
    Check("audit.node_is_domain", "warning", ("https://docs.nvidia.com/dgx/dgxgb200-user-guide/hardware.html",), _node),
    Check("audit.slots_are_not_cards", "question", (_SIMM,), _slots),
    Check("audit.database_scale_up", "info", ("data sheets of database servers",), _database),
)  # fmt: skip

"""The words around a figure: direction, scope, bound, aggregate, in English and Chinese."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from tierspan.quantities.errors import InputError, Place

Direction = Literal["per-direction", "both-directions"]
Scope = Literal["lane", "link", "accelerator", "die", "node", "rack", "domain"]
Bound = Literal["about", "at most", "at least"]

_DIRECTIONS: dict[Direction, str] = {
    "both-directions": r"\b(?:in\s+)?both[\s-]+(?:directions?|ways?)\b|\bbi-?\s?dir(?:ectional(?:ly)?)?\b|\bbi\b|\btwo[\s-]way\b|双向(?:合计|总)?",
    "per-direction": r"(?:\b(?:in\s+)?(?:each|per|one)[\s-]+|/)(?:way|direction|dir)\b|\buni-?\s?dir(?:ectional(?:ly)?)?\b|\buni\b"
    r"|单向|每个?方向|/方向",
}
_SCOPE_NOUNS: dict[Scope, str] = {
    "lane": r"lanes?|SerDes|通道|lane通道",
    "link": r"links?|ports?|cables?|条?链路|个?端口|口",
    "die": r"dies?|dice|GCDs?|chiplets?|裸片|芯粒|die",
    "accelerator": r"GPUs?|NPUs?|TPUs?|XPUs?|PPUs?|cards?|chips?|accelerators?|devices?|packages?|张?卡|个?芯片|加速卡|加速器",
    "rack": r"racks?|cabinets?|个?机柜|柜",
    "domain": r"domains?|pods?|super-?pods?|super-?nodes?|HBDs?|个?超节点|超带宽域|域",
    "node": r"nodes?|servers?|hosts?|box(?:es)?|个?节点|台?服务器|台|机(?!柜)",
}
_BOUNDS: dict[Bound, str] = {
    "at most": r"\b(?:up\s+to|at\s+most|max(?:imum)?|under|below|less\s+than|no\s+more\s+than)\b\.?|<=?|≤"
    r"|最高可?达?|至多|最大|不超过|小于|低于|以下|以内",
    "at least": r"\b(?:at\s+least|min(?:imum)|over|above|more\s+than)\b|>=?|≥|至少|不低于|不少于|大于|超过|高于|以上",
    "about": r"[~∼≈]|\b(?:about|around|approx(?:imately)?|circa|ca|roughly)\b\.?|大约|约|左右",
}
_AGGREGATE = r"\b(?:in\s+)?(?:aggregated?|total|combined)\b|聚合|合计|总(?!线)"
_NOISE = r"\b(?:bandwidth|throughput|of|full[\s-]duplex)\b|总线带宽|带宽|吞吐"


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_DIRECTION_RE = {name: _compile(pattern) for name, pattern in _DIRECTIONS.items()}
_SCOPE_RE = {name: _compile(rf"(?:\b(?:per|each|every)\s+|/\s*|每|单|整)(?:{nouns})(?![A-Za-z])") for name, nouns in _SCOPE_NOUNS.items()}
_BOUND_RE = {name: _compile(pattern) for name, pattern in _BOUNDS.items()}
_AGGREGATE_RE = _compile(_AGGREGATE)
_NOISE_RE = _compile(_NOISE)


@dataclass(frozen=True, slots=True)
class Qualifiers:
    """What the words around a figure say; None where they say nothing."""

    direction: Direction | None = None
    scope: Scope | None = None
    bound: Bound | None = None
    aggregate: bool = False


def split_qualifiers(text: str, *, place: Place | None = None) -> tuple[Qualifiers, str]:
    """The qualifiers in ``text`` and the text without them.

    Raises:
        InputError: two directions or two scopes in one figure.
    """
    original = text
    directions: list[Direction] = []
    for direction, pattern in _DIRECTION_RE.items():
        text, count = pattern.subn(" ", text)
        directions += [direction] * bool(count)
    scopes: list[Scope] = []
    for scope, pattern in _SCOPE_RE.items():
        text, count = pattern.subn(" ", text)
        scopes += [scope] * bool(count)
    bounds: list[Bound] = []
    for bound, pattern in _BOUND_RE.items():
        text, count = pattern.subn(" ", text)
        bounds += [bound] * bool(count)
    if len(directions) > 1:
        raise InputError("units.two_directions", place=place, value=original)
    if len(scopes) > 1:
        raise InputError("units.two_scopes", place=place, value=original, scopes=", ".join(scopes))
    text, aggregates = _AGGREGATE_RE.subn(" ", text)
    text = _NOISE_RE.sub(" ", text)
    text = re.sub(r"[()\[\]]", " ", text)
    found = Qualifiers(directions[0] if directions else None, scopes[0] if scopes else None, bounds[0] if bounds else None, bool(aggregates))
    return found, text.strip(" ,;:")


def scopes() -> tuple[Scope, ...]:
    """All scopes, from the smallest."""
    return get_args(Scope)

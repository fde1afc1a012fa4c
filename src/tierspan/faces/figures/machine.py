"""The machine with its tiers, and where the parallel groups run on it: drawings that need no interaction.

A square is an accelerator, a frame a domain of the innermost tier. Of many domains the first ones, and those that hold members of the group of
rank 0, are drawn; what is left out is counted. Above ``MOST_SQUARES`` accelerators a domain, a square stands for several.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tierspan.faces.cli.render.parts import named, number_of, said, whole
from tierspan.faces.figures.base import GROUP_COLOURS
from tierspan.faces.figures.svg import FAINT, LINE, Board, text_width

if TYPE_CHECKING:
    from tierspan.answers.results import GroupPlacement, Prediction, TierView

MOST_SQUARES: Final = 400
WIDE: Final = 960
NARROW: Final = 344
_PAD: Final = 12.0
_GAP: Final = 22.0
_SQUARES: Final = (11.0, 9.0, 7.0, 5.0, 4.0)
"""Sides of a square with its gap, px; the largest at which four domains stand side by side."""
_QUIET_SQUARE: Final = "#9aa5b4"


def tiers_drawing(prediction: Prediction, lang: str, width: float = WIDE) -> str:
    """The tiers as frames inside one another, outermost first, with the domains of the innermost one."""
    tiers, n = prediction.tiers, prediction.case.accelerators
    board = Board(width)
    frames: list[tuple[float, float, str]] = []
    for depth, tier in enumerate(reversed(tiers[1:])):
        inset = depth * _PAD
        frames.append((inset, board.y, GROUP_COLOURS["scale_out"]))
        board.y += 6
        _tier_text(board, tier, inset + _PAD, width - 2 * inset - 2 * _PAD, lang)
    inset = len(tiers[1:]) * _PAD
    domain = max(tiers[0].domain_size, 1)
    domains = math.ceil(n / domain)
    room = width - 2 * inset
    count, cell, across, pitch = _layout(min(domain, n), domain, room, list(range(domains)), lang)
    board.y += 4
    shown = _first_and_last(range(domains), count)
    _domains(board, inset, shown, domain, n, cell, across, pitch, {}, lang)
    _tier_text(board, tiers[0], inset + 4, room - 8, lang, colour=GROUP_COLOURS["scale_up"])
    board.y += 8
    for x, top, colour in reversed(frames):
        board.parts.insert(0, "")
        board.box(x + 1, top + 1, width - 2 * x - 2, board.y - top - 2, colour=colour, thick=2)
        board.y += _PAD
    return board.svg(said("drawing.tiers", lang))


def groups_drawing(prediction: Prediction, lang: str, width: float = WIDE) -> str:
    """One row for each parallel group: the members that work with rank 0, the domains they stand in, and the tier that joins them."""
    n = prediction.case.accelerators
    domain = max(prediction.tiers[0].domain_size, 1) if prediction.tiers else 1
    kinds = {tier.name: tier.kind for tier in prediction.tiers}
    exposed = {kind: sum(t.exposed_s for t in prediction.traffic if t.kind == kind) for kind in {t.kind for t in prediction.traffic}}
    board = Board(width)
    for group in prediction.placement:
        inner = kinds.get(group.tier) == "scale-up"
        colour = GROUP_COLOURS["scale_up" if inner else "scale_out"]
        members = _members(group, domain)
        board.text(0, _group_head(group, lang), size=14, bold=True)
        board.text(0, _group_text(group, exposed.get(group.kind), members, lang), size=12.5, colour=FAINT)
        board.y += 5
        used = sorted(members)
        count, cell, across, pitch = _layout(min(domain, n), domain, width, used, lang)
        shown = _first_and_last(used, count)
        _domains(board, 0, shown, domain, n, cell, across, pitch, members, lang, colour=colour, joined="" if inner else group.tier, of=len(used))
        board.y += 14
    return board.svg(said("drawing.groups", lang))


def _tier_text(board: Board, tier: TierView, x: float, width: float, lang: str, colour: str = GROUP_COLOURS["scale_out"]) -> None:
    board.text(x, f"{tier.name} · {named('tier_kind', tier.kind, lang)}", size=14, bold=True, colour=colour, width=width)
    values = {
        "domain": whole(tier.domain_size),
        "rate": number_of(tier.bandwidth_Bps / 1e9),
        "achievable": number_of(tier.achievable_Bps / 1e9),
        "latency": number_of(tier.latency_s * 1e6),
    }
    board.text(x, said("drawing.tier", lang, **values), size=12.5, colour=FAINT, width=width)


def _members(group: GroupPlacement, domain: int) -> dict[int, set[int]]:
    """Domain -> places in it of the group of rank 0, where groups fill domains without gaps (a domain may keep a rest that no group fills)."""
    inside = max(group.members_per_domain, 1)
    step = max(math.ceil(inside * group.stride / domain), 1)
    out: dict[int, set[int]] = {}
    for i in range(group.size):
        out.setdefault(i // inside * step, set()).add(i % inside * group.stride % domain)
    return out


def _group_head(group: GroupPlacement, lang: str) -> str:
    return said("drawing.group.head", lang, kind=named("kind", group.kind, lang), size=whole(group.size))


def _group_text(group: GroupPlacement, exposed: float | None, members: dict[int, set[int]], lang: str) -> str:
    where = "inside" if len(members) == 1 else "apart" if group.members_per_domain == 1 else "mixed"
    told = said(
        f"drawing.group.{where}",
        lang,
        tier=group.tier,
        domains=whole(len(members)),
        inside=whole(group.members_per_domain),
        stride=whole(group.stride),
    )
    return told if exposed is None else told + said("drawing.group.exposed", lang, seconds=number_of(exposed))


def _first_and_last(domains: Sequence[int], count: int) -> list[int]:
    return list(domains) if count >= len(domains) else [*domains[: count - 1], domains[-1]]


def _layout(filled: int, domain: int, room: float, domains: Sequence[int], lang: str) -> tuple[int, float, int, float]:
    """How many domains stand side by side, the side of a square with its gap, squares a row of a domain, px from domain to domain."""
    across = _columns(math.ceil(filled / _per_square(domain)))
    label = text_width(said("drawing.domain", lang, number=whole(domains[-1] + 1)), 11)
    pitches = [max(across * cell + 10, label + 2) + _GAP for cell in _SQUARES]
    fits = [min(max(int((room + _GAP) // pitch), 1), len(domains)) for pitch in pitches]
    best = next(i for i, fit in enumerate(fits) if fit >= min(max(fits), 4))
    return fits[best], _SQUARES[best], across, pitches[best]


def _per_square(domain: int) -> int:
    return math.ceil(domain / MOST_SQUARES)


def _columns(cells: int) -> int:
    """Squares a row: a divisor near twice the square root, so that rows are full where that is possible."""
    aim = math.sqrt(1.6 * cells)
    divisors = [d for d in range(1, cells + 1) if cells % d == 0]
    best = min(divisors, key=lambda d: abs(math.log(d / aim)))
    return best if 0.5 < best / aim < 2 else math.ceil(aim)


def _domains(
    board: Board, x: float, shown: Sequence[int], domain: int, n: int, cell: float, across: int, pitch: float,
    members: dict[int, set[int]], lang: str, *, colour: str = GROUP_COLOURS["scale_up"], joined: str = "", of: int | None = None,
) -> None:  # fmt: skip
    """Frames of squares side by side, a line between those that a tier joins, and the count of what is left out."""
    per = _per_square(domain)
    top = board.y + 2
    lowest = top
    ends: list[float] = []
    for place, index in enumerate(shown):
        left = x + place * pitch
        held = max(min(domain, n - index * domain), max(members.get(index, {0})) + 1)
        cells = math.ceil(held / per)
        rows = math.ceil(cells / across)
        mine = {m // per for m in members.get(index, ())}
        frame = pitch - _GAP
        inner = left + (frame - min(across, cells) * cell + 1.5) / 2
        at = [(inner + (i % across) * cell, top + 5 + (i // across) * cell) for i in range(cells)]
        board.box(left, top, frame, rows * cell + 9, colour=colour if mine or not members else LINE, thick=1.6)
        board.squares([p for i, p in enumerate(at) if i not in mine], cell - 1.5, colour=_QUIET_SQUARE, opacity=0.55 if members else 0.9)
        board.squares([p for i, p in enumerate(at) if i in mine], cell - 1.5, colour=colour)
        board.label(left + frame / 2, top + rows * cell + 22, said("drawing.domain", lang, number=whole(index + 1)))
        if place and index != shown[place - 1] + 1:
            board.label(left - 11, top + rows * cell / 2 + 6, "…", size=14)
        lowest = max(lowest, top + rows * cell + 26)
        ends.append(left + frame / 2)
    board.y = lowest
    if joined and len(ends) > 1:
        y = lowest + 6
        for end in ends:
            board.line([(end, y - 5), (end, y)], colour=colour)
        board.line([(ends[0], y), (ends[-1], y)], colour=colour, thick=3)
        board.y = y + 3
        board.text(x, said("drawing.joined", lang, tier=joined), size=12, colour=colour)
    total = of if of is not None else math.ceil(n / domain)
    notes = []
    if len(shown) < total:
        notes.append(said("drawing.left_out", lang, shown=whole(len(shown)), all=whole(total)))
    if per > 1:
        notes.append(said("drawing.square", lang, count=whole(per)))
    if notes:
        board.text(x, said("list.comma", lang).join(notes), size=11.5, colour=FAINT)
    board.y += 4

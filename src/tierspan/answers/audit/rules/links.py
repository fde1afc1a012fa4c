"""Links x rate of a link = rate of an accelerator, in one direction or in both."""

from __future__ import annotations

from collections.abc import Iterator

from tierspan.answers.audit.closing.amounts import agree, leeway, product, shown
from tierspan.answers.audit.closing.blocks import Block, blocks, part_of
from tierspan.answers.audit.closing.places import place_of
from tierspan.answers.audit.closing.rule import ProductRule
from tierspan.answers.audit.closing.telltale import explained
from tierspan.answers.audit.rules.base import Sheet
from tierspan.quantities.findings import Finding
from tierspan.specs.reading import Reading


def _look(sheet: Sheet) -> Iterator[Finding]:
    for block in blocks(sheet):
        yield from _block(block)


def _block(block: Block) -> Iterator[Finding]:
    rates = [r for r in block.of("bandwidth") if r.tier in ("scale-up", "")]
    links = [r for r in rates if r.scope == "link"]
    wholes = [r for r in rates if r.scope in ("accelerator", "cluster", "") and r.count == 1 and r.tier == "scale-up"]
    counts = {r.printed_si for r in block.counted("link") if r.printed_si > 1} | {r.count for r in links if r.count > 1}
    if not links or not wholes or not counts:
        return
    for whole in wholes:
        if any(_closes(n, one, whole) for n in counts for one in links):
            continue
        n, one = max(counts), links[0]
        same = [x for x in links if x.direction == whole.direction]
        one = same[0] if same else one
        part = part_of(whole)
        yield Finding(
            "audit.links", "error",
            {
                "text": whole.text, "printed": shown(whole.printed_si, whole), "product": product(n, one),
                "why": explained(whole.printed_si, n * one.printed_si, "B/s", links=n, accelerators=(float(part.node),) if part else ()),
            },
            place_of(whole),
        )  # fmt: skip


def _closes(count: float, one: Reading, whole: Reading) -> bool:
    ratio = whole.printed_si / (count * one.printed_si)
    spread = leeway(one, whole)
    # a direction that only the catalogue supplied does not make a printed product wrong
    stated = one.direction and whole.direction and one.status == whole.status == "certain"
    if stated and one.direction == whole.direction:
        return agree(ratio, 1.0, spread)
    if stated:
        return agree(ratio, 2.0 if whole.direction == "both-directions" else 0.5, spread)
    return any(agree(ratio, factor, spread) for factor in (0.5, 1.0, 2.0))


RULES = (ProductRule("audit.links", "error", ("facts/README traps 1, 3, 7, 8", "facts/README: generic checks, links x per-link"), _look),)

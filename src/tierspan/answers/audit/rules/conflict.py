"""One sheet with two figures for one thing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final

from tierspan.answers.audit.rules.base import Sheet
from tierspan.answers.audit.rules.surroundings import Around, Check, Hit, Surroundings, by_line, shown
from tierspan.answers.audit.rules.vendor import counts_of
from tierspan.formats.figures.known import near
from tierspan.quantities.printing import format_number
from tierspan.specs.reading import Reading

_APART: Final = re.compile(
    r"\bL[123]\b|cache|\bDDR\d?|LPDDR|system|host|CPU|storage|SSD|NVMe|disk|model|weight|checkpoint|message|buffer|batch|\bKV\b|usable|available|free|used|node"
    r"|rack|total|aggregate|per\s+die|die\b|package|\bor\b|idle|average|typical|limit|suppl|PSU|shelf|measured|achieved|raw|old|new|variant|option"
    r"|缓存|主机|存储|硬盘|模型|权重|可用|占用|剩余|整机|机柜|合计|封装|或|空闲|平均|电源|实测|版|选配",
    re.IGNORECASE,
)  # fmt: skip
_KINDS: Final = ("memory", "memory bandwidth", "power", "bandwidth", "compute rate")
_POWER: Final = re.compile(r"\bTDP\b|\bTGP\b|\bTBP\b|功耗|\bpower\b", re.IGNORECASE)


def _key(r: Reading, around: Around) -> tuple[object, ...] | None:
    """What a figure says it is; figures of one key must be equal."""
    subject = r.catalog_id or r.subject
    words = f"{around.heads} {around.clause}"
    if not subject or _APART.search(words) or r.count > 1 or r.scope not in ("", "accelerator") or r.bound == "at least":
        return None
    if r.quantity in ("memory", "memory bandwidth"):
        return (r.file, subject, r.quantity) if r.tier == "memory" else None
    if r.quantity == "power":
        return (r.file, subject, "power") if _POWER.search(words) else None
    if r.quantity == "bandwidth":
        return (r.file, subject, "bandwidth") if r.tier == "scale-up" and r.status != "ambiguous" else None
    return (r.file, subject, "peak", r.precision) if r.precision and r.peak != "sustained" else None


def _conflicts(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    first: dict[tuple[object, ...], tuple[Reading, Mapping[float, str]]] = {}
    told: set[tuple[object, ...]] = set()
    counted = counts_of(sheet)
    for r in sheet.of(*_KINDS):
        key = _key(r, at.of(r))
        if key is None:
            continue
        earlier, _ = first.setdefault(key, (r, {}))
        differ = not near(earlier.value_si, r.value_si, 0.03) and not near(earlier.printed_si, r.printed_si, 0.03)
        # dense and sparse, or both and each, of one figure are no conflict
        labelled = earlier.density != r.density or earlier.direction != r.direction
        if differ and not labelled and earlier.line != r.line and key not in told and earlier.text != r.text and not _sum(earlier, r, counted):
            told.add(key)
            yield Hit({"other": earlier.text, "line": earlier.line, "part": r.subject or earlier.subject}, r)


def _sum(a: Reading, b: Reading, counted: Mapping[str, set[float]]) -> bool:
    """Whether one figure is that of as many as the sheet counts somewhere."""
    low, high = sorted((a.printed_si, b.printed_si))
    return low > 0 and any(n > 1 and near(high / low, n, 0.03) for n in counted.get(a.file, ()))


def _binary(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for listed in by_line(sheet.of("memory")).values():
        for first, second in pairwise(listed):
            behind = at.of(first).after
            between = behind.split(second.text)[0] if second.text in behind else ""
            twins = re.fullmatch(r"\s*(?:of\s+\w+\s*)?[(（=/]\s*(?:约|about|or|即|=)?\s*", between)
            mixed = first.text.rstrip().endswith("iB") != second.text.rstrip().endswith("iB")
            usable = re.match(r"\s*(?:usable|available|free|可用|剩余)", at.of(second).after, re.IGNORECASE)
            if twins and mixed and not usable and not near(first.printed_si, second.printed_si, 0.015):
                binary, decimal = f"{format_number(first.printed_si / 2**30, 4)} GiB", shown(first.printed_si, "B")
                yield Hit({"other": second.text, "binary": binary, "decimal": decimal}, first)


RULES: tuple[Check, ...] = (
    Check(
        "audit.two_values", "warning",
        ("https://jishuzhan.net/article/1872432607539499010", "https://github.com/modelscope/ms-swift/issues/9403"), _conflicts,
    ),
    Check("audit.gb_and_gib", "warning", ("AWS Neuron documents: 820 GB/sec became 820 GiB/sec with the same number",), _binary),
)  # fmt: skip

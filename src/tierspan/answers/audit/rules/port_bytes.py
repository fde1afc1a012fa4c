"""A network port whose rate is written in bytes: 400 GB/s where every port of that name carries 400 Gb/s."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tierspan.answers.audit.rules.base import Sheet
from tierspan.answers.audit.rules.surroundings import Check, Hit, Surroundings, part_of, shown
from tierspan.formats.figures.known import near

_PORTS_GBPS: Final = (25, 50, 100, 200, 400, 800, 1600)
_BYTES: Final = re.compile(r"[GT]i?B")
_SUM: Final = re.compile(
    r"\bnodes?\b|\bservers?\b|\btotal|aggregate|\brack|\bhost|\bstorage|measur|busbw|\ball\b|switch|GPU-PCIe|PCIe|整机|每台|单机|合计|总|共|聚合|机柜|存储|实测|交换",
    re.IGNORECASE,
)


def _look(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for r in sheet.of("bandwidth"):
        if r.tier != "scale-out" or not _BYTES.search(r.text) or r.scope in ("node", "rack", "domain", "cluster", "switch"):
            continue
        around = at.of(r)
        if _SUM.search(f"{around.heads} {around.clause}"):
            continue
        known = part_of(r)
        own = known is not None and near(r.printed_si, 8 * known.scale_out_Bps, 0.001)
        if own or any(near(r.printed_si, rate * 1e9, 0.001) for rate in _PORTS_GBPS if rate >= 100):
            yield Hit({"bits": shown(r.printed_si / 8, "B/s", bits=True), "bytes": shown(r.printed_si / 8, "B/s")}, r)


RULES: tuple[Check, ...] = (
    Check(
        "audit.port_in_bytes",
        "warning",
        ("github:stas00/ml-engineering network/README.md (2026-08-22)", "github:RajBhope/gpu-runtime-predictor (GB/s in fields named gbps)"),
        _look,
    ),
)  # fmt: skip

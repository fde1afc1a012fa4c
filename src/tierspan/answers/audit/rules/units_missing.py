"""Units that a sheet leaves open: bit or byte, per second, per what, a number without any unit, money without a currency; twin ports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tierspan.answers.audit.rules.base import Sheet
from tierspan.answers.audit.rules.surroundings import Check, Hit, Surroundings, shown
from tierspan.quantities.errors import Place
from tierspan.specs.reading import Reading

_CASES: Final = "public cases: sheets as people paste them"
_NETWORK: Final = re.compile(
    r"\bNICs?\b|\bHCAs?\b|Infini\s?Band|\bIB\b|RoCE|Ethernet|\d\s?GbE|\bports?\b|ConnectX|\bCX-?\d|QSFP|OSFP|switch|leaf|spine|core\b|\bHDR|\bNDR|\bXDR|up\b|down\b"
    r"|optical|transceiver|module|cable|link|网卡|端口|口|交换|以太|光模块|线缆|上行|下行|存储|storage|front",
    re.IGNORECASE,
)
_SWITCHED: Final = re.compile(r"switch|port|交换|端口", re.IGNORECASE)
# a number that touches its word is a generation (HBM3, NVLink4), no figure
_LABELLED: Final = re.compile(
    r"(?<![A-Za-z])(?P<label>IB|InfiniBand|RoCE|NVLink|lat(?:ency)?|power|TDP|HBM|mem(?:ory)?|bandwidth|bw|network|NIC"
    r"|时延|延迟|功耗|带宽|显存|网络|网卡)(?:\s*[:：=]\s*|\s+)(?P<number>[0-9０-９]+(?:[.．][0-9０-９]+)?)\s*(?=[;；,，、。|](?!\d)|$)",
    re.IGNORECASE,
)
_MONEY: Final = re.compile(
    r"(?P<label>budget|price|cost|quote|预算|报价|价格|单价|总价|造价)\w*\s*(?:is|of|about|around|约|为|[:：=≈~])*\s*"
    r"(?P<number>\d[\d,.]*\s?(?:k|m|mn|million|b|bn|billion|万|亿|千万|百万)?)(?![\w%])(?!\.\d)(?P<after>.{0,12})",
    re.IGNORECASE,
)
_CURRENCY: Final = re.compile(r"[$¥￥€£]|USD|CNY|RMB|EUR|GBP|dollars?|yuan|元|美元|人民币|欧元|万元|亿元", re.IGNORECASE)
_TWIN: Final = re.compile(r"twin|dual[\s-]port|2\s?[x×]\s?400|双口|双端口|双路", re.IGNORECASE)
_OSFP: Final = re.compile(r"OSFP", re.IGNORECASE)
_ENDPOINT_800: Final = re.compile(r"\bXDR\b|ConnectX-?8|CX-?8|800\s?GbE|Q3400|X800|Tomahawk|SN5600|DR8|SR8|2xDR4|2xSR4", re.IGNORECASE)


def _bit_or_byte(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for r in sheet.of("bandwidth", "memory", "memory bandwidth", "other"):
        around = at.of(r)
        if r.quantity == "memory" and re.search(r"[kMGT]i?b$", r.text):
            yield Hit({"bits": shown(r.printed_si, "B"), "bytes": shown(8 * r.printed_si, "B")}, r)
        elif r.quantity == "memory bandwidth" and re.search(r"b(?:/s|ps|it/s)$", r.text):
            yield Hit({"bits": shown(r.printed_si, "B/s"), "bytes": shown(8 * r.printed_si, "B/s")}, r)
        elif _bare(r) and r.count <= 1 and (r.text.rstrip().upper().endswith("T") or not _NETWORK.search(f"{around.heads} {around.line}")):
            yield Hit({"bits": shown(r.printed_si, "B/s", bits=True), "bytes": shown(8 * r.printed_si, "B/s")}, r)


def _bare(r: Reading) -> bool:
    return r.quantity == "bandwidth" and any(reason.id == "audit.read.bits" for reason in r.reasons)


def _per_second(sheet: Sheet) -> Iterator[Hit]:
    for r in sheet.of("memory"):
        if r.tier in ("scale-up", "scale-out", "host"):
            yield Hit({"rate": f"{shown(r.printed_si, 'B')}/s"}, r)


def _per_what(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for r in sheet.of("bandwidth"):
        words = f"{at.of(r).heads} {at.of(r).line}"
        if r.scope or r.count > 1:
            continue
        # terabits of a network are those of a switch or a cluster, or of a wish: nobody knows which
        huge = r.tier in ("scale-up", "scale-out") and not r.catalog_id and re.search(r"Tb(?:ps|/s)|Tbit", r.text) and not _SWITCHED.search(words)
        if huge or (_bare(r) and not _NETWORK.search(words)):
            yield Hit({}, r)


def _no_unit(sheet: Sheet) -> Iterator[Hit]:
    for document in sheet.documents:
        for line in document.lines:
            if line.cells:
                continue
            for found in _LABELLED.finditer(line.text):
                yield Hit({"text": found.group(0).strip(), "label": found["label"]}, place=Place(document.name, line.number, found.start() + 1))


def _no_currency(sheet: Sheet) -> Iterator[Hit]:
    for document in sheet.documents:
        for line in document.lines:
            for found in _MONEY.finditer(line.text):
                around = line.text[max(0, found.start() - 8) : found.start()] + found.group(0)
                plain = found["number"].strip()
                if not _CURRENCY.search(around) and re.search(r"[kmb万亿]|\d{3}", plain, re.IGNORECASE):
                    yield Hit({"text": f"{found['label']} {plain}"}, place=Place(document.name, line.number, found.start() + 1))


def _twin(sheet: Sheet) -> Iterator[Hit]:
    at = Surroundings(sheet)
    for r in sheet.of("bandwidth"):
        around = at.of(r)
        text = f"{around.heads} {around.line}"
        if abs(r.printed_si - 1e11) < 1e8 and _OSFP.search(around.clause) and not _TWIN.search(text) and not _ENDPOINT_800.search(text):
            yield Hit({}, r)


RULES: tuple[Check, ...] = (
    Check("audit.bit_or_byte", "question", (_CASES, "github:ying-wen/evokernel-spec (GB/s in fields named Gb/s)"), _bit_or_byte),
    Check("audit.rate_without_time", "question", (_CASES,), _per_second),
    Check("audit.per_what", "question", (_CASES,), _per_what),
    Check("audit.unit_missing", "question", (_CASES,), _no_unit),
    Check("audit.currency_missing", "question", (_CASES,), _no_currency),
    Check("audit.twin_port", "question", ("https://docs.nvidia.com/networking/display/800GMMA4Z00NS/Overview (two ports of 400 Gb/s)",), _twin),
)

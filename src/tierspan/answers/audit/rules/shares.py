"""Percentages and the counts that they come from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tierspan.answers.audit.closing.places import same_length
from tierspan.answers.audit.closing.rule import ProductRule
from tierspan.answers.audit.rules.base import Sheet
from tierspan.quantities.errors import Place
from tierspan.quantities.findings import Finding

_N: Final = r"(?<![\w.,-])(?P<{0}>\d{{1,3}}(?:,\d{{3}})+|\d+)(?![\d.]|,\d|\s?%)"
_UNIT: Final = r"\s?[次个台张起例条]"
_WHOLE: Final = _N.format("whole")
_PART: Final = _N.format("part")
_COUNTED: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # "148 of 419 interruptions (35.3 %)", "148 cases out of 419"
        rf"{_PART}\s+(?:\w+\s+out\s+of|(?:out\s+)?of)\s+(?:the\s+|all\s+)?{_WHOLE}",
        # "148/419 interruptions"
        rf"{_PART}\s?/\s?{_WHOLE}\s+[a-z]",
        # "35/419 interruptions"
        rf"{_PART}\s?/\s?{_WHOLE}\s+[a-z一-鿿]",
        # "Of 419 interruptions, 148 were ..."
        rf"\bof\s+(?:the\s+|all\s+)?{_WHOLE}[^.;\d%]{{1,60}}?,\s*{_PART}",
        # "419 次意外中断中有 148 次"
        rf"{_WHOLE}{_UNIT}[^。；;\d%]{{0,24}}?(?:中有?|其中)[^。；;\d%]{{0,12}}?{_PART}{_UNIT}",
        # "72 次，总计 419 次"
        rf"{_PART}{_UNIT}[，,、]\s?(?:总计|共|合计)\s?{_WHOLE}{_UNIT}",
        # "共 72 次，约占 419 次中断的 17.2%"
        rf"{_PART}{_UNIT}[，,、]?\s?(?:约)?占\s?{_WHOLE}{_UNIT}",
        # "共 419 次中断，其中 148 次"
        rf"(?:共|总计|合计)\s?{_WHOLE}{_UNIT}[^。；;\d%]{{0,24}}?其中[^。；;\d%]{{0,12}}?{_PART}{_UNIT}",
    )
)
_PERCENT: Final = re.compile(
    r"(?<![\w.,+-])(?P<lead>[~≈约]?\s?)(?P<value>\d+(?:\.\d+)?)\s?%(?!\s?(?:more|less|faster|slower|higher|lower|of\s+peak))"
)
_STOP: Final = re.compile(r"[;；。\n]|\.\s+(?=[A-Z])")


def _look(sheet: Sheet) -> Iterator[Finding]:
    for document in sheet.documents:
        for line in document.lines:
            plain = same_length(line.text)
            start = 0
            for stop in [*(m.end() for m in _STOP.finditer(plain)), len(plain)]:
                sentence = plain[start:stop]
                start = stop
                yield from _sentence(sentence, Place(file=document.name, line=line.number))


def _sentence(sentence: str, place: Place) -> Iterator[Finding]:
    percents = list(_PERCENT.finditer(sentence))
    if len(percents) != 1:
        return
    for pattern in _COUNTED:
        found = list(pattern.finditer(sentence))
        if len(found) != 1:
            continue
        part, whole = (float(found[0][name].replace(",", "")) for name in ("part", "whole"))
        if not 0 < part <= whole or whole < 2:
            return
        printed = percents[0]["value"]
        step = 10.0 ** -len(printed.partition(".")[2])
        spread = 3.0 if percents[0]["lead"].strip() else 0.6 * step + 0.02
        exact = 100.0 * part / whole
        # the rest may be meant: "148 of 419 failed, 64.7 % did not"
        if abs(exact - float(printed)) > spread and abs(100 - exact - float(printed)) > spread:
            values = {
                "text": percents[0][0].strip(), "printed": f"{printed} %", "should": f"{exact:.{max(1, len(printed.partition('.')[2]))}f} %",
                "arithmetic": f"{part:,.0f} / {whole:,.0f} = {exact:.1f} %",
            }  # fmt: skip
            yield Finding("audit.share", "error", values, place)
        return


RULES = (ProductRule("audit.share", "error", ("facts/README conflict 25 (148 of 419 printed as 30.1 %)", "facts/README: generic checks"), _look),)

"""Cells that a spreadsheet would run. Here they are text; they are told, and an export takes their force away."""

from __future__ import annotations

import re
from typing import Final

from tierspan.quantities.errors import Place
from tierspan.quantities.findings import Finding
from tierspan.specs.sheet import SheetDocument

_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
_VALUE = re.compile(r"^[+\-＋－]\s?[¥￥$€£~≈]?\s?[\d０-９.．]|^[+\-=@＋－＝＠\s]*$")
_CALL = re.compile(r"^[=@+\-＝＠＋－]\s*[A-Za-z_.][\w.]{0,60}\s*\(|^[=@+\-＝＠＋－].{0,200}\|.{0,200}!")
_REACHES_OUT = re.compile(
    r"\b(?:HYPERLINK|WEBSERVICE|IMPORT(?:XML|DATA|HTML|RANGE|FEED)|CALL|REGISTER|DDE(?:AUTO)?|RTD|EXEC)\s*\(|\|.{0,200}!", re.IGNORECASE
)


def runs_something(formula: str) -> bool:
    """Whether a formula reaches out of its workbook: links, web services, DDE."""
    return bool(_REACHES_OUT.search(formula[:2000]))


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet would take a text for a formula; a signed number (+5 %, -40 °C) and a dash are none."""
    if not cell.startswith(_STARTS) or _VALUE.match(cell):
        return bool(_CALL.match(cell))
    return cell[0] in "=@＝＠" or bool(_CALL.match(cell)) or bool(re.match(r"^[+\-＋－]\s*\$?[A-Za-z]{1,3}\$?\d+\b", cell))


def neutralised(cell: str) -> str:
    """A text that a spreadsheet shows as it stands: an apostrophe before whatever begins like a formula."""
    return "'" + cell if cell.startswith(_STARTS) and not re.fullmatch(r"[+\-][\d.,]+", cell) else cell


def suspicious_cells(document: SheetDocument) -> tuple[Finding, ...]:
    """A warning for each cell, or line of a text, that a spreadsheet would run; at most 100."""
    found: list[Finding] = []
    for line in document.lines:
        texts = line.cells or ((line.text,) if _CALL.match(line.text) else ())
        for column, text in enumerate(texts, 1):
            if is_formula(text):
                found.append(Finding("sheet.suspicious_cell", "warning", {"cell": text[:80]}, Place(document.name, line.number, column)))
    return tuple(found[:100])

"""Arithmetic that a sheet writes out must hold: ``18 links x 50 GB/s = 900 GB/s``, ``54 V x 2,222 A = 120 kW``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from tierspan.answers.audit.closing.amounts import agree
from tierspan.answers.audit.closing.expression import Equation, equations
from tierspan.answers.audit.closing.rule import ProductRule
from tierspan.answers.audit.closing.telltale import explained
from tierspan.answers.audit.rules.base import Sheet
from tierspan.quantities.errors import InputError, Place
from tierspan.quantities.findings import Finding, Phrase
from tierspan.quantities.printing import format_quantity
from tierspan.quantities.qualifiers import split_qualifiers

_SAME = {("AV", "W"), ("AV", "VA"), ("FLOPHz", "FLOP/s"), ("FLOP/sHz", "FLOP/s"), ("Hz", "FLOP/s")}
_THREE_PHASE = re.compile(r"3[\s-]?(?:phase|ph\b|φ)|three[\s-]phase|三相", re.IGNORECASE)


def _look(sheet: Sheet) -> Iterator[Finding]:
    for document in sheet.documents:
        for line in document.lines:
            for text in line.cells or (line.text,):
                for found in equations(text):
                    if _comparable(found) and not _holds(found, text):
                        yield _finding(found, Place(file=document.name, line=line.number))


def _comparable(found: Equation) -> bool:
    if found.left_unit == found.right_unit:
        return True
    if found.left_unit == "" and found.right_unit == "1":
        return True
    return (found.left_unit, found.right_unit) in _SAME and (found.right_unit != "FLOP/s" or "Hz" in found.left_unit)


def _holds(found: Equation, line: str) -> bool:
    ratio = found.right / found.left if found.left else math.inf
    allowed = [1.0]
    if found.right_unit == "B/s":
        left, right = _direction(found.left_words), _direction(f"{found.right_text} {found.tail}")
        if left and right and left != right:
            allowed.append(2.0 if right == "both-directions" else 0.5)
    if found.left_unit == "AV" and _THREE_PHASE.search(line):
        allowed += [math.sqrt(3.0), 2 * math.sqrt(3.0), 0.8 * math.sqrt(3.0)]
    if found.left_unit in ("", "1") and found.right_unit in ("", "1") and found.left > 1 and found.right == math.ceil(found.left):
        return True  # whole things are rounded up
    return any(agree(ratio, factor, found.tolerance) for factor in allowed)


def _direction(words: str) -> str:
    try:
        return split_qualifiers(words)[0].direction or ""
    except InputError:
        return ""


def _finding(found: Equation, place: Place) -> Finding:
    unit = found.right_unit
    bits = (unit == "B/s" and "b" in found.right_text and "B" not in found.right_text) or found.right_text.rstrip()[-1:] in "GT"
    if unit == "1":
        percent = found.right_text.endswith("%")
        expected = f"{100 * found.left:.3g} %" if percent else f"{found.left:,.6g}"
        why = Phrase("audit.ratio.none", {"ratio": f"{found.right / found.left:.3g}" if found.left else "∞"})
    else:
        expected = format_quantity(found.left, unit, digits=4, bits=bits)
        why = explained(found.right, found.left, unit)
    return Finding("audit.equation", "error", {"text": found.text, "printed": found.right_text, "should": expected, "why": why}, place)


RULES = (
    ProductRule(
        "audit.equation",
        "error",
        ("facts/README traps 1, 3, 6, 9, 37, 42 and conflict 25", "facts/README: generic checks"),
        _look,
    ),
)

"""Workbooks, PDF and HTML to lines: what the contained process hands back becomes tables with heads, sections and pages."""

from __future__ import annotations

from typing import Any, Final

from tierspan.formats.sheets.contained import contained
from tierspan.formats.sheets.grid import Row, grid_lines
from tierspan.formats.sheets.plain_text import plain_lines
from tierspan.quantities.errors import InputError, Place
from tierspan.quantities.findings import Finding
from tierspan.specs.sheet import SheetLine

_OLD_OFFICE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED: Final = "EncryptedPackage".encode("utf-16-le")


def container_kind(raw: bytes, name: str) -> str:
    """``xlsx`` or ``pdf`` by the first bytes, "" for a text.

    Raises:
        InputError: a document of another program, or an encrypted one.
    """
    if raw.startswith(b"PK"):
        return "xlsx"
    if b"%PDF-" in raw[:1024]:
        return "pdf"
    if raw.startswith(_OLD_OFFICE):
        if _ENCRYPTED in raw:
            raise InputError("sheet.office_encrypted", place=Place(name))
        raise InputError("sheet.office", place=Place(name), format="XLS, DOC, PPT")
    return ""


def container_lines(kind: str, raw: bytes, name: str) -> tuple[list[SheetLine], list[Finding]]:
    """Lines and findings of a workbook, a PDF or a page in HTML (``raw`` in UTF-8)."""
    answer = contained(kind, raw, name)
    lines: list[SheetLine] = []
    for section in answer["sections"]:
        lines += _section_lines(kind, section)
    findings = [Finding(told, severity, values, Place(name, line, key=key)) for told, severity, values, line, key in answer["findings"]]
    return lines, findings


def _section_lines(kind: str, section: dict[str, Any]) -> list[SheetLine]:
    rows, title, page = section["rows"], section["name"], section["page"]
    if kind == "pdf":
        return plain_lines(((number, cells[0]) for number, _, cells in rows), page)
    if section.get("table", True):
        return grid_lines((Row(number, tuple(cells), spans) for number, spans, cells in rows), title)
    return [SheetLine(number, cells[0], section=title) for number, _, cells in rows]

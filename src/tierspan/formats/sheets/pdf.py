"""Text of PDF, page by page, laid out in columns as on paper."""

from __future__ import annotations

import contextlib
from io import BytesIO
from typing import Any

from tierspan.formats.sheets.contained import Payload
from tierspan.formats.sheets.limits import MAX_LINES, MAX_PAGES, MAX_TEXT_BYTES, mebibytes
from tierspan.quantities.errors import InputError, Place


def unpack(raw: bytes, name: str) -> Payload:
    """The lines of the pages; lines are counted through the document.

    Raises:
        InputError: encrypted, damaged, without text (scanned), or with more text than is read.
    """
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    try:
        reader = PdfReader(BytesIO(raw), strict=False)
        if reader.is_encrypted and not _opened(reader):
            raise InputError("sheet.pdf_encrypted", place=Place(name))
        pages, count = _pages(reader, name)
    except (InputError, MemoryError, RecursionError):
        raise
    except DependencyError:
        raise InputError("sheet.pdf_encrypted", place=Place(name)) from None
    except Exception as error:
        # pypdf raises whatever the damaged part happens to cause.
        raise InputError("sheet.damaged", place=Place(name), format="PDF", reason=f"{type(error).__name__}: {error}"[:120]) from None
    if not any(page["rows"] for page in pages):
        raise InputError("sheet.pdf_no_text", place=Place(name), pages=count)
    findings: list[list[object]] = []
    silent = [page["page"] for page in pages if not page["rows"]]
    if silent:
        findings.append(["sheet.pdf_silent_pages", "info", {"pages": ", ".join(map(str, silent[:20]))}, None, ""])
    if count > MAX_PAGES:
        findings.append(["sheet.pdf_pages_left", "warning", {"read": MAX_PAGES, "pages": count}, None, ""])
    return {"sections": pages, "findings": findings}


def _opened(reader: Any) -> bool:
    """Whether the empty password opens it: then only printing or copying was restricted."""
    return bool(reader.decrypt(""))


def _pages(reader: Any, name: str) -> tuple[list[dict[str, Any]], int]:
    count = len(reader.pages)
    pages: list[dict[str, Any]] = []
    number = characters = 0
    for at in range(min(count, MAX_PAGES)):
        rows: list[list[object]] = []
        for line in _text(reader.pages[at]).splitlines():
            number += 1
            characters += len(line)
            if line.strip():
                rows.append([number, False, [line.rstrip()]])
        if characters > MAX_TEXT_BYTES or number > MAX_LINES:
            raise InputError("sheet.too_large", place=Place(name, key=f"page {at + 1}"), limit=mebibytes(MAX_TEXT_BYTES))
        pages.append({"name": "", "page": at + 1, "rows": rows})
    return pages, count


def _text(page: Any) -> str:
    """The text of a page with its columns; where the layout cannot be found, in the order it is drawn."""
    with contextlib.suppress(ValueError, KeyError, TypeError, ZeroDivisionError, AttributeError, IndexError, StopIteration):
        text = page.extract_text(extraction_mode="layout", layout_mode_space_vertically=False)
        if text.strip():
            return str(text)
    return str(page.extract_text())

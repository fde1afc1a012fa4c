"""Workbooks: the values that were last computed, as they are shown, of all worksheets."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from io import BytesIO
from typing import Any, Final

from tierspan.formats.sheets.cell_format import shown_value
from tierspan.formats.sheets.contained import Payload
from tierspan.formats.sheets.grid import has_figure
from tierspan.formats.sheets.injection import runs_something
from tierspan.formats.sheets.limits import MAX_CELLS, MAX_LINES, MAX_UNPACKED_BYTES, mebibytes
from tierspan.quantities.errors import InputError, Place

_MERGE = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]{0,200}?ref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"')
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s>]")
_MAX_PARTS: Final = 2_000
_MAX_COLUMNS: Final = 500
_MAX_MERGES: Final = 5_000
_MAX_MARKS: Final = {"styles": 60_000, "sharedStrings": 600_000, "worksheets": 2_000_000}
_OTHER_MARKS: Final = 40_000


def office_kind(raw: bytes) -> str:
    """What a ZIP file is: xlsx, or what else holds tables or text (docx, pptx, ods, odt, xlsb, zip)."""
    try:
        with zipfile.ZipFile(BytesIO(raw)) as archive:
            names = set(archive.namelist()[:_MAX_PARTS])
            if "mimetype" in names and archive.getinfo("mimetype").file_size < 200:
                kind = archive.read("mimetype").decode("ascii", "replace").rpartition(".")[2]
                return {"spreadsheet": "ods", "text": "odt", "presentation": "odp"}.get(kind, "zip")
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError, NotImplementedError, EOFError):
        return "xlsx"  # damaged: said when it is opened
    for part, kind in (("xl/workbook.bin", "xlsb"), ("word/", "docx"), ("ppt/", "pptx"), ("xl/", "xlsx")):
        if any(name.startswith(part) for name in names):
            return kind
    return "zip"


def unpack(raw: bytes, name: str) -> Payload:
    """The worksheets of a workbook.

    Raises:
        InputError: damaged, too large when unpacked, or with more cells than are read.
    """
    kind = office_kind(raw)
    if kind != "xlsx":
        raise InputError("sheet.archive" if kind == "zip" else "sheet.office", place=Place(name), format=kind.upper())
    try:
        with zipfile.ZipFile(BytesIO(raw)) as archive:
            _refuse_bombs(archive, name)
        return _sheets(raw, name)
    except (InputError, MemoryError, RecursionError):
        raise
    except Exception as error:
        # openpyxl raises whatever the damaged part happens to cause.
        raise InputError("sheet.damaged", place=Place(name), format="XLSX", reason=f"{type(error).__name__}: {error}"[:120]) from None


def _refuse_bombs(archive: zipfile.ZipFile, name: str) -> None:
    parts = [info for info in archive.infolist() if info.filename.endswith((".xml", ".rels"))]
    size = sum(info.file_size for info in parts)
    if size > MAX_UNPACKED_BYTES or len(parts) > _MAX_PARTS:
        raise InputError("sheet.bomb", place=Place(name), size=mebibytes(size), limit=mebibytes(MAX_UNPACKED_BYTES))
    for info in parts:
        body = archive.read(info)
        if any(mark.encode(coding) in body for mark in ("<!DOCTYPE", "<!ENTITY") for coding in ("ascii", "utf-16-le", "utf-16-be")):
            raise InputError("sheet.entities", place=Place(name, key=info.filename[:80]))
        most = next((limit for part, limit in _MAX_MARKS.items() if part in info.filename), _OTHER_MARKS)
        if body.count(b"<") > most:
            raise InputError("sheet.too_many_cells", place=Place(name, key=info.filename[:80]), limit=MAX_CELLS)


def _sheets(raw: bytes, name: str) -> Payload:
    from openpyxl import load_workbook

    values = load_workbook(BytesIO(raw), read_only=True, data_only=True, keep_links=False)
    formulas = None
    sections: list[dict[str, Any]] = []
    findings: list[list[object]] = []
    left = [MAX_CELLS]
    with zipfile.ZipFile(BytesIO(raw)) as archive:
        for sheet in values.worksheets:
            if not hasattr(sheet, "_worksheet_path"):
                continue
            body = archive.read(sheet._worksheet_path.lstrip("/"))
            rows = dict(_rows(sheet, name, left))
            if _FORMULA.search(body):
                formulas = formulas or load_workbook(BytesIO(raw), read_only=True, data_only=False, keep_links=False)
                findings += _told_formulas(rows, dict(_rows(formulas[sheet.title], name, [MAX_CELLS])), sheet.title)
            if sheet.sheet_state != "visible" and rows:
                findings.append(["sheet.hidden", "info", {"name": sheet.title}, None, sheet.title])
            texts = {
                number: [shown_value(cell.value, cell.number_format) if cell.value is not None else "" for cell in row]
                for number, row in rows.items()
            }
            spans = _fill_merged(texts, body)
            sections.append({"name": sheet.title, "page": 0, "rows": _compact(texts, spans)})
    return {"sections": sections, "findings": findings}


def _rows(sheet: Any, name: str, left: list[int]) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Rows with a value, by number; the size that the file states is not believed."""
    sheet.reset_dimensions()
    for number, row in enumerate(sheet.iter_rows(), 1):
        if not row or all(cell.value is None for cell in row):
            continue
        end = max(at for at, cell in enumerate(row, 1) if cell.value is not None)
        left[0] -= max(end, MAX_CELLS // MAX_LINES)
        if left[0] < 0 or end > _MAX_COLUMNS or number > 50 * MAX_LINES:
            raise InputError("sheet.too_many_cells", place=Place(name, number, key=sheet.title), limit=MAX_CELLS)
        yield number, row[:end]


def _told_formulas(rows: dict[int, tuple[Any, ...]], formulas: dict[int, tuple[Any, ...]], title: str) -> list[list[object]]:
    """Formulas whose value was never computed, and those that reach out of the workbook."""
    told: list[list[object]] = []
    for number, row in formulas.items():
        known = rows.get(number, ())
        for at, cell in enumerate(row):
            text = getattr(cell.value, "text", cell.value)
            if cell.data_type != "f" or not isinstance(text, str):
                continue
            place = f"{title}!{cell.column_letter}{number}"
            if runs_something(text):
                told.append(["sheet.suspicious_cell", "warning", {"cell": text[:80]}, number, place])
            if at >= len(known) or known[at].value is None:
                told.append(["sheet.formula_no_value", "warning", {"formula": text[:80]}, number, place])
    return told[:200]


def _fill_merged(texts: dict[int, list[str]], body: bytes) -> set[int]:
    """Names in merged cells are repeated in the cells they cover; returns the rows in which one spans columns beside others."""
    from openpyxl.utils import column_index_from_string

    spans: set[int] = set()
    merges = [match for match, _ in zip(_MERGE.finditer(body), range(_MAX_MERGES), strict=False)]
    for match in merges:
        left, right = column_index_from_string(match[1].decode()) - 1, min(column_index_from_string(match[3].decode()), _MAX_COLUMNS)
        top, bottom = int(match[2]), int(match[4])
        row = texts.get(top, [])
        value = row[left] if left < len(row) else ""
        if not value or has_figure(value):
            continue
        beside = any(cell for at, cell in enumerate(row) if cell and not left <= at < right)
        if right - left > 1 and beside:
            spans.add(top)
        for number in [n for n in texts if top <= n <= bottom]:
            line = texts[number]
            line += [""] * (right - len(line) if beside else 0)
            for at in range(left, right if beside else left + 1):
                if at < len(line):
                    line[at] = line[at] or value
    return spans


def _compact(texts: dict[int, list[str]], spans: set[int]) -> list[list[object]]:
    """Rows without the columns that are empty throughout; an empty row stands for a gap."""
    width = max(map(len, texts.values()), default=0)
    used = [at for at in range(width) if any(at < len(row) and row[at] for row in texts.values())]
    rows: list[list[object]] = []
    last = 0
    for number, row in texts.items():
        if last and number > last + 1:
            rows.append([last + 1, False, []])
        rows.append([number, number in spans, [row[at] if at < len(row) else "" for at in used]])
        last = number
    return rows

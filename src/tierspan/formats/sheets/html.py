"""A saved web page: its text in lines, its tables in cells, without tags, scripts and styles."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any, Final

from tierspan.formats.sheets.contained import Payload
from tierspan.formats.sheets.grid import has_figure
from tierspan.formats.sheets.limits import MAX_CELLS
from tierspan.quantities.errors import InputError, Place

_SILENT: Final = frozenset({"script", "style", "template", "noscript", "svg", "head", "select"})
_BREAKING: Final = frozenset(
    {
        "p",
        "div",
        "br",
        "li",
        "ul",
        "ol",
        "section",
        "article",
        "header",
        "footer",
        "table",
        "tr",
        "dl",
        "dt",
        "dd",
        "pre",
        "blockquote",
        "hr",
        "caption",
    }
)
_START = re.compile(r"\s*(?:<!doctype html|<html|<(?:table|body|head|div|meta|!--)[\s>])", re.IGNORECASE)


def is_html(text: str) -> bool:
    """Whether a text begins as a web page or a copied table does."""
    return bool(_START.match(text))


def unpack(raw: bytes, name: str) -> Payload:
    """Sections of a page (UTF-8): ``table`` is true for those whose rows are cells."""
    page = _Page(name)
    page.feed(raw.decode("utf-8", "replace"))
    page.close()
    page.end_block()
    return {"sections": page.sections, "findings": []}


class _Page(HTMLParser):
    def __init__(self, name: str) -> None:
        super().__init__(convert_charrefs=True)
        self.sections: list[dict[str, Any]] = []
        self._name = name
        self._silent: list[str] = []
        self._text: list[str] = []
        self._heading = ""
        self._line = 1
        self._row: list[str] | None = None
        self._row_spans = False
        self._sources = 0
        self._span = (1, 1)
        self._below: dict[int, tuple[int, str]] = {}
        self._in_cell = False
        self._cells = MAX_CELLS

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT:
            self._silent.append(tag)
        if self._silent:
            return
        if tag in ("td", "th"):
            self._end_cell()
            values = {key: value or "" for key, value in attrs}
            self._span = (_count(values.get("colspan", "")), _count(values.get("rowspan", "")))
            self._text, self._in_cell = [], True
            self._row = [] if self._row is None else self._row
        elif tag == "tr":
            self._end_row()
            self.end_block()
            self._row, self._row_spans, self._sources, self._line = [], False, 0, self.getpos()[0]
        elif tag == "table":
            self.end_block()
            self._below = {}
            self.sections.append({"name": self._heading, "page": 0, "table": True, "rows": []})
        elif tag in _BREAKING:
            self._break()
        elif re.fullmatch(r"h[1-6]", tag):
            self.end_block()

    def handle_endtag(self, tag: str) -> None:
        if tag in self._silent:
            while self._silent and self._silent.pop() != tag:
                pass
            return
        if self._silent:
            return
        if tag in ("td", "th"):
            self._end_cell()
        elif tag in ("tr", "table"):
            self._end_row()
            if tag == "table":
                self.sections.append({"name": self._heading, "page": 0, "table": False, "rows": []})
        elif re.fullmatch(r"h[1-6]", tag) and not self._in_cell:
            title = self.end_block()
            self._heading = title or self._heading
            self.sections.append({"name": self._heading, "page": 0, "table": False, "rows": []})
        elif tag in _BREAKING:
            self._break()

    def handle_data(self, data: str) -> None:
        if self._silent or (self._row is not None and not self._in_cell):
            return
        if not self._text:
            self._line = self.getpos()[0] + len(data[: len(data) - len(data.lstrip())].splitlines()) * bool(data[:1] == "\n")
        self._text.append(data)

    def _break(self) -> None:
        if self._in_cell:
            self._text.append(" ")
        else:
            self.end_block()

    def end_block(self) -> str:
        """Close a run of text; returns it."""
        if self._in_cell:
            return ""
        text = " ".join("".join(self._text).split())
        self._text = []
        if text:
            if not self.sections or self.sections[-1]["table"]:
                self.sections.append({"name": self._heading, "page": 0, "table": False, "rows": []})
            self._count_cell()
            self.sections[-1]["rows"].append([self._line, False, [text]])
        return text

    def _end_cell(self) -> None:
        if not self._in_cell or self._row is None:
            return
        text = " ".join("".join(self._text).split())
        self._text, self._in_cell = [], False
        self._take_from_above()
        columns, rows = self._span
        self._row_spans |= columns > 1
        self._sources += 1
        for repeat in range(columns):
            self._count_cell()
            # A figure in merged cells is one figure, a name names each of them.
            shown = text if not repeat or not has_figure(text) else ""
            if rows > 1:
                self._below[len(self._row)] = (rows - 1, "" if has_figure(text) else text)
            self._row.append(shown)

    def _take_from_above(self) -> None:
        while self._row is not None and (above := self._below.get(len(self._row))):
            left, text = above
            if left > 1:
                self._below[len(self._row)] = (left - 1, text)
            else:
                del self._below[len(self._row)]
            self._row.append(text)

    def _end_row(self) -> None:
        self._end_cell()
        self._take_from_above()
        if self._row and any(self._row):
            if not self.sections or not self.sections[-1]["table"]:
                self.sections.append({"name": self._heading, "page": 0, "table": True, "rows": []})
            row = self._row if self._sources > 1 else self._row[:1]
            self.sections[-1]["rows"].append([self._line, self._row_spans, row])
        self._row = None

    def _count_cell(self) -> None:
        self._cells -= 1
        if self._cells < 0:
            raise InputError("sheet.too_many_cells", place=Place(self._name, self.getpos()[0]), limit=MAX_CELLS)


def _count(text: str) -> int:
    return min(int(text), 50) if text.isascii() and text.isdigit() and len(text) < 5 and text != "0" else 1

"""The one entry to sheets: a file, standard input or a text becomes a document; what it is tells its content."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import IO, Any, Final

from tierspan.formats.sheets.clean import Cleaner, text_lines
from tierspan.formats.sheets.containers import container_kind, container_lines
from tierspan.formats.sheets.decode import decode
from tierspan.formats.sheets.delimited import delimited_lines, separator_of
from tierspan.formats.sheets.html import is_html
from tierspan.formats.sheets.injection import suspicious_cells
from tierspan.formats.sheets.json_sheet import is_json, parse_json_sheet
from tierspan.formats.sheets.limits import MAX_CELLS, MAX_FIGURES, MAX_LINE_CHARACTERS, MAX_LINES, MAX_TEXT_BYTES, mebibytes
from tierspan.formats.sheets.markdown import is_markdown, markdown_lines
from tierspan.formats.sheets.plain_text import plain_lines
from tierspan.formats.sheets.source import STDIN, known_binary, read_bytes, read_stdin, shown_name
from tierspan.formats.sheets.tree import Node, is_mlperf, tree_lines
from tierspan.formats.sheets.yaml_sheet import is_yaml, parse_yaml_sheet
from tierspan.quantities.errors import InputError, Place
from tierspan.quantities.findings import Finding
from tierspan.specs.sheet import SheetDocument, SheetLine

_NUMBER: Final = re.compile(r"\d+(?:[.,，．]\d+)*")
_TABLE_SUFFIXES: Final = frozenset({".csv", ".tsv", ".tab"})
_MARKDOWN_SUFFIXES: Final = frozenset({".md", ".markdown", ".mdown"})


def read_sheets(paths: Sequence[str | Path], stdin: IO[Any] | None = None) -> tuple[SheetDocument, ...]:
    """Read sheets in the order they are named.

    Args:
        paths: files, or ``-`` for standard input.
        stdin: the stream behind ``-``, that of the process where left out.

    Raises:
        InputError: none named, ``-`` twice, or one that cannot be read.
    """
    if not paths:
        raise InputError("sheet.none_named")
    if [str(path) for path in paths].count(STDIN) > 1:
        raise InputError("sheet.stdin_twice", place=Place(STDIN))
    return tuple(sheet_of_bytes(read_stdin(stdin), STDIN) if str(path) == STDIN else read_sheet(path) for path in paths)


def read_sheet(path: str | Path) -> SheetDocument:
    """Read one file.

    Raises:
        InputError: the file cannot be read, holds nothing, is too large or none of the formats.
    """
    return sheet_of_bytes(read_bytes(path), shown_name(path))


def sheet_of_bytes(raw: bytes, name: str = STDIN) -> SheetDocument:
    """The document in the bytes of a file; ``name`` names it in errors, and its suffix settles what the content leaves open."""
    if not raw.strip(b" \t\r\n\0"):
        raise InputError("file.empty", path=name)
    if known := known_binary(raw):
        raise InputError("sheet.binary", place=Place(name), what=known)
    if kind := container_kind(raw, name):
        return _finished(name, kind, *container_lines(kind, raw, name))
    decoded = decode(raw, name)
    document = sheet_of_text(decoded.text, name)
    guess = (Finding("sheet.encoding_guessed", "info", {"encoding": decoded.encoding}, Place(name)),) if decoded.guessed else ()
    return replace(document, encoding=decoded.encoding, findings=(*guess, *document.findings))


def sheet_of_text(text: str, name: str = STDIN) -> SheetDocument:
    """The document in a text that was pasted or decoded.

    Raises:
        InputError: nothing in it, too large, a line that is too long, or broken JSON or YAML.
    """
    if len(text) > MAX_TEXT_BYTES:
        raise InputError("sheet.too_large", place=Place(name), limit=mebibytes(MAX_TEXT_BYTES))
    cleaner = Cleaner()
    lines = text_lines(cleaner.clean(text.removeprefix("\ufeff")))
    if not any(line.strip() for line in lines):
        raise InputError("file.empty", path=name)
    # Laid out JSON has lines that say nothing; beyond that, more lines mean more figures than can be looked at.
    if len(lines) > 3 * MAX_LINES:
        raise InputError("sheet.too_many_lines", place=Place(name), count=len(lines), limit=MAX_LINES)
    return _finished(name, *_read(lines, name), cleaner)


def _finished(name: str, kind: str, lines: list[SheetLine], findings: list[Finding], cleaner: Cleaner | None = None) -> SheetDocument:
    """A document of lines that are safe to print. JSON, YAML, workbooks and HTML can write control characters as escapes, which show only now."""
    cleaner = cleaner or Cleaner()
    found = _bounded([_cleaned(line, cleaner) for line in lines], name)
    told = [replace(finding, place=Place(name)) for finding in cleaner.findings()]
    document = SheetDocument(name, kind, found, findings=(*told, *findings))
    return replace(document, findings=(*document.findings, *suspicious_cells(document)))


def _read(lines: list[str], name: str) -> tuple[str, list[SheetLine], list[Finding]]:
    """Kind, lines and findings of a text."""
    suffix = PurePath(name).suffix.lower()
    text = "\n".join(lines)
    if suffix in (".html", ".htm", ".xhtml") or is_html(text):
        return "html", *container_lines("html", text.encode("utf-8", "replace"), name)
    if suffix in (".json", ".jsonl") or is_json(text):
        return _tree("json", parse_json_sheet(text, name))
    if suffix in (".yaml", ".yml"):
        return _tree("yaml", parse_yaml_sheet(text, name))
    for number, line in enumerate(lines, 1):
        _refuse_length(line, number, name)
    if suffix in _MARKDOWN_SUFFIXES or (suffix not in _TABLE_SUFFIXES and is_markdown(lines)):
        return "markdown", markdown_lines(lines), []
    if separator := separator_of(text, sure=suffix in _TABLE_SUFFIXES):
        return "csv", *delimited_lines(text, separator, name)
    if is_yaml(lines):
        try:
            return _tree("yaml", parse_yaml_sheet(text, name))
        except InputError:
            pass  # a text that only looked like it
    return "text", plain_lines(enumerate(lines, 1)), []


def _tree(kind: str, node: Node) -> tuple[str, list[SheetLine], list[Finding]]:
    return ("mlperf-system" if is_mlperf(node) else kind), tree_lines(node), []


def _cleaned(line: SheetLine, cleaner: Cleaner) -> SheetLine:
    if line.text.isascii() and line.text.isprintable() and line.section.isascii() and line.section.isprintable():
        return line
    clean = cleaner.clean
    return replace(line, text=clean(line.text), cells=tuple(map(clean, line.cells)), heads=tuple(map(clean, line.heads)), section=clean(line.section))


def _bounded(lines: list[SheetLine], name: str) -> tuple[SheetLine, ...]:
    """The lines, if they are few and short enough for every figure in them to be looked at."""
    if not lines:
        raise InputError("file.empty", path=name)
    if len(lines) > MAX_LINES:
        raise InputError("sheet.too_many_lines", place=Place(name), count=len(lines), limit=MAX_LINES)
    for line in lines:
        _refuse_length(line.text, line.number, name)
    figures = sum(len(_NUMBER.findall(line.text)) for line in lines)
    if figures > MAX_FIGURES:
        raise InputError("sheet.too_many_figures", place=Place(name), count=figures, limit=MAX_FIGURES)
    if sum(len(line.cells) for line in lines) > MAX_CELLS:
        raise InputError("sheet.too_many_cells", place=Place(name), limit=MAX_CELLS)
    return tuple(lines)


def _refuse_length(text: str, number: int, name: str) -> None:
    if len(text) > MAX_LINE_CHARACTERS:
        raise InputError("sheet.line_too_long", place=Place(name, number), count=len(text), limit=MAX_LINE_CHARACTERS)

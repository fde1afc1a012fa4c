"""Markdown: headings become sections, tables keep their heads."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tierspan.formats.sheets.grid import row_line
from tierspan.specs.sheet import SheetLine

_SEPARATOR = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")
_HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(?=\S)")
_FENCE = re.compile(r"^\s{0,3}(```|~~~)")
_UNDERLINE = re.compile(r"^ {0,3}(=+|-{3,})\s*$")
_CELL_END = re.compile(r"(?<!\\)\|")
_LINK = re.compile(r"!?\[([^\]\n]{1,100})\]\([^()\n]{0,300}\)")
_STRONG = re.compile(r"\*\*([^*\s](?:[^*\n]{0,148}[^*\s])?)\*\*|(?<!\w)__([^_\s](?:[^_\n]{0,148}[^_\s])?)__(?!\w)")
_MARKED = re.compile(r"[*_`\[<\\]")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)


def is_separator(line: str) -> bool:
    """Whether a line is the rule between the heads and the rows of a table."""
    return "-" in line and "|" in line and bool(_SEPARATOR.fullmatch(line.strip()))


def is_markdown(lines: Sequence[str]) -> bool:
    """Whether a text has a heading or a table of Markdown."""
    return any(_HEADING.match(line) or (at and "|" in lines[at - 1] and is_separator(line)) for at, line in enumerate(lines))


def markdown_lines(lines: Sequence[str]) -> list[SheetLine]:
    """Lines of a Markdown text; marks of emphasis, links and code are taken off, asterisks of footnotes stay."""
    found: list[SheetLine] = []
    levels: dict[int, str] = {}
    heads: tuple[str, ...] | None = None
    fenced = ""
    section = ""
    for at, raw in enumerate(lines):
        after = lines[at + 1] if at + 1 < len(lines) else ""
        if fence := _FENCE.match(raw):
            fenced, heads = ("" if fenced == fence[1] else fenced or fence[1]), None
            continue
        if fenced:
            found += [SheetLine(at + 1, raw.rstrip(), section=section)] if raw.strip() else []
            continue
        if heads is not None and (at and is_separator(raw) and found and found[-1].number == at):
            continue
        if heads is None and "|" in raw and is_separator(after) and len(table_cells(raw)) == len(table_cells(after)):
            heads = table_cells(raw)
            found.append(row_line(at + 1, heads, (), section))
            continue
        if heads is not None and "|" in raw:
            cells = table_cells(raw)
            found.append(row_line(at + 1, cells + ("",) * (len(heads) - len(cells)), heads, section))
            continue
        heads = None
        heading = _heading(raw, after)
        if heading:
            level, title = heading
            levels = {key: text for key, text in levels.items() if key < level}
            found.append(SheetLine(at + 1, title, section=" / ".join(levels.values())))
            levels[level] = title
            section = " / ".join(levels.values())
        elif raw.strip() and not _UNDERLINE.match(raw):
            found.append(SheetLine(at + 1, plain(raw.rstrip()), section=section))
    return found


def table_cells(line: str) -> tuple[str, ...]:
    """The cells of a row of a table."""
    body = line.strip()
    body = body.removeprefix("|")
    if body.endswith("|") and not body.endswith("\\|"):
        body = body[:-1]
    return tuple(plain(cell.replace("\\|", "|").strip()) for cell in _CELL_END.split(body))


def plain(text: str) -> str:
    """Text without marks of emphasis, code and links."""
    if not _MARKED.search(text):
        return text
    text = _LINK.sub(r"\1", _BREAK.sub(" ", text))
    text = _STRONG.sub(lambda match: match[1] or match[2], text)
    text = re.sub(r"`([^`]{1,150})`", r"\1", text)
    return re.sub(r"\\([\\`*_{}\[\]()#+.!<>~-])", r"\1", text)


def _heading(raw: str, after: str) -> tuple[int, str] | None:
    if match := _HEADING.match(raw):
        return len(match[1]), plain(raw[match.end() :].rstrip().rstrip("#").rstrip())
    if raw.strip() and "|" not in raw and (match := _UNDERLINE.match(after)) and not raw.lstrip().startswith(("-", "*", "+", ">")):
        return (1 if match[1][0] == "=" else 2), plain(raw.strip())
    return None

"""Pieces of Markdown that the reference pages are put together from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~$])")


def plain(text: str) -> str:
    """Text that means nothing to Markdown."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def code(text: str) -> str:
    """Text as code inside a table, where a bare bar would end the cell."""
    return "`" + text.replace("|", "\\|") + "`" if text else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells are Markdown on one line. Nothing where there are no rows."""
    body = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([f"| {' | '.join(head)} |", "|" + " --- |" * len(head), *body]) if body else ""


def block(text: str, language: str = "text") -> str:
    """Text as it stands."""
    return f"```{language}\n{text.rstrip()}\n```"


def page(*parts: str) -> str:
    """Parts with empty lines between them; empty parts are left out."""
    return "\n\n".join(part.strip("\n") for part in parts if part)


def prose(docstring: str) -> str:
    """A docstring in the Google style as Markdown: code in single quotes, sections as lists."""
    out: list[str] = []
    section = False
    for line in re.sub(r":\w+:`~?([\w.]+)`", r"`\1`", docstring.replace("``", "`")).splitlines():
        head = re.fullmatch(r"(Args|Returns|Raises|Yields|Keys):", line)
        if head:
            out += ["", f"**{head[1]}**", ""]
            section = True
        elif section and (entry := re.match(r"    ([\w.]+): (.*)", line)):
            out.append(f"- `{entry[1]}`: {entry[2]}")
        elif section and line.startswith("    "):
            out.append(("  " if line.startswith("        ") else "") + line.strip())
        else:
            out.append(line)
    return "\n".join(out).strip()

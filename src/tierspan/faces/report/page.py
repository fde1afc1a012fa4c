"""From the parts of a page to one HTML file: style, script and the drawing library stand inside, nothing is loaded from elsewhere.

The library is 4.8 MB of text; packed (gzip, base64) it takes 2 MB of the page, and the browser unpacks it itself.
"""

from __future__ import annotations

import base64
import gzip
from functools import cache
from pathlib import Path
from typing import Any

from tierspan.faces.report.glossary import Marker
from tierspan.faces.report.parts import Page
from tierspan.quantities.errors import InputError, Place
from tierspan.quantities.messages import fill

_TEMPLATES = Path(__file__).parent / "templates"


def render(page: Page) -> str:
    """The page as HTML text."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup, escape

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    drawings = [d for section in page.sections for d in section.drawings]
    figures = {d.id: _json(d.figure) for d in drawings}
    marker = Marker(page.lang)
    if page.explains:
        for shown in (page.title, *(section.title for section in page.sections), *figures.values(), *_shown_as_is(page)):
            marker.note(shown)
    template = environment.get_template("page.html.j2")
    text: str = template.render(
        page=page,
        said=lambda message_id, **values: fill(message_id, page.lang, values),
        style=Markup((_TEMPLATES / "page.css").read_text(encoding="utf-8")),
        script=Markup((_TEMPLATES / "page.js").read_text(encoding="utf-8")),
        figures={name: Markup(text) for name, text in figures.items()},
        marker=marker,
        mark=marker.mark if page.explains else escape,
        markup=Markup,
        library=Markup(_library() if drawings else ""),
    )
    return text


def write_page(path: str | Path, page: Page) -> int:
    """Write the page (UTF-8) and return its size in bytes.

    Raises:
        InputError: the file cannot be written.
    """
    data = render(page).encode("utf-8")
    try:
        Path(path).write_bytes(data)
    except OSError as problem:
        raise InputError("validation.cannot_write", place=Place(str(path)), path=str(path), reason=problem.strerror or str(problem)) from None
    return len(data)


def _shown_as_is(page: Page) -> list[str]:
    """Texts of a page in which terms cannot be marked: pictures, and heads of tables that a narrow screen repeats."""
    return [p.wide for section in page.sections for p in section.pictures] + [c.text for s in page.sections for t in s.tables for c in t.columns]


def _json(figure: Any) -> str:
    """A figure as JSON that may stand inside a script element."""
    return str(figure.to_json()).replace("<", "\\u003c")


@cache
def _library() -> str:
    from plotly.offline import get_plotlyjs

    # mtime 0: the same page from the same numbers, byte by byte.
    return base64.b64encode(gzip.compress(get_plotlyjs().encode("utf-8"), 9, mtime=0)).decode("ascii")

"""Pieces of HTML for a cell of a notebook: no script, nothing loaded from elsewhere, ink and ground of the notebook's own theme.

Every function takes plain text and escapes it; what they return goes into the page as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tierspan.faces.cli.render.table import Sheet

BAR_COLOURS: Final = ("#3b82c4", "#2fa37c", "#e08a1e", "#8d99ae", "#8a6fd1", "#c65b7c")
"""Told apart on white and on black."""
LIMIT_COLOUR: Final = "#d0453a"
_SEVERITY_COLOURS: Final = {"error": "#d0453a", "warning": "#c98a12", "question": "#3b82c4", "info": "#8d99ae"}
_STYLE: Final = """
.tierspan{font:13px/1.5 system-ui,sans-serif;max-width:66em;color:inherit}
.tierspan p{margin:.35em 0}
.tierspan .head{font-weight:600}
.tierspan .quiet{opacity:.75}
.tierspan table{border-collapse:collapse;margin:.5em 0;font-size:12.5px;font-variant-numeric:tabular-nums;display:table}
.tierspan tr,.tierspan thead,.tierspan tbody{background:none!important;border:0}
.tierspan th,.tierspan td{padding:.15em .8em .15em 0!important;text-align:left!important;vertical-align:top;border:0;
border-bottom:1px solid rgba(128,128,128,.25)!important;white-space:normal;max-width:26em;color:inherit;background:none!important}
.tierspan th.n,.tierspan td.n{text-align:right!important;white-space:nowrap}
.tierspan th{font-weight:600;border-bottom:1px solid rgba(128,128,128,.6)!important}
.tierspan th span{font-weight:400;opacity:.7;display:block}
.tierspan details{margin:.25em 0}
.tierspan summary{cursor:pointer}
.tierspan ul{margin:.2em 0;padding-left:1.4em}
.tierspan pre{overflow-x:auto;font-size:12px;line-height:1.35;white-space:pre;color:inherit;background:none;border:0;padding:0}
.tierspan .key{display:inline-block;margin-right:1.2em;white-space:nowrap}
.tierspan .note{border-left:3px solid;padding-left:.7em;margin:.4em 0;white-space:pre-line}
"""


def frame(*parts: str, lang: str) -> str:
    """A whole answer."""
    return f'<div class="tierspan" lang="{escape(lang)}"><style>{_STYLE}</style>{"".join(parts)}</div>'


def paragraph(text: str, *, kind: str = "") -> str:
    """A sentence; ``kind`` is ``head`` or ``quiet``. Nothing for no text."""
    if not text:
        return ""
    style = f' class="{kind}"' if kind else ""
    return f"<p{style}>{escape(text)}</p>"


def listed(texts: Iterable[str]) -> str:
    """A list of sentences; nothing for none."""
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<ul>{items}</ul>" if items else ""


def terminal(text: str) -> str:
    """Text with the columns of a terminal."""
    return f"<pre>{escape(text)}</pre>"


def note(text: str, severity: str) -> str:
    """A finding, its lines below one another, the severity beside it as a colour."""
    return f'<div class="note" style="border-color:{_SEVERITY_COLOURS[severity]}">{escape(text)}</div>'


def folded(summary: str, *parts: str) -> str:
    """Parts behind a line that opens them; nothing where all are empty."""
    inside = "".join(parts)
    return f"<details><summary>{escape(summary)}</summary>{inside}</details>" if inside else ""


def table(sheet: Sheet | None) -> str:
    """The cells that the terminal shows; nothing without rows."""
    if sheet is None or not sheet.rows:
        return ""
    numeric = [' class="n"' if column.justify == "right" else "" for column in sheet.columns]
    heads = "".join(
        f"<th{kind}>{escape(column.head)}{f'<span>{escape(column.unit)}</span>' if column.unit else ''}</th>"
        for kind, column in zip(numeric, sheet.columns, strict=True)
    )
    rows = "".join(f"<tr>{''.join(f'<td{kind}>{escape(cell)}</td>' for kind, cell in zip(numeric, row, strict=True))}</tr>" for row in sheet.rows)
    title = paragraph(sheet.title, kind="head")
    return f"{title}<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def stacked_bar(parts: Sequence[tuple[str, float]], *, most: float = 1.0, limit: tuple[str, float] | None = None, title: str = "") -> str:
    """Shares of a whole as one bar; ``most`` is the share that takes the full width, ``limit`` a mark with its label.

    Args:
        parts: label (with its figure) and share of each part; what is not above 0 is left out of the drawing.
        most: the share at the right edge.
        limit: label and share of a vertical mark.
        title: what stands before the bar for those who cannot see it.
    """
    x, drawn = 0.0, []
    for colour, (label, share) in zip(BAR_COLOURS, parts, strict=False):
        width = 1000 * share / most
        if width > 0:
            drawn.append(f'<rect x="{x:.1f}" y="0" width="{width:.1f}" height="24" fill="{colour}"><title>{escape(label)}</title></rect>')
            x += width
    if limit is not None:
        at = min(max(1000 * limit[1] / most, 2.0), 998.0)
        drawn.append(f'<rect x="{at - 2:.1f}" y="0" width="4" height="24" fill="{LIMIT_COLOUR}"><title>{escape(limit[0])}</title></rect>')
    told = escape(", ".join([title] * bool(title) + [label for label, _ in parts] + ([limit[0]] if limit else [])))
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 24" width="100%" height="24" preserveAspectRatio="none" role="img"'
    return f'{head} aria-label="{told}" style="max-width:60em;display:block">{"".join(drawn)}</svg>'


def legend(labels: Sequence[str], *, limit: str = "") -> str:
    """Colours and labels of a stacked bar, in the order of its parts."""
    keys = [_key(colour, label) for colour, label in zip(BAR_COLOURS, labels, strict=False)]
    return f"<p>{''.join([*keys, _key(LIMIT_COLOUR, limit)] if limit else keys)}</p>"


def _key(colour: str, label: str) -> str:
    square = f'<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10" aria-hidden="true"><rect width="10" height="10" fill="{colour}"/></svg>'
    return f'<span class="key">{square} {escape(label)}</span>'

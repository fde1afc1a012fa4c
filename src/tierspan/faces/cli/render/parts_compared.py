"""Parts side by side at the terminal: a table for each of the four dimensions, the planes, what the printed figures are, and what is not compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tierspan.faces.cli.render import part_sheets
from tierspan.faces.cli.render.table import Column, number, table
from tierspan.quantities.messages import fill, has
from tierspan.quantities.printing import format_bytes, format_duration, format_number, format_quantity

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tierspan.answers.catalog_compare.comparison import Headline, PartsComparison
    from tierspan.answers.catalog_compare.rows import Cell, ComparedRow
    from tierspan.quantities.findings import Finding

_DIMENSIONS: Final = ("nature", "bandwidth", "latency", "capacity", "power")


def comparison(answer: PartsComparison, lang: str) -> list[RenderableType]:
    """All of it."""
    told = {row.dimension for row in answer.rows}
    # What a fabric is comes first; of a system it is the last thing to know.
    order = _DIMENSIONS if not answer.parts[0].system else (*_DIMENSIONS[1:], _DIMENSIONS[0])
    parts: list[RenderableType] = [_dimension(answer, name, lang) for name in order if name in told]
    if any(part.planes for part in answer.parts):
        parts.append(_planes(answer, lang))
    if any(part.headlines for part in answer.parts):
        parts.append(_headlines(answer, lang))
    parts.append(_findings(answer.findings, lang))
    return parts


def _dimension(answer: PartsComparison, name: str, lang: str) -> RenderableType:
    rows = [one for one in answer.rows if one.dimension == name]
    words = name == "nature"
    columns = [Column(_t("figure", lang)), *(Column(part.id, justify="left" if words else "right") for part in answer.parts)]
    told = [(row_name(one.id, lang), *(_cell(item, one.unit, lang) for item in one.cells)) for one in rows]
    if not words:
        columns.append(Column(_t("remark", lang)))
        told = [(*cells, _remark(one, lang)) for cells, one in zip(told, rows, strict=True)]
    kind = "" if answer.parts[0].system else ".part"
    return table(columns, told, title=_t(f"dimension.{name}{kind}", lang))


def row_name(row_id: str, lang: str) -> str:
    """What a row tells, in words; the precision of a peak stands behind it."""
    dimension, _, rest = row_id.partition(".")
    name, _, precision = rest.partition(".")
    if not has(f"cli.compared.row.{dimension}.{name}"):
        return part_sheets.label(rest, lang)
    text = _t(f"row.{dimension}.{name}", lang)
    return f"{text} {precision.upper()}" if precision else text


def _cell(item: Cell, unit: str, lang: str) -> str:
    if item.text:
        return part_sheets.value(item.text, lang)
    if item.value is None:
        return fill("cli.catalog.unknown", lang, {})
    shown = _value(item.value, unit, lang)
    return shown if item.ratio is None else f"{shown} ({format_number(item.ratio)}x)"


def _value(value: float, unit: str, lang: str) -> str:
    if unit == "B":
        return format_bytes(value)
    if unit == "s":
        return format_duration(value, lang=lang)
    if unit == "s/m":
        return f"{format_number(value * 1e9)} ns/m"
    if unit == "dB/m":
        return f"{format_number(value * 1e3)} dB/km"
    return format_quantity(value, unit, lang=lang, digits=4)


def _remark(one: ComparedRow, lang: str) -> str:
    if one.refused:
        return _t(f"short.{one.refused.removeprefix('catalog_compare.')}", lang)
    return _t("ratio", lang) if one.id == "bandwidth.scale_up_to_scale_out" else ""


def _planes(answer: PartsComparison, lang: str) -> RenderableType:
    heads = ("part", "plane", "kind", "domain", "rate", "carries")
    columns = [Column(_t(f"plane.{name}", lang)) if index != 4 else number(_t("plane.rate", lang), "GB/s") for index, name in enumerate(heads)]
    rows = []
    for part in answer.parts:
        name = part.id
        for plane in part.planes:
            size = fill("cli.catalog.all", lang, {}) if plane.domain_size is None else f"{plane.domain_size:,}"
            carries = _t("yes" if plane.carries_training else "no", lang)
            rows.append((name, plane.name, plane.kind, size, format_number(plane.bandwidth_Bps / 1e9, 4), carries))
            name = ""
    return table(columns, rows, title=_t("planes", lang))


def _headlines(answer: PartsComparison, lang: str) -> RenderableType:
    columns = [Column(_t("plane.part", lang)), number(_t("printed", lang)), Column(_t("meaning", lang)), number(_t("of_dense", lang))]
    rows = []
    for part in answer.parts:
        name = part.id
        for one in part.headlines:
            rows.append((name, one.printed if one.used else f"({one.printed})", _meaning(one, lang), _times(one)))
            name = ""
    return table(columns, rows, title=_t("headlines", lang))


def _meaning(one: Headline, lang: str) -> str:
    said = fill(f"cli.compared.what.{one.what}", lang, {"precision": one.precision.upper()})
    source = f"{one.meaning}; {one.note}" if one.note else one.meaning
    return f"{said} ({source})" if lang == "en" else f"{said}（{source}）"


def _times(one: Headline) -> str:
    return "" if one.of_dense is None else f"{format_number(one.of_dense)}x"


def _findings(findings: Sequence[Finding], lang: str) -> RenderableType:
    from rich.text import Text

    return Text("\n".join(finding_text(one, lang) for one in findings))


def finding_text(one: Finding, lang: str) -> str:
    """A finding as a sentence; rows and bases are named in words."""
    values = dict(one.values)
    comma = _t("comma", lang)
    rows, bases = values.get("rows"), values.get("bases")
    if isinstance(rows, tuple):
        values["rows"] = comma.join(row_name(row, lang) for row in rows)
    if isinstance(bases, Mapping):
        values["bases"] = _t("semicolon", lang).join(f"{id_} {_basis(str(word), lang)}" for id_, word in bases.items())
    return fill(one.id, lang, values)


def _basis(words: str, lang: str) -> str:
    """Words of a basis; those that the product gives itself are translated, those of a source stand in quotation marks."""
    known = [f"cli.compared.basis.{part.casefold().replace(' ', '_')}" for part in words.split(", ")]
    if all(has(name) for name in known):
        return _t("comma", lang).join(fill(name, lang, {}) for name in known)
    return f"'{words}'"


def _t(name: str, lang: str) -> str:
    return fill(f"cli.compared.{name}", lang, {})

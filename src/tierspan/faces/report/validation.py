"""The validation page in one language: sections in the order in which they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tierspan.faces.cli.render.parts import UNKNOWN, percent, said, whole
from tierspan.faces.cli.render.validation import class_text, signed
from tierspan.faces.figures import validation as figures
from tierspan.faces.report.parts import Column, Drawing, Page, Section, Table
from tierspan.faces.report.validation_more import ablation_section, glossary_section, licences_section, not_predicted_section, peers_section
from tierspan.quantities.messages import has

if TYPE_CHECKING:
    from tierspan.answers.validation.page import FilePage, ValidationPage

_AIM: Final = 80.0
_TRAINING_TABLES: Final = ("source", "regime", "accelerator", "span", "density")
_COLLECTIVE_TABLES: Final = ("operation", "size", "three_sources", "kind", "fewer_sources", "nodes", "accelerator", "source")


def validation_document(found: ValidationPage, lang: str, commands: Sequence[str]) -> Page:
    """The page. ``commands``: what makes this page and the numbers under it anew."""
    sections = [headline_section(found, lang)]
    for file in found.files:
        if file.kind == "training":
            sections += [*training_sections(file, lang), ablation_section(found, lang), peers_section(file, found, lang)]
        elif file.kind == "memory":
            sections.append(memory_section(file, lang))
        elif file.kind == "collectives":
            sections.append(collectives_section(file, lang))
    sections += [
        not_predicted_section(found, lang),
        licences_section(found, lang),
        Section("reproduce", said("report.reproduce", lang), (said("report.reproduce.text", lang),), commands=tuple(commands)),
        glossary_section(lang),
    ]
    way = said(f"report.lead.{found.cross_validated or 'seen'}", lang)
    lead = (said("report.lead", lang), way)
    foot = said("report.foot", lang, version=found.profile_version)
    return Page(lang, said("report.title", lang), lead, tuple(_numbered(sections)), foot)


def _numbered(sections: Sequence[Section]) -> list[Section]:
    """Sections with ids that stand once, also where two files are of one kind."""
    seen: dict[str, int] = {}
    out = []
    for section in sections:
        seen[section.id] = seen.get(section.id, 0) + 1
        number = seen[section.id]
        if number == 1:
            out.append(section)
            continue
        drawings = tuple(Drawing(f"{d.id}-{number}", d.title, d.figure, d.caption, d.height) for d in section.drawings)
        out.append(Section(f"{section.id}-{number}", section.title, section.texts, drawings, section.tables, section.commands, section.terms))
    return out


def headline_section(found: ValidationPage, lang: str) -> Section:
    """The few numbers that most readers want."""
    rows: dict[str, Mapping[str, Any] | None] = {}
    for file in found.files:
        report = file.report
        if file.kind == "training":
            rows[said("report.headline.training", lang, file=file.name)] = report["overall"]
            rows[said("report.headline.curated", lang)] = report["curated"]
            rows[said("report.headline.moe", lang)] = report["by"]["density"].get("moe")
        elif file.kind == "collectives":
            rows[said("report.headline.collectives", lang, file=file.name)] = report["overall"]
    told = []
    for file in found.files:
        memory = file.report["memory"]
        if file.kind == "memory" and memory["accuracy"] is not None:
            values = {"accuracy": percent(memory["accuracy"]), "peak": percent(memory["peak_median_ape"]), "rows": whole(file.report["predicted"])}
            told.append(said("report.headline.memory", lang, file=file.name, **values))
        if file.kind not in ("training", "memory", "collectives"):
            told.append(said("report.headline.nothing", lang, file=file.name, rows=whole(file.report["rows"])))
    table = errors_table(said("report.headline", lang), rows, lang, note=said("validate.errors.meaning", lang))
    return Section("headline", said("report.headline", lang), tuple(told), tables=(table,) if table.rows else ())


def training_sections(file: FilePage, lang: str) -> list[Section]:
    """Scatter, errors, coverage, slopes, ranking."""
    report = file.report
    axis = {"x": said("report.axis.measured", lang, unit="s"), "y": said("report.axis.predicted", lang, unit="s")}
    drawing = Drawing(
        "training-scatter",
        said("report.scatter.training", lang),
        figures.against(file.points, **axis, equal=said("report.equal", lang), hover=said("report.hover.step", lang)),
        said("report.scatter.caption", lang),
        640,
    )
    regimes = {class_text(name, lang): s for name, s in report["by"]["regime"].items() if s is not None}
    coverage = Drawing(
        "training-coverage",
        said("report.coverage", lang),
        figures.bars(
            list(regimes),
            {said("report.coverage.share", lang): [None if s["coverage80"] is None else 100 * s["coverage80"] for s in regimes.values()]},
            y=said("report.axis.inside", lang),
            aim=_AIM,
            aim_name=said("report.coverage.aim", lang),
        ),
        said("report.coverage.caption", lang),
        420,
    )
    return [
        Section("training", said("report.training", lang), (said("report.training.text", lang),), (drawing,)),
        Section("errors", said("report.errors", lang), (), (), by_tables(report, _TRAINING_TABLES, lang)),
        Section("coverage", said("report.coverage", lang), (said("report.coverage.text", lang),), (coverage,) if regimes else ()),
        slopes_section(file, lang),
        ranking_section(report["ranking"], lang),
    ]


def slopes_section(file: FilePage, lang: str) -> Section:
    """How well the loss of throughput with size is met."""
    slopes = file.report["slopes"]
    if not slopes["series"]:
        return Section("slopes", said("validate.slopes", lang), (said("report.none", lang),))
    told = [said("validate.slopes.all", lang, series=whole(slopes["series"]), points=f"{slopes['error_points']:.1f}")]
    if slopes["steep"]:
        told.append(said("validate.slopes.steep", lang, series=whole(slopes["steep"]), points=f"{slopes['error_points_steep']:.1f}"))
    names = {kind: said(f"report.slopes.{kind}", lang) for kind in ("weak", "strong")}
    drawing = Drawing(
        "slopes-scatter",
        said("report.slopes.figure", lang),
        figures.losses(
            file.series,
            x=said("report.axis.loss_measured", lang),
            y=said("report.axis.loss_predicted", lang),
            equal=said("report.equal", lang),
            names=names,
        ),
        said("report.slopes.caption", lang),
    )
    columns = [Column(said(f"report.column.{name}", lang)) for name in ("source", "model", "accelerator", "kind")]
    columns += [Column(said(f"report.column.{name}", lang), said(unit, lang), numeric=True) for name, unit in _SLOPE_COLUMNS]
    rows = tuple(
        (
            s.source,
            s.model,
            s.accelerator,
            names[s.kind],
            f"{s.sizes[0]:,} → {s.sizes[-1]:,}",
            percent(1 - s.measured[-1]),
            percent(1 - s.predicted[-1]),
        )
        for s in file.series
    )
    table = Table(said("report.slopes.table", lang), tuple(columns), rows, folded=True)
    return Section("slopes", said("validate.slopes", lang), tuple(told), (drawing,), (table,))


_SLOPE_COLUMNS: Final = (("sizes", "unit.accelerators"), ("loss_measured", "unit.percent"), ("loss_predicted", "unit.percent"))


def ranking_section(groups: Sequence[Mapping[str, Any]], lang: str) -> Section:
    """How well plans are ordered, group by group."""
    if not groups:
        return Section("ranking", said("validate.ranking", lang), (said("report.none", lang),))
    columns = (
        Column(said("report.column.group", lang)),
        Column(said("validate.ranking.column.plans", lang), numeric=True),
        Column(said("report.column.tau", lang), numeric=True),
        Column(said("report.column.regret", lang), "%", numeric=True),
        Column(said("validate.ranking.column.top3", lang), "%", numeric=True),
    )
    rows = tuple((g["group"], whole(g["plans"]), f"{g['kendall_tau']:.2f}", percent(g["regret"]), percent(g["regret_top3"])) for g in groups)
    table = Table(said("validate.ranking", lang), columns, rows, said("validate.ranking.meaning", lang))
    drawing = Drawing(
        "ranking-tau",
        said("report.ranking.figure", lang),
        figures.bars([g["group"] for g in groups], {"τ": [g["kendall_tau"] for g in groups]}, y="τ"),
        said("report.ranking.caption", lang),
    )
    return Section("ranking", said("validate.ranking", lang), (), (drawing,), (table,))


def memory_section(file: FilePage, lang: str) -> Section:
    """Confusion of fits and dies, peaks, errors by model."""
    report, confusion = file.report, file.confusion
    tables = []
    if confusion is not None:
        columns = (
            Column(said("validate.memory.measured", lang)),
            Column(said("validate.memory.predicted_fits", lang), said("unit.rows", lang), numeric=True),
            Column(said("validate.memory.predicted_oom", lang), said("unit.rows", lang), numeric=True),
        )
        counted = (
            (said("validate.memory.fits", lang), whole(confusion.fits_told_fits), whole(confusion.fits_told_oom)),
            (said("validate.memory.oom", lang), whole(confusion.oom_told_fits), whole(confusion.oom_told_oom)),
        )
        tables.append(Table(said("validate.memory.confusion", lang), columns, counted))
    names = ("accuracy", "fits_recall", "oom_recall", "peak_median_ape", "peak_p90_ape")
    heads = (Column(""), *(Column(said(f"validate.memory.{name}", lang), "%", numeric=True) for name in names))
    listed = {said("validate.memory.all", lang): report["memory"], **report["by"]["model"]}
    rows = tuple((name, *(percent(s[key]) for key in names)) for name, s in listed.items() if any(v is not None for v in s.values()))
    tables.append(Table(said("validate.by.model", lang), heads, rows, said("validate.memory.meaning", lang)))
    axis = {"x": said("report.axis.measured", lang, unit="GB"), "y": said("report.axis.predicted", lang, unit="GB")}
    drawing = Drawing(
        "memory-scatter",
        said("report.memory.figure", lang),
        figures.against(file.points, **axis, equal=said("report.equal", lang), hover=said("report.hover.memory", lang)),
        said("report.memory.caption", lang),
    )
    return Section("memory", said("report.memory", lang), (said("report.memory.text", lang),), (drawing,), tuple(tables))


def collectives_section(file: FilePage, lang: str) -> Section:
    """Times by operation and size."""
    axis = {"x": said("report.axis.measured", lang, unit="µs"), "y": said("report.axis.predicted", lang, unit="µs")}
    hover = said("report.hover.collective", lang)
    drawings = (
        Drawing(
            "collectives-scatter",
            said("report.collectives.figure", lang),
            figures.against(file.points, **axis, equal=said("report.equal", lang), hover=hover),
            said("report.scatter.caption", lang),
        ),
        Drawing(
            "collectives-size",
            said("report.collectives.size", lang),
            figures.errors_by_size(
                file.points, x=said("report.axis.size", lang), y=said("report.axis.error", lang), hover=said("report.hover.size", lang)
            ),
            said("report.collectives.caption", lang),
        ),
    )
    return Section("collectives", said("report.collectives", lang), (), drawings, by_tables(file.report, _COLLECTIVE_TABLES, lang))


def by_tables(report: Mapping[str, Any], names: Sequence[str], lang: str) -> tuple[Table, ...]:
    """One table a kind of classes."""
    out = []
    for name in names:
        summaries = {class_text(key, lang): s for key, s in report["by"].get(name, {}).items() if s is not None}
        if name not in ("span", "density", "size"):
            summaries = dict(sorted(summaries.items(), key=lambda item: -item[1]["rows"]))
        if summaries:
            heading = said(f"validate.by.{name}", lang) if has(f"validate.by.{name}") else name
            out.append(errors_table(heading, summaries, lang))
    return tuple(out)


def errors_table(title: str, summaries: Mapping[str, Mapping[str, Any] | None], lang: str, note: str = "") -> Table:
    """Rows, errors in percent, coverage."""
    columns = [Column(""), Column(said("validate.column.rows", lang), numeric=True)]
    columns += [Column(said(f"validate.column.{name}", lang), "%", numeric=True) for name in ("median", "mean", "p90", "bias", "coverage")]
    rows = tuple(
        (
            name,
            whole(s["rows"]),
            *(percent(s[key]) for key in ("median_ape", "mean_ape", "p90_ape")),
            signed(s["bias"]),
            UNKNOWN if s["coverage80"] is None else percent(s["coverage80"]),
        )
        for name, s in summaries.items()
        if s is not None
    )
    return Table(title, tuple(columns), rows, note)

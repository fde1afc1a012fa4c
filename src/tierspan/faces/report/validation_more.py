"""The later sections of the validation page: ablation, peers, what is not predicted, licences, glossary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from tierspan.faces.cli.render.parts import percent, said, whole
from tierspan.faces.cli.render.validation import reason_text, signed
from tierspan.faces.figures import validation as figures
from tierspan.faces.report.parts import Column, Drawing, Section, Table
from tierspan.quantities.messages import catalogue, has

if TYPE_CHECKING:
    from tierspan.answers.validation.page import FilePage, ValidationPage

_GLOSSARY: Final = "report.glossary."


def ablation_section(found: ValidationPage, lang: str) -> Section:
    """The errors with one term of the model left out, where the record of the constants holds them."""
    if not found.ablation:
        return Section("ablation", said("report.ablation", lang), (said("report.ablation.none", lang),))
    # The keys are those of the record; what it does not hold is shown as unknown.
    names = ("median_ape", "median_ape_curated", "mean_ape", "p90_ape")
    held = [name for name in names if any(name in errors for errors in found.ablation.values())]
    columns = (Column(said("report.column.left_out", lang)), *(Column(said(f"report.ablation.{name}", lang), "%", numeric=True) for name in held))
    rows = tuple((_term(term, lang), *(percent(errors.get(name)) for name in held)) for term, errors in found.ablation.items())
    return Section(
        "ablation", said("report.ablation", lang), (said("report.ablation.text", lang),), (), (Table(said("report.ablation", lang), columns, rows),)
    )


def _term(term: str, lang: str) -> str:
    spelled = f"report.ablation.term.{term}"
    return said(spelled, lang) if has(spelled) else term.replace("_", " ")


def peers_section(file: FilePage, found: ValidationPage, lang: str) -> Section:
    """Other predictors on the rows they predict, beside tierspan on the same rows."""
    if not file.peers:
        return Section("peers", said("report.peers", lang), (said("report.peers.none", lang),))
    columns = (
        Column(said("report.column.peer", lang)),
        Column(said("report.column.rows_chosen", lang)),
        Column(said("validate.column.rows", lang), numeric=True),
        *(
            Column(said(f"report.column.{name}", lang), "%", numeric=True)
            for name in ("peer_median", "our_median", "peer_p90", "our_p90", "peer_bias", "our_bias")
        ),
    )
    rows, bars = [], {}
    for peer in file.peers:
        for name, pair in (("all", peer.all), ("curated", peer.curated), ("nanotron", peer.nanotron)):
            if pair is None:
                continue
            theirs, ours = pair
            values = [percent(s[key]) for key in ("median_ape", "p90_ape") for s in (theirs, ours)]
            chosen = said(f"report.peers.{name}", lang)
            rows.append((f"{peer.peer} {peer.version}", chosen, whole(theirs["rows"]), *values, signed(theirs["bias"]), signed(ours["bias"])))
            bars[f"{peer.peer}, {chosen}"] = (100 * theirs["median_ape"], 100 * ours["median_ape"])
    drawing = Drawing(
        "peers-bars",
        said("report.peers.figure", lang),
        figures.bars(
            list(bars),
            {said("report.peers.peer", lang): [b[0] for b in bars.values()], "tierspan": [b[1] for b in bars.values()]},
            y=said("report.axis.median", lang),
        ),
        said("report.peers.caption", lang),
    )
    return Section(
        "peers",
        said("report.peers", lang),
        (said("report.peers.text", lang), said(f"report.peers.fit.{found.cross_validated or 'seen'}", lang)),
        (drawing,),
        (Table(said("report.peers", lang), columns, tuple(rows)), _cannot(file, lang)),
    )


def _cannot(file: FilePage, lang: str) -> Table:
    columns = (
        Column(said("report.column.peer", lang)),
        Column(said("report.column.why", lang)),
        Column(said("validate.column.rows", lang), numeric=True),
    )
    rows = []
    for peer in file.peers:
        rows.append((peer.peer, said("report.peers.given", lang), whole(peer.given)))
        if peer.refused:
            rows.append((peer.peer, said("report.peers.refused", lang), whole(peer.refused)))
        rows += [(peer.peer, said("report.peers.cannot", lang, reason=reason), whole(n)) for reason, n in peer.not_expressible.items()]
    return Table(said("report.peers.not", lang), columns, tuple(rows), folded=True)


def not_predicted_section(found: ValidationPage, lang: str) -> Section:
    """Rows without a prediction and rows that are not scored, by reason, with what would help."""
    tables = []
    for name, prefix in (("not_predicted", "validate.reason"), ("excluded", "validate.flag")):
        rows = [
            (file.name, reason_text(prefix, reason, lang), whole(count), *((_remedy(reason, lang),) if name == "not_predicted" else ()))
            for file in found.files
            for reason, count in _most_first(file.report[name])
        ]
        columns = [
            Column(said("report.column.file", lang)),
            Column(said("report.column.why", lang)),
            Column(said("validate.column.rows", lang), numeric=True),
        ]
        if name == "not_predicted":
            columns.append(Column(said("report.column.helps", lang)))
        if rows:
            tables.append(Table(said(f"report.{name}", lang), tuple(columns), tuple(rows)))
    texts = (said("report.not_predicted.text", lang),) if tables else (said("report.none", lang),)
    return Section("not-predicted", said("report.not_predicted", lang), texts, (), tuple(tables))


def _most_first(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _remedy(reason: str, lang: str) -> str:
    """What would help: told for the reason, else that the columns it names are to be filled."""
    spelled = f"report.remedy.{reason.replace(' ', '_')}"
    return said(spelled if has(spelled) else "report.remedy.columns", lang)


def licences_section(found: ValidationPage, lang: str) -> Section:
    """Every source with its licence, and whether its rows stand in the file."""
    entries = [(file, entry, count) for file in found.files for entry, count in file.licences]
    if not entries:
        return Section("licences", said("report.licences", lang), (said("report.licences.none", lang),))
    columns = [Column(said(f"report.column.{name}", lang)) for name in ("file", "source", "licence", "basis", "here", "remark")]
    columns.insert(5, Column(said("validate.column.rows", lang), numeric=True))
    rows = tuple(
        (
            file.name,
            (_source(entry.source, entry.published_at), entry.published_at.split()[0])
            if entry.published_at.startswith("https://")
            else _source(entry.source, entry.published_at),
            entry.licence,
            entry.basis,
            said("report.yes" if entry.reproduced else "report.no", lang),
            whole(count),
            entry.remark,
        )
        for file, entry, count in entries
    )
    out = [entry for _, entry, _ in entries if not entry.reproduced]
    texts = [said("report.licences.text", lang)]
    if out:
        texts.append(said("report.licences.out", lang, count=whole(len(out))))
    return Section(
        "licences", said("report.licences", lang), tuple(texts), (), (Table(said("report.licences", lang), tuple(columns), rows, folded=True),)
    )


def _source(source: str, published_at: str) -> str:
    return source or published_at


def glossary_section(lang: str) -> Section:
    """Every term and abbreviation of the page."""
    texts = catalogue(lang)
    names = [key.removeprefix(_GLOSSARY) for key in texts if key.startswith(_GLOSSARY) and not key.endswith(".means")]
    terms = tuple((said(_GLOSSARY + name, lang), said(f"{_GLOSSARY}{name}.means", lang)) for name in names)
    return Section("glossary", said("report.glossary", lang), (), (), (), (), terms)

"""A validation as people read it: one sentence, what was left out and why, errors by source and by class, order of plans, slopes."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, Final

from tierspan.faces.cli.render.parts import UNKNOWN, fitted, lines, named, number_of, percent, said, title, whole
from tierspan.quantities.messages import has

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tierspan.answers.validation.result import Validation

Summaries = Mapping[str, Mapping[str, Any] | None]
TOP: Final = 12
_SHOWN_WHOLE: Final = ("source", "regime", "span", "density", "size", "operation", "quantity", "domain")
_OVERALL: Final = ("overall", "curated", "without_lora", "truncated", "tp_across_node")
_APART: Final = "@ 512"


def validation_parts(found: Validation, lang: str) -> list[RenderableType]:
    """The parts of the answer from top to bottom."""
    from rich.console import Group
    from rich.text import Text

    report = found.report
    first = fitted(Text(headline(report, lang), style="bold"))
    # Where nothing was predicted no constants were asked.
    parts: list[RenderableType] = [Group(first, lines(constants_sentence(found, lang))) if report["predicted"] else first]
    parts += left_out_parts(report, lang)
    if report["kind"] == "memory":
        return [*parts, *memory_parts(report, lang)]
    if report["overall"] is None:
        return parts
    overall = {said(f"validate.overall.{name}", lang): report[name] for name in _OVERALL if report.get(name) is not None}
    parts += [errors_table(said("validate.errors", lang), overall, lang), lines(said("validate.errors.meaning", lang))]
    for name, summaries in report["by"].items():
        parts += section(name, summaries, lang)
    parts += ranking_parts(report["ranking"], lang)
    return parts + slopes_parts(report["slopes"], lang)


def headline(report: Mapping[str, Any], lang: str) -> str:
    """How much was predicted and how wrong, in one sentence or two."""
    values = {"kind": said(f"validate.kind.{report['kind']}", lang), "rows": whole(report["rows"]), "predicted": whole(report["predicted"])}
    if "complete" in report:
        told = said("validate.headline.complete", lang, complete=whole(report["complete"]), **values)
    else:
        told = said("validate.headline.rows", lang, **values)
    memory, errors = report["memory"], report["overall"]
    if memory is not None and memory["accuracy"] is not None:
        return told + said("validate.headline.memory", lang, accuracy=percent(memory["accuracy"]), peak=percent(memory["peak_median_ape"]))
    if errors is None:
        return told
    told += said("validate.headline.errors", lang, median=percent(errors["median_ape"]), bias=signed(errors["bias"]))
    if errors["coverage80"] is None:
        return told + said("validate.headline.no_interval", lang)
    return told + said("validate.headline.coverage", lang, coverage=percent(errors["coverage80"]))


def constants_sentence(found: Validation, lang: str) -> str:
    """Whose constants predicted the rows, and whether those had seen them."""
    if found.cross_validated:
        kind = "memory" if found.report["kind"] == "memory" else found.cross_validated
        return said(f"validate.constants.{kind}", lang)
    if found.report["kind"] == "memory":
        return said("validate.constants.memory_shipped", lang)
    return said(
        "validate.constants.priors" if found.profile_version == "priors" else "validate.constants.fitted", lang, version=found.profile_version
    )


def left_out_parts(report: Mapping[str, Any], lang: str) -> list[RenderableType]:
    """Rows that are not scored and rows that are not predicted, counted by reason, the most frequent first."""
    parts = []
    for name, prefix in (("excluded", "validate.flag"), ("not_predicted", "validate.reason")):
        counts = report[name]
        if counts:
            ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
            width = len(whole(ordered[0][1]))
            told = [
                said("validate.counted", lang, count=whole(count).rjust(width), reason=reason_text(prefix, reason, lang)) for reason, count in ordered
            ]
            parts.append(lines(*told, head=title(f"validate.{name}", lang, count=whole(sum(counts.values())))))
    return parts


def reason_text(prefix: str, reason: str, lang: str) -> str:
    """A reason in words: a message id or a word of the file; a list of columns is told as what the row lacks."""
    spelled = f"{prefix}.{reason.replace(' ', '_')}"
    if has(spelled):
        return said(spelled, lang)
    if prefix == "validate.reason" and all(part.replace("_", "").isalnum() for part in reason.split(", ")):
        return said("validate.reason.columns", lang, columns=reason)
    return reason


def section(name: str, summaries: Summaries, lang: str) -> list[RenderableType]:
    """A table of one kind of classes; kinds with many classes show the ones with most rows."""
    kept = {key: s for key, s in summaries.items() if s is not None}
    if not kept:
        return []
    ordered = dict(sorted(kept.items(), key=lambda item: -item[1]["rows"])) if name not in ("span", "density", "size") else kept
    limit = len(ordered) if name in _SHOWN_WHOLE else TOP
    shown = {class_text(key, lang): s for key, s in list(ordered.items())[:limit]}
    heading = said(f"validate.by.{name}", lang) if has(f"validate.by.{name}") else name
    parts = [errors_table(heading, shown, lang)]
    rest = len(ordered) - len(shown)
    return [*parts, lines(said("validate.more", lang, count=whole(rest)))] if rest > 0 else parts


def class_text(name: str, lang: str) -> str:
    """The name of a class in words; names of sources and accelerators stand as they are."""
    spelled = f"validate.class.{name.replace(' ', '_')}"
    if has(spelled):
        return said(spelled, lang)
    parts = [part.replace(" ", "_") for part in name.split(", ")]
    if all(has(f"regime.{part}") for part in parts):
        return said("list.comma", lang).join(named("regime", part, lang) for part in parts)
    return name


def errors_table(heading: str, summaries: Summaries, lang: str) -> RenderableType:
    """Rows, errors in percent, and coverage, one line a class."""
    from tierspan.faces.cli.render.table import Column, number, table

    columns = [Column(""), number(said("validate.column.rows", lang))]
    columns += [number(said(f"validate.column.{name}", lang), "%") for name in ("median", "mean", "p90", "bias", "coverage")]
    rows = [
        (name, whole(s["rows"]), *(percent(s[key]) for key in ("median_ape", "mean_ape", "p90_ape")), signed(s["bias"]), percent(s["coverage80"], 0))
        for name, s in summaries.items()
        if s is not None
    ]
    return fitted(table(columns, rows, title=heading))


def ranking_parts(groups: list[Mapping[str, Any]], lang: str) -> list[RenderableType]:
    """How well plans are ordered: all groups but the ones at 512 accelerators, and those."""
    from tierspan.faces.cli.render.table import Column, number, table

    apart = [g for g in groups if g["group"].startswith("nanotron") and g["group"].endswith(_APART)]
    usual = [g for g in groups if g not in apart]
    rows = [
        (
            said(f"validate.ranking.{name}", lang),
            whole(len(chosen)),
            whole(sum(g["plans"] for g in chosen)),
            f"{fmean(g['kendall_tau'] for g in chosen):.2f}",
            percent(median(g["regret"] for g in chosen)),
            percent(median(g["regret_top3"] for g in chosen)),
        )
        for name, chosen in (("usual", usual), ("apart", apart))
        if chosen
    ]
    if not rows:
        return []
    heads = [said(f"validate.ranking.column.{name}", lang) for name in ("groups", "plans", "tau", "regret", "top3")]
    columns = [Column(""), *(number(head) for head in heads[:3]), *(number(head, "%") for head in heads[3:])]
    return [fitted(table(columns, rows, title=said("validate.ranking", lang))), lines(said("validate.ranking.meaning", lang))]


def slopes_parts(slopes: Mapping[str, Any] | None, lang: str) -> list[RenderableType]:
    """How well the loss of throughput with size is met."""
    if not slopes or not slopes["series"]:
        return []
    told = [said("validate.slopes.all", lang, series=whole(slopes["series"]), points=number_of(slopes["error_points"]))]
    if slopes["steep"]:
        told.append(said("validate.slopes.steep", lang, series=whole(slopes["steep"]), points=number_of(slopes["error_points_steep"])))
    return [lines(*told, head=title("validate.slopes", lang))]


def memory_parts(report: Mapping[str, Any], lang: str) -> list[RenderableType]:
    """What became of runs that fit and of runs that died, and the errors by model."""
    from tierspan.faces.cli.render.table import Column, number, table

    m = report["memory"]
    outcome = [said(f"validate.memory.{name}", lang) for name in ("fits", "oom")]
    said_so = [
        Column(said("validate.memory.measured", lang)),
        *(number(said(f"validate.memory.predicted_{name}", lang), "%") for name in ("fits", "oom")),
    ]
    confusion = [
        (outcome[0], percent(m["fits_recall"]), percent(_other(m["fits_recall"]))),
        (outcome[1], percent(_other(m["oom_recall"])), percent(m["oom_recall"])),
    ]
    names = ("accuracy", "fits_recall", "oom_recall", "peak_median_ape", "peak_p90_ape")
    columns = [Column(""), *(number(said(f"validate.memory.{name}", lang), "%") for name in names)]
    listed = {
        said("validate.memory.all", lang): m,
        **{name: s for name, s in report["by"]["model"].items() if any(v is not None for v in s.values())},
    }
    rows = [(name, *(percent(s[key]) for key in names)) for name, s in listed.items()]
    return [
        fitted(table(said_so, confusion, title=said("validate.memory.confusion", lang))),
        fitted(table(columns, rows, title=said("validate.by.model", lang))),
        lines(said("validate.memory.meaning", lang)),
    ]


def signed(share: float | None) -> str:
    """A share in percent with its sign."""
    return UNKNOWN if share is None else f"{round(100 * share, 1) + 0.0:+.1f}"


def _other(share: float | None) -> float | None:
    return None if share is None else 1 - share

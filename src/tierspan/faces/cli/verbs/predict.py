"""``tierspan predict``: what will this job do on this cluster, and why; ``--beside SYSTEM`` sets a second system next to it."""

from __future__ import annotations

from typing import Any

import click

from tierspan.faces.cli.options import json_option
from tierspan.faces.cli.pages import check_page, write_report
from tierspan.faces.cli.question_options import brief_option, profile_of, profile_option, question_options, report_option, written_at
from tierspan.faces.cli.session import Session
from tierspan.faces.cli.trace_option import check_trace, tell_trace, trace_option
from tierspan.quantities.errors import InputError, Place


@click.command()
@question_options()
@click.option("--beside", metavar="ID|FILE", help="predict.option.beside")
@click.option("--timeline", is_flag=True, help="predict.option.timeline")
@click.option("--pair", "pairs", multiple=True, metavar="RANK,RANK", help="predict.option.pair")
@report_option
@trace_option
@profile_option
@brief_option
@json_option
@click.pass_obj
def command(
    session: Session,
    /,
    scenario: str | None,
    beside: str | None,
    timeline: bool,
    pairs: tuple[str, ...],
    page: str | None,
    trace: str | None,
    profile: str | None,
    brief: bool,
    as_json: bool,
    **given: Any,
) -> int:
    """Predict the step of a job; with another system beside it, compare the two."""
    from tierspan.answers.predict import predict
    from tierspan.answers.question import build_question, question_on

    ranks = tuple(pair_of(text) for text in pairs)
    timeline |= check_trace(trace, beside, scenario, profile, given["system"], given["model"])
    question = build_question(scenario, place_of=written_at, **given)
    check_page(page, scenario, profile)
    constants = profile_of(profile)
    first = predict(question, profile=constants, timeline=timeline, pairs=ranks)
    if beside is None:
        if as_json:
            session.json(first)
        else:
            from tierspan.faces.cli.render.prediction import prediction_parts

            session.show(*prediction_parts(first, session.lang, brief=brief))
        write_report(session, first, page)
        tell_trace(session, trace, question, first, constants)
        return 0 if first.status == "predicted" else 1
    from tierspan.answers.beside import compare_systems

    second = predict(
        question_on(question, beside, scenario, place_of=lambda name: written_at(name) if name != "system" else written_at("--beside"), **given),
        profile=constants,
        timeline=timeline,
        pairs=ranks,
    )
    comparison = compare_systems(first, second)
    if as_json:
        session.json(comparison)
    else:
        from tierspan.faces.cli.render.comparison import comparison_parts

        session.show(*comparison_parts(comparison, session.lang, brief=brief))
        if not brief:
            from tierspan.faces.cli.render.asked import asked_parts
            from tierspan.faces.cli.render.timeline import timeline_parts

            session.show(*timeline_parts(first, session.lang), *timeline_parts(second, session.lang))
            session.show(*asked_parts(first, session.lang, named=True), *asked_parts(second, session.lang, named=True))
    write_report(session, comparison, page)
    # The question is which is faster: a plan that does not fit is told, only one that cannot run leaves it open.
    return 1 if "invalid" in (first.status, second.status) else 0


def pair_of(text: str) -> tuple[int, int]:
    """Two ranks, as ``0,9``.

    Raises:
        InputError: not two whole numbers.
    """
    found = [part.strip() for part in text.split(",")]
    if len(found) != 2 or not all(part.isascii() and part.isdigit() and len(part) < 16 for part in found):
        raise InputError("pair.text_wrong", place=Place(key="--pair"), value=text)
    return int(found[0]), int(found[1])

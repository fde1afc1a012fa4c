"""``tierspan fit``: will it fit, with what margin, and what else would."""

from __future__ import annotations

from typing import Any

import click

from tierspan.faces.cli.options import json_option
from tierspan.faces.cli.pages import check_page, write_report
from tierspan.faces.cli.question_options import brief_option, question_options, report_option, written_at
from tierspan.faces.cli.session import Session


@click.command()
@question_options(without=("tokens",))
@report_option
@brief_option
@json_option
@click.pass_obj
def command(session: Session, /, scenario: str | None, page: str | None, brief: bool, as_json: bool, **given: Any) -> int:
    """Tell the memory of the heaviest rank, and whether it fits."""
    from tierspan.answers.fit import fit
    from tierspan.answers.question import build_question

    question = build_question(scenario, place_of=written_at, **given)
    check_page(page, scenario)
    answer = fit(question)
    if as_json:
        session.json(answer)
    else:
        from tierspan.faces.cli.render.fitting import fitting_parts

        session.show(*fitting_parts(answer, session.lang, brief=brief))
    if page is not None:
        from tierspan.answers.predict import predict

        # the page draws where the groups run, which a prediction of the same plan tells
        write_report(session, answer, page, placed=predict(question))
    return 0 if answer.status in ("fits", "borderline") else 1

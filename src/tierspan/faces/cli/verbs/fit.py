"""``tierspan fit``: will it fit, with what margin, and what else would."""

from __future__ import annotations

from typing import Any

import click

from tierspan.faces.cli.options import json_option
from tierspan.faces.cli.question_options import brief_option, question_options, written_at
from tierspan.faces.cli.session import Session


@click.command()
@question_options()
@brief_option
@json_option
@click.pass_obj
def command(session: Session, /, scenario: str | None, brief: bool, as_json: bool, **given: Any) -> int:
    """Tell the memory of the heaviest rank, and whether it fits."""
    from tierspan.answers.fit import fit
    from tierspan.answers.question import build_question

    answer = fit(build_question(scenario, place_of=written_at, **given))
    if as_json:
        session.json(answer)
    else:
        from tierspan.faces.cli.render.fitting import fitting_parts

        session.show(*fitting_parts(answer, session.lang, brief=brief))
    return 0 if answer.status in ("fits", "borderline") else 1

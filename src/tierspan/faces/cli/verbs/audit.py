"""``tierspan audit``: what the figures of a sheet mean, and what of it cannot be true."""

from __future__ import annotations

import sys

import click

from tierspan.faces.cli.options import json_option
from tierspan.faces.cli.pages import check_page
from tierspan.faces.cli.question_options import brief_option, report_option
from tierspan.faces.cli.session import Session
from tierspan.quantities.errors import InputError, Place


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1)
@click.option("--site", metavar="SITE.yaml", help="audit.option.site")
@click.option("--interactive", is_flag=True, help="audit.option.interactive")
@click.option("--corrections", metavar="FILE.json", help="audit.option.corrections")
@click.option("--self-test", "self_test", is_flag=True, help="audit.option.self_test")
@click.option("--held-out", "held_out", is_flag=True, help="audit.option.held_out")
@report_option
@brief_option
@json_option
@click.pass_obj
def command(
    session: Session,
    files: tuple[str, ...],
    site: str | None,
    interactive: bool,
    corrections: str | None,
    self_test: bool,
    held_out: bool,
    page: str | None,
    brief: bool,
    as_json: bool,
) -> int:
    """Read every figure of a sheet, check it, and say what to ask the seller."""
    if self_test or held_out:
        return _self_test(session, files, held_out=held_out, as_json=as_json)
    from tierspan.answers.audit.audit import audit
    from tierspan.faces.cli.corrections import asked, read_corrections
    from tierspan.formats.sheets import read_sheets
    from tierspan.formats.sheets.source import STDIN

    if not files:
        raise InputError("audit.no_files")
    if interactive and STDIN in files:
        raise InputError("audit.interactive_stdin")
    check_page(page, *files, site, corrections)
    documents = read_sheets(files, sys.stdin.buffer)
    place = None
    if site is not None:
        from tierspan.formats.site import read_site

        place = read_site(site)
    given = read_corrections(corrections, writes=interactive)
    answer = audit(documents, site=place, corrections=given)
    if interactive:
        given = asked(session, answer, given, corrections or f"{files[0]}.corrections.json")
        answer = audit(documents, site=place, corrections=given)
    if as_json:
        from tierspan.answers.audit.printed import printed

        session.json(printed(answer, session.lang))
    else:
        from tierspan.faces.cli.render.audit import audit_parts

        session.show(*audit_parts(answer, session.lang, brief=brief))
    if page is not None:
        from tierspan.faces.cli.pages import write_report

        write_report(session, answer, page)
    return 1 if any(f.severity == "error" for f in answer.findings) or any(c.verdict == "refuted" for c in answer.claims) else 0


def _self_test(session: Session, files: tuple[str, ...], *, held_out: bool, as_json: bool) -> int:
    """Put the audit on trial; 0 whatever it finds: the tests hold it to its bounds."""
    if files:
        raise InputError("audit.self_test_files", place=Place(key="--self-test"), files=", ".join(files))
    from tierspan.answers.audit.trial import printed_trial, run_trial

    trial = run_trial("held-out" if held_out else "tuned")
    if as_json:
        session.json(printed_trial(trial))
    else:
        from tierspan.faces.cli.render.audit_trial import trial_parts

        session.show(*trial_parts(trial, session.lang))
    return 0

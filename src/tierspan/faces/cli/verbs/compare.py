"""``tierspan compare``: measured against expected, the verdict, and the likeliest causes."""

from __future__ import annotations

import click

from tierspan.faces.cli.options import json_option
from tierspan.faces.cli.question_options import brief_option
from tierspan.faces.cli.session import Session


@click.command()
@click.argument("log", metavar="LOG")
@click.argument("other", required=False, metavar="[LOG]")
@click.option("--cluster", metavar="FILE|ID", help="compare.option.cluster")
@click.option("--system", metavar="ID", help="compare.option.system")
@click.option("-n", "--ranks", type=click.IntRange(min=1), metavar="N", help="compare.option.ranks")
@click.option("--nodes", type=click.IntRange(min=1), metavar="N", help="compare.option.nodes")
@click.option("--nic", metavar="RATE", help="compare.option.nic")
@click.option("--transport", metavar="NAME", help="compare.option.transport")
@brief_option
@json_option
@click.pass_obj
def command(
    session: Session,
    log: str,
    other: str | None,
    cluster: str | None,
    system: str | None,
    ranks: int | None,
    nodes: int | None,
    nic: str | None,
    transport: str | None,
    brief: bool,
    as_json: bool,
) -> int:
    """Tell whether measured communication times are as expected, and where to look if not."""
    from tierspan.answers.compare import compare
    from tierspan.answers.comparison.setting import Asked

    answer = compare(log, other, Asked(cluster, system, ranks, nodes, nic, transport), lang=session.lang)
    if as_json:
        session.json(answer)
    else:
        from tierspan.faces.cli.render.compare import compare_parts

        session.show(*compare_parts(answer, session.lang, brief=brief))
    return 1 if answer.verdict == "broken" else 0

"""``tierspan schema VERB``: the JSON schema of an answer."""

from __future__ import annotations

import click

from tierspan.answers import schemas
from tierspan.faces.cli.session import Session


@click.command()
@click.argument("verb", required=False)
@click.pass_obj
def command(session: Session, verb: str | None) -> int:
    """Print the schema of one verb, or the verbs that have one."""
    if verb is None:
        for name in schemas.known_schemas():
            session.write(name)
    else:
        session.json(schemas.schema(verb))
    return 0

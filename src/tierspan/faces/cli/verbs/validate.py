"""``tierspan validate``: how wrong the predictions are on a file of measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

from tierspan.faces.cli.options import json_option
from tierspan.faces.cli.session import Session
from tierspan.quantities.errors import InputError, Place

if TYPE_CHECKING:
    from tierspan.answers.validate import Validation

Split = Literal["group", "source"]


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--cross-validate", "split", type=click.Choice(["group", "source"]), help="validate.option.cross_validate")
@click.option("--profile", metavar="FILE", help="validate.option.profile")
@click.option("--predictions", metavar="OUT.csv", help="validate.option.predictions")
@json_option
@click.pass_obj
def command(session: Session, file: str, split: Split | None, profile: str | None, predictions: str | None, as_json: bool) -> int:
    """Predict every row of a measurement file and tell the errors."""
    if split is not None and profile is not None:
        raise InputError("validate.profile_and_split", place=Place(key="--profile"), value=profile)
    if predictions is not None:
        from tierspan.faces.cli.outputs import check_writable

        check_writable(predictions, file, *([profile] if profile is not None else []))
    found = _validate(session, file, split, profile, predictions)
    if profile is not None and found.report["kind"] == "memory":
        session.note(session.text("validate.profile_unused"))
    if as_json:
        session.json(found.report)
    else:
        from tierspan.faces.cli.render.validation import validation_parts

        session.show(*validation_parts(found, session.lang))
    if predictions is not None:
        session.note(session.text("validate.written", count=f"{len(found.lines):,}", path=predictions))
    return 0


def _validate(session: Session, file: str, split: Split | None, profile: str | None, predictions: str | None) -> Validation:
    from tierspan.answers.validate import validate
    from tierspan.specs.profile.load import load_profile

    constants = load_profile(profile) if profile is not None else None
    if split is None:
        return validate(file, profile=constants, predictions=predictions)
    from tierspan.faces.cli.progress import progress

    stage = f"validate.stage.{split}"
    with progress(session, stage) as report:
        return validate(file, split=split, predictions=predictions, progress=lambda done, total: report(stage, done, total))

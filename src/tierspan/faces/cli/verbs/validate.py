"""``tierspan validate``: how wrong the predictions are on files of measurements, and the page that shows it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from tierspan.faces.cli.options import json_option
from tierspan.faces.cli.session import Session
from tierspan.quantities.errors import InputError, Place

if TYPE_CHECKING:
    from tierspan.answers.validation.result import Validation
    from tierspan.specs.profile.profile import Profile

Split = Literal["group", "source"]


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--cross-validate", "split", type=click.Choice(["group", "source"]), help="validate.option.cross_validate")
@click.option("--profile", metavar="FILE", help="validate.option.profile")
@click.option("--predictions", metavar="OUT.csv", help="validate.option.predictions")
@click.option("--report", "page", metavar="FILE.html", help="validate.option.report")
@json_option
@click.pass_obj
def command(
    session: Session, files: tuple[str, ...], split: Split | None, profile: str | None, predictions: str | None, page: str | None, as_json: bool
) -> int:
    """Predict every row of measurement files and tell the errors; a folder stands for the files in it."""
    if split is not None and profile is not None:
        raise InputError("validate.profile_and_split", place=Place(key="--profile"), value=profile)
    given = _files(files, "--json" if as_json else "--predictions" if predictions is not None else "")
    for out in (predictions, page):
        if out is not None:
            from tierspan.faces.cli.outputs import check_writable

            check_writable(out, *given, *([profile] if profile is not None else []))
    found = _validate_all(session, given, split, profile, predictions)
    if profile is not None and any(one.report["kind"] == "memory" for one in found):
        session.note(session.text("validate.profile_unused"))
    if as_json:
        session.json(found[0].report)
    else:
        from tierspan.faces.cli.render.validation import validation_parts

        session.show(*[part for one in found for part in validation_parts(one, session.lang)])
    if predictions is not None:
        session.note(session.text("validate.written", count=f"{len(found[0].lines):,}", path=predictions))
    if page is not None:
        _write_page(session, found, files, split, profile, page)
    return 0


def _files(paths: tuple[str, ...], one_file_option: str) -> tuple[str, ...]:
    """The measurement files that are meant.

    Raises:
        InputError: a folder holds none, or several are given with an option that takes one.
    """
    if len(paths) == 1 and not Path(paths[0]).is_dir():
        return paths
    from tierspan.answers.validation.page import measurement_files

    for path in paths:
        if Path(path).is_dir() and not measurement_files([path]):
            raise InputError("validate.folder_empty", place=Place(path), path=path)
    found = tuple(str(path) for path in measurement_files(paths))
    if one_file_option and len(found) > 1:
        raise InputError("validate.several", place=Place(key=one_file_option), option=one_file_option, count=len(found))
    return found


def _validate_all(session: Session, files: tuple[str, ...], split: Split | None, profile: str | None, predictions: str | None) -> list[Validation]:
    from tierspan.specs.profile.load import load_profile

    constants = load_profile(profile) if profile is not None else None
    return [_validate(session, file, split, constants, predictions, alone=len(files) == 1) for file in files]


def _validate(session: Session, file: str, split: Split | None, constants: Profile | None, predictions: str | None, *, alone: bool) -> Validation:
    from tierspan.answers.validate import validate

    if split is None:
        return validate(file, profile=constants, predictions=predictions)
    from tierspan.faces.cli.progress import progress

    stage = f"validate.stage.{split}"
    try:
        with progress(session, stage) as report:
            return validate(
                file,
                split=split,
                predictions=predictions,
                progress=lambda done, total: report(stage, done, total),
                processes=os.cpu_count() or 1,
            )
    except InputError as error:
        # Among several files, those without constants have nothing to refit and are told as they are.
        if alone or error.message_id != "validate.split":
            raise
        return validate(file, predictions=predictions)


def _write_page(session: Session, found: list[Validation], files: tuple[str, ...], split: str | None, profile: str | None, out: str) -> None:
    from tierspan.answers.validation.page import validation_page
    from tierspan.faces.report.page import write_page
    from tierspan.faces.report.validation import validation_document

    options = [*(["--cross-validate", split] if split else []), *(["--profile", profile] if profile is not None else [])]
    training = next((one.file.path for one in found if one.file is not None and one.file.kind == "training"), files[0])
    commands = [["tierspan", "validate", *files, *options, "--report", Path(out).name], ["tierspan", "validate", training, *options]]
    commands[1] += ["--predictions", "predictions.csv"]
    size = write_page(out, validation_document(validation_page(found), session.lang, [shlex.join(c) for c in commands]))
    session.note(session.text("validate.report_written", path=out, size=f"{size / 1e6:.1f}"))

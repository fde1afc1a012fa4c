"""``tierspan calibrate``: constants fitted to a file of measured training runs, with the record of the fit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tierspan.faces.cli.options import json_option
from tierspan.faces.cli.session import Session
from tierspan.quantities.errors import InputError, Place

if TYPE_CHECKING:
    from tierspan.answers.calibrate import Calibration


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--out", metavar="PROFILE.json", default="profile.json", show_default=True, help="calibrate.option.out")
@json_option
@click.pass_obj
def command(session: Session, file: str, out: str, as_json: bool) -> int:
    """Fit the constants, measure their errors on rows left out, and write them."""
    from tierspan.answers.calibrate import write_calibration

    _check_out(out, file)
    found = _calibrate(session, file)
    written = write_calibration(found, out)
    if as_json:
        session.json(found)
        session.note(session.text("calibrate.written", profile=written[0], neighbours=written[1]))
    else:
        from tierspan.faces.cli.render.calibration import calibration_parts, written_lines

        session.show(*calibration_parts(found, file, session.lang))
        session.write("\n" + "\n".join(written_lines(file, written, session.lang)))
    return 0


def _check_out(out: str, file: str) -> None:
    """A fit takes minutes: refuse first what could not be written, or would be lost."""
    from tierspan.faces.cli.outputs import check_writable
    from tierspan.specs.profile.load import is_profile

    check_writable(out, file)
    if Path(out).exists() and not is_profile(out):
        raise InputError("calibrate.not_a_profile", place=Place(out), path=out)


def _calibrate(session: Session, file: str) -> Calibration:
    from tierspan.answers.calibrate import calibrate
    from tierspan.faces.cli.progress import progress

    with progress(session, "calibrate.stage.fit") as report:
        return calibrate(file, lambda stage, done, total: report(f"calibrate.stage.{stage}", done, total))

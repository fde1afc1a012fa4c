"""``tierspan calibrate``: constants fitted to a file of measured training runs, with the record of the fit."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tierspan.faces.cli.options import json_option
from tierspan.faces.cli.session import Session
from tierspan.quantities.errors import InputError, Place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tierspan.answers.calibrate import Calibration


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--cluster", metavar="FILE|ID", help="compare.option.cluster")
@click.option("--system", metavar="ID", help="compare.option.system")
@click.option("-n", "--ranks", type=click.IntRange(min=1), metavar="N", help="compare.option.ranks")
@click.option("--nodes", type=click.IntRange(min=1), metavar="N", help="compare.option.nodes")
@click.option("--nic", metavar="RATE", help="compare.option.nic")
@click.option("--transport", metavar="NAME", help="compare.option.transport")
@click.option("--adapt", is_flag=True, help="calibrate.option.adapt")
@click.option("--ablation", is_flag=True, help="calibrate.option.ablation")
@click.option("--out", metavar="PROFILE.json", default="profile.json", show_default=True, help="calibrate.option.out")
@json_option
@click.pass_obj
def command(session: Session, /, file: str, out: str, adapt: bool, ablation: bool, as_json: bool, **told: Any) -> int:
    """Fit the constants, measure their errors on rows left out, and write them."""
    from tierspan.answers.calibrate import write_calibration

    _check_out(out, file)
    if _is_log(file):
        return _from_log(session, file, out, told, as_json=as_json)
    if given := [name for name, value in told.items() if value is not None]:
        raise InputError("calibrate.flag_of_logs", place=Place(key=f"--{given[0]}"), flag=f"--{given[0]}")
    from tierspan.answers.calibrate_record import kind_of

    if not adapt and kind_of(file) in ("collectives", "memory"):
        return _from_table(session, file, out, as_json=as_json)
    if adapt:
        return _adapt(session, file, out, ablation=ablation, as_json=as_json)
    found = _calibrate(session, file, ablation=ablation)
    written = write_calibration(found, out)
    if as_json:
        session.json(found)
        session.note(session.text("calibrate.written", profile=written[0], neighbours=written[1]))
    else:
        from tierspan.faces.cli.render.calibration import calibration_parts, written_lines

        session.show(*calibration_parts(found, file, session.lang))
        session.write("\n" + "\n".join(written_lines(file, written, session.lang)))
    return 0


def _is_log(file: str) -> bool:
    """Whether the file is the log of a communication benchmark and not a table of measurements."""
    from tierspan.formats.bench import recognise

    try:
        text = Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return bool(recognise(text))


def _from_log(session: Session, file: str, out: str, told: Mapping[str, Any], *, as_json: bool) -> int:
    from tierspan.answers.calibrate_log import calibrate_log, write_log_profile
    from tierspan.answers.comparison.setting import Asked

    found = calibrate_log(file, Asked(**told))
    path = write_log_profile(found, out)
    if as_json:
        session.json(found)
        return 0
    from tierspan.faces.cli.render.log_calibration import log_parts

    session.show(*log_parts(found, file, path, session.lang))
    return 0


def _from_table(session: Session, file: str, out: str, *, as_json: bool) -> int:
    """Constants of the memory law or of the laws of collectives."""
    from tierspan.answers.calibrate_record import calibrate_record, write_record
    from tierspan.faces.cli.progress import progress

    with progress(session, "calibrate.stage.sources") as report:
        found = calibrate_record(file, lambda stage, done, total: report(f"calibrate.stage.{stage}", done, total))
    path = write_record(found, out)
    if as_json:
        session.json(found)
        return 0
    error = f"{100 * found.median_ape:.1f}"
    session.write(session.text(f"calibrate.record.{found.kind}", constants=found.constants, rows=found.rows, file=Path(file).name, error=error))
    session.write(session.text("calibrate.record.written", path=path))
    return 0


def _adapt(session: Session, file: str, out: str, *, ablation: bool, as_json: bool) -> int:
    from tierspan.answers.calibrate_own import adapt, write_adaptation

    if ablation:
        raise InputError("calibrate.adapt_ablation", place=Place(key="--ablation"))
    found = adapt(file)
    path = write_adaptation(found, out)
    if as_json:
        session.json(found)
        return 0
    from tierspan.faces.cli.render.adaptation import adaptation_parts

    session.show(*adaptation_parts(found, file, path, session.lang))
    return 0


def _check_out(out: str, file: str) -> None:
    """A fit takes minutes: refuse first what could not be written, or would be lost."""
    from tierspan.faces.cli.outputs import check_writable
    from tierspan.specs.profile.load import is_profile

    check_writable(out, file)
    if Path(out).exists() and not is_profile(out):
        raise InputError("calibrate.not_a_profile", place=Place(out), path=out)


def _calibrate(session: Session, file: str, *, ablation: bool) -> Calibration:
    from tierspan.answers.calibrate import calibrate
    from tierspan.faces.cli.progress import progress

    with progress(session, "calibrate.stage.fit") as report:
        return calibrate(
            file,
            lambda stage, done, total: report(f"calibrate.stage.{stage}", done, total),
            ablation=ablation,
            processes=os.cpu_count() or 1,
        )

"""``--trace FILE``: the step as a file for a trace viewer, beside the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tierspan.faces.cli.outputs import check_writable
from tierspan.quantities.errors import InputError, Place

if TYPE_CHECKING:
    from tierspan.answers.question import Question
    from tierspan.answers.results import Prediction
    from tierspan.faces.cli.session import Session
    from tierspan.specs.profile.profile import Profile

trace_option = click.option("--trace", metavar="FILE.json[.gz]", help="predict.option.trace")
"""``--trace``: the verb gets ``trace``, the file to write."""


def check_trace(path: str | None, beside: str | None, *inputs: object) -> bool:
    """Whether a trace is asked for; refuses one that cannot be written before any work is done.

    Args:
        path: the file to write, ``None`` where no trace is wanted.
        beside: a second system, which a trace does not go with.
        inputs: what the question is read from; those that are files are not overwritten.

    Raises:
        InputError: the file cannot be written or is an input, or two systems are compared.
    """
    if path is None:
        return False
    if beside is not None:
        raise InputError("trace.beside", place=Place(key="--trace"))
    check_writable(path, *(one for one in inputs if isinstance(one, str)))
    return True


def tell_trace(session: Session, path: str | None, question: Question, answer: Prediction, profile: Profile | None) -> None:
    """Write the trace (where one is asked for) of a plan that can run, and say where it is; a plan that cannot run has none."""
    if path is None:
        return
    if answer.status == "invalid":
        session.note(session.text("trace.not_written", path=path))
        return
    from tierspan.answers.traced import trace
    from tierspan.faces.exports.perfetto import write_trace

    size = write_trace(trace(question, profile=profile), path, lang=session.lang)
    session.note(session.text("trace.written", path=path, size=f"{size / 1e6:.2g}" if size < 1e6 else f"{size / 1e6:.1f}"))

"""Progress of work that takes minutes: bars on a terminal, a line for each step elsewhere; always on ``stderr``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tierspan.faces.cli.session import Session

if TYPE_CHECKING:
    from rich.progress import TaskID

Report = Callable[[str, int, int], None]


@contextmanager
def progress(session: Session, first: str) -> Iterator[Report]:
    """Yield a function that is told the message id of a stage, what is done and the whole.

    Args:
        session: the run.
        first: message id of the stage that begins now.
    """
    if not session.stderr.isatty():
        yield _in_lines(session)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from tierspan.faces.cli.render.console import make_console

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=make_console(session.stderr), transient=True) as bars:
        tasks: dict[str, TaskID] = {first: bars.add_task(session.text(first), total=None)}

        def report(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(session.text(stage), total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield report


def _in_lines(session: Session) -> Report:
    def report(stage: str, done: int, total: int) -> None:
        session.note(session.text("progress.step", stage=session.text(stage), done=done, total=total))

    return report

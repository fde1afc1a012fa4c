"""``--report FILE.html`` of the verbs about a job."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tierspan.answers.audit.result import Audit
    from tierspan.answers.results import Comparison, Fitting, Prediction, Scaling
    from tierspan.faces.cli.session import Session


def check_page(page: str | None, *inputs: str | None) -> None:
    """Check before the work that the page can be written and is none of the files that are read.

    Raises:
        InputError: it cannot be written.
    """
    if page is not None:
        from tierspan.faces.cli.outputs import check_writable

        check_writable(page, *(path for path in inputs if path is not None))


def write_report(
    session: Session, answer: Prediction | Fitting | Scaling | Comparison | Audit, page: str | None, *, placed: Prediction | None = None
) -> None:
    """Write the page of an answer where one was asked for, and tell where it is.

    Raises:
        InputError: the file cannot be written.
    """
    if page is None:
        return
    from tierspan.faces.report.answers import document
    from tierspan.faces.report.page import write_page

    command = shlex.join(["tierspan", *session.asked, *(["--lang", session.lang] if session.lang != "en" else [])])
    size = write_page(page, document(answer, session.lang, [command], placed=placed))
    session.note(session.text("page.written", path=page, size=f"{size / 1e6:.2g}"))

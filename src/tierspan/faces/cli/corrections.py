"""The answers of ``audit --interactive``: asked with one key each, kept in a JSON file."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tierspan.quantities.errors import InputError, Place

if TYPE_CHECKING:
    from tierspan.answers.audit.result import Audit
    from tierspan.faces.cli.session import Session


def read_corrections(path: str | None, *, writes: bool) -> dict[str, str]:
    """The corrections of a file; none where there is no file yet and one will be written.

    Raises:
        InputError: the file is missing, or is no object of texts.
    """
    if path is None or (writes and not Path(path).exists()):
        return {}
    place = Place(path)
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise InputError("audit.corrections_file", place=place, path=path, reason=str(problem)) from None
    if not isinstance(found, dict) or not all(isinstance(v, str) for v in found.values()):
        raise InputError("audit.corrections_file", place=place, path=path, reason="no object of texts")
    return dict(found)


def asked(session: Session, audit: Audit, given: Mapping[str, str], path: str) -> dict[str, str]:
    """Ask about each ambiguous or assumed figure that has other meanings, and keep the answers in ``path``.

    One key an answer: the number of a meaning, 0 for the reading as it is, Enter to leave it open. The end of the input ends the questions.
    """
    from tierspan.answers.audit.audit import place_of
    from tierspan.faces.cli.outputs import check_writable
    from tierspan.faces.cli.render.audit import meaning_text, value_text

    check_writable(path)
    answers = dict(given)
    open_ones = [r for r in audit.readings if r.alternatives and place_of(r) not in answers]
    if not open_ones:
        session.note(session.text("audit.nothing_to_ask"))
    for reading in open_ones:
        meanings = [value_text(reading.value_si, reading.unit_si, session.lang) + " " + meaning_text(reading, session.lang)]
        meanings += [value_text(a.value_si, a.unit_si, session.lang) + " " + _changes(a.changes, session.lang) for a in reading.alternatives]
        choices = session.text("list.comma").join(f"{i}: {text.strip()}" for i, text in enumerate(meanings))
        session.stderr.write(session.text("audit.ask", text=reading.text, line=reading.line, choices=choices))
        session.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            break
        key = line.strip()[:1]
        if key.isdigit() and int(key) < len(meanings):
            answers[place_of(reading)] = key
    Path(path).write_text(json.dumps(answers, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    session.note(session.text("audit.written", path=path))
    return answers


def _changes(changes: Mapping[str, str], lang: str) -> str:
    from tierspan.faces.cli.render.audit import field_text

    return " ".join(field_text(name, value, lang) for name, value in changes.items())

"""What a verb is given: the language, and where to write."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from tierspan.quantities import messages

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


@dataclass(frozen=True, slots=True)
class Session:
    """One run of the command: data goes to ``stdout``, everything said about it to ``stderr``."""

    lang: str = messages.DEFAULT_LANGUAGE
    stdout: TextIO = field(default_factory=lambda: sys.stdout)
    stderr: TextIO = field(default_factory=lambda: sys.stderr)
    asked: tuple[str, ...] = ()
    """The verb and its arguments as they were typed, for pages that tell how to make them again."""

    def text(self, message_id: str, /, **values: object) -> str:
        """A text of the catalogues in the language of this run."""
        return messages.fill(message_id, self.lang, values)

    def write(self, text: str) -> None:
        """Write one line of data."""
        self.stdout.write(text + "\n")

    def note(self, text: str) -> None:
        """Write one line about the data (progress, a warning)."""
        self.stderr.write(text + "\n")

    def json(self, answer: object) -> None:
        """Write an answer as one JSON object (see ``faces.cli.plain``)."""
        import json

        from tierspan.faces.cli.plain import plain

        self.write(json.dumps(plain(answer), indent=2, ensure_ascii=False, allow_nan=False))

    def show(self, *parts: RenderableType) -> None:
        """Write tables, bars and texts for people, each followed by an empty line but the last."""
        console = self.console()
        with console.capture() as capture:
            for index, part in enumerate(parts):
                if index:
                    console.print()
                console.print(part)
        text = capture.get()
        # Cells are padded to the width of their column; a file or pipe does not want the spaces at the end of a line.
        self.stdout.write(text if console.is_terminal else "".join(f"{line.rstrip()}\n" for line in text.splitlines()))

    def console(self) -> Console:
        """A Rich console on ``stdout``; NO_COLOR and COLUMNS hold, and a pipe gets plain text of a fixed width."""
        from tierspan.faces.cli.render.console import make_console

        return make_console(self.stdout)

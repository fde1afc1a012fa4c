"""The verbs in the order in which people meet them, found without importing them.

A verb is a file ``verbs/<name>.py`` whose ``command`` is a Click command. Its one-line question stands in the message catalogues
as ``cli.verb.<name>``, the texts of its options as the ids that the command declares as their help.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from tierspan.quantities.errors import UnknownNameError

if TYPE_CHECKING:
    import click

_FOLDER = Path(__file__).parent / "verbs"


@dataclass(frozen=True, slots=True)
class VerbGroup:
    """Verbs that stand together in the help; the heading is the message ``cli.group.<id>``."""

    id: str
    verbs: tuple[str, ...]


GROUPS = (
    VerbGroup("plan", ("audit", "predict", "fit", "scale", "plan", "serve")),
    VerbGroup("run", ("check", "compare")),
    VerbGroup("build", ("fabric", "operate", "collective")),
    VerbGroup("many", ("sweep", "runs")),
    VerbGroup("know", ("catalog", "validate", "calibrate", "schema")),
)


def available() -> tuple[str, ...]:
    """The verbs that this installation has, in the order of ``GROUPS``."""
    return tuple(verb for group in GROUPS for verb in group.verbs if (_FOLDER / f"{verb}.py").is_file())


def load(verb: str) -> click.Command:
    """Import the module of a verb and return its command.

    Raises:
        UnknownNameError: no such verb; the error suggests the nearest ones.
    """
    known = available()
    if verb not in known:
        from tierspan.quantities.errors import nearest_names

        message_id = "cli.verb.unknown_near" if nearest_names(verb, known) else "cli.verb.unknown"
        raise UnknownNameError(message_id, verb, known)
    command: click.Command = import_module(f"tierspan.faces.cli.verbs.{verb}").command
    return command

"""The options of the verbs that ask about a job: from the settings that scenario files have too."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from tierspan.formats.scenario.settings import SETTINGS, Setting
from tierspan.quantities.errors import Place

if TYPE_CHECKING:
    from tierspan.specs.profile.profile import Profile

F = TypeVar("F", bound=Callable[..., Any])
_HARDWARE: Final = (
    click.option("--system", metavar="ID|FILE", help="predict.option.system"),
    click.option("--accelerator", metavar="ID", help="predict.option.accelerator"),
    click.option("--nic", metavar="RATE", help="predict.option.nic"),
    click.option("--model", metavar="ID|FILE", help="predict.option.model"),
    click.option("--stack", metavar="ID", help="predict.option.stack"),
)
_FREE: Final = {"system": "--system", "accelerator": "--accelerator", "nic": "--nic", "model": "--model", "stack": "--stack"}
brief_option = click.option("--brief", is_flag=True, help="predict.option.brief")
"""``--brief``: the verb gets ``brief``."""
report_option = click.option("--report", "page", metavar="FILE.html", help="page.option.report")
"""``--report``: the verb gets ``page``, the file to write."""
profile_option = click.option("--profile", metavar="FILE", help="predict.option.profile")
"""``--profile``: the verb gets ``profile``, a file that ``calibrate`` wrote."""


def profile_of(path: str | None) -> Profile | None:
    """The constants of a file, or ``None`` for the shipped ones."""
    if path is None:
        return None
    from tierspan.specs.profile.load import load_profile

    return load_profile(path)


def question_options(*, without: tuple[str, ...] = ()) -> Callable[[F], F]:
    """Give a verb the argument SCENARIO and an option for every setting of a question (by its name), but those in ``without``."""

    def decorate(command: F) -> F:
        told = [*_HARDWARE, *(_option(setting) for setting in SETTINGS if setting.flags and setting.name not in without)]
        for option in reversed(told):
            command = option(command)
        return click.argument("scenario", required=False, metavar="[SCENARIO]")(command)

    return decorate


def written_at(name: str) -> Place:
    """The place of a value that came from the command line: its option."""
    spelled = _FREE.get(name) or next((s.flags[-1 if s.name == "accelerators" else 0] for s in SETTINGS if s.name == name and s.flags), name)
    return Place(key=spelled)


def _option(setting: Setting) -> Callable[[F], F]:
    text = f"predict.option.{setting.name}"
    if setting.kind == "flag":
        return click.option(*setting.flags, setting.name, is_flag=True, default=None, help=text)
    if setting.kind == "choice":
        return click.option(*setting.flags, setting.name, type=click.Choice(setting.choices), help=text)
    if setting.kind == "level":
        return click.option(
            *setting.flags, setting.name, type=click.IntRange(0, len(setting.choices) - 1), metavar=f"0..{len(setting.choices) - 1}", help=text
        )
    if setting.kind == "order":
        return click.option(*setting.flags, setting.name, metavar="ORDER", help=text)
    if setting.kind == "ratio":
        return click.option(*setting.flags, setting.name, type=float, metavar="X", help=text)
    if setting.kind == "share":
        return click.option(*setting.flags, setting.name, type=float, metavar="SHARE", help=text)
    if setting.kind == "amount":
        return click.option(*setting.flags, setting.name, metavar="N", help=text)
    return click.option(*setting.flags, setting.name, type=int, metavar="N", help=text)

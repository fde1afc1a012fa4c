"""Parse the arguments of one verb and run it."""

from __future__ import annotations

import sys

import click

from tierspan.faces.cli import registry
from tierspan.faces.cli.help import command_help
from tierspan.faces.cli.session import Session
from tierspan.faces.cli.usage import as_input_error


def invoke(verb: str, arguments: list[str], lang: str) -> int:
    """Run ``tierspan VERB ARGUMENTS`` and return its exit code (a verb that returns nothing is done: 0).

    Raises:
        InputError: the verb, an option or a value is wrong.
        KeyboardInterrupt: the user gave up.
    """
    command = registry.load(verb)
    if _asks_for_help(arguments):
        sys.stdout.write(command_help(command, verb, arguments, lang))
        return 0
    session = Session(lang, asked=(verb, *arguments))
    try:
        # Not command.main(): it turns a closed pipe into an exit of its own, and prints its own errors.
        with command.make_context(f"tierspan {verb}", list(arguments), obj=session) as context:
            result = command.invoke(context)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.Abort as abort:
        raise KeyboardInterrupt from abort
    except click.ClickException as problem:
        raise as_input_error(problem, verb) from problem
    return result if isinstance(result, int) else 0


def _asks_for_help(arguments: list[str]) -> bool:
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--help" in before or "-h" in before

"""Complaints of the parser as errors of tierspan: in the user's language, with the nearest known name."""

from __future__ import annotations

import re

import click

from tierspan.faces.cli.foreign_words import meant_by
from tierspan.quantities.errors import InputError, Place, UnknownNameError, nearest_names

_NOT_A_NUMBER = re.compile(r"^'(?P<value>.*)' is not a valid (?P<kind>integer|float)(?: range)?\.$", re.DOTALL)
_NOT_IN_RANGE = re.compile(r"^(?P<value>\S+) is not in the range (?P<range>.+)\.$")
_NOT_ONE_OF = re.compile(r"^'(?P<value>.*)' is not one of (?P<allowed>.+)\.$", re.DOTALL)


def as_input_error(problem: click.ClickException, verb: str) -> InputError:
    """The error of tierspan that says the same as this one of Click."""
    if isinstance(problem, click.NoSuchOption):
        return _unknown_option(problem.option_name, _option_names(problem.ctx), verb)
    if isinstance(problem, click.MissingParameter) and problem.param is not None:
        return InputError("cli.option.missing", key=_name(problem.param), verb=verb)
    if isinstance(problem, click.BadParameter) and problem.param is not None:
        return _bad_value(problem, _name(problem.param), verb)
    command = problem.ctx.command if isinstance(problem, click.UsageError) and problem.ctx is not None else None
    if isinstance(command, click.Group):
        unknown = re.search(r"No such command '(.*?)'", problem.message, re.DOTALL)
        if unknown:
            return _unknown("cli.subverb.unknown", unknown.group(1), list(command.commands), verb)
    extra = re.search(r"Got unexpected extra arguments? \((.*)\)", problem.message, re.DOTALL)
    if extra:
        return InputError("cli.argument.extra", value=extra.group(1), verb=verb)
    if isinstance(problem, click.BadOptionUsage):
        return InputError("cli.option.no_value", name=problem.option_name, verb=verb)
    return InputError("cli.usage.other", reason=problem.format_message(), verb=verb)


def _bad_value(problem: click.BadParameter, key: str, verb: str) -> InputError:
    place = Place(key=key)
    number = _NOT_A_NUMBER.match(problem.message)
    if number:
        message_id = "cli.value.not_integer" if number["kind"] == "integer" else "cli.value.not_number"
        return InputError(message_id, place=place, value=repr(number["value"]), verb=verb)
    limits = _NOT_IN_RANGE.match(problem.message)
    if limits:
        return InputError("cli.value.not_in_range", place=place, value=limits["value"], range=limits["range"], verb=verb)
    choice = _NOT_ONE_OF.match(problem.message)
    if choice:
        allowed = choice["allowed"].replace("'", "")
        near = nearest_names(choice["value"], allowed.split(", "))
        message_id = "cli.value.not_one_of_near" if near else "cli.value.not_one_of"
        return InputError(message_id, place=place, value=repr(choice["value"]), allowed=allowed, suggestions=", ".join(near), verb=verb)
    return InputError("cli.value.other", place=place, reason=problem.message, verb=verb)


def _unknown(message_id: str, name: str, known: list[str], verb: str) -> UnknownNameError:
    return UnknownNameError(f"{message_id}_near" if nearest_names(name, known) else message_id, name, known, verb=verb)


def _unknown_option(name: str, known: list[str], verb: str) -> InputError:
    """Names are compared without their dashes, which every option has; what other tools call an option goes first."""
    bare = {option.lstrip("-"): option for option in known if option.startswith("--")}
    near = meant_by(name, known) or [bare[word] for word in nearest_names(name.lstrip("-").replace("_", "-"), bare)]
    message_id = "cli.option.unknown_near" if near else "cli.option.unknown"
    return InputError(message_id, name=name, suggestions=", ".join(near), verb=verb)


def _option_names(context: click.Context | None) -> list[str]:
    if context is None:
        return []
    return ["--help", "--lang"] + [name for parameter in context.command.params if isinstance(parameter, click.Option) for name in parameter.opts]


def _name(parameter: click.Parameter) -> str:
    """An option as one writes it (its longest spelling), an argument in capitals."""
    if isinstance(parameter, click.Option):
        return max(parameter.opts, key=len)
    return (parameter.metavar or parameter.name or "").upper()

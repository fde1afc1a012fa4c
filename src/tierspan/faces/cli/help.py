"""The help pages, made from the message catalogues; the first one is printed without importing the parser."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING

from tierspan.faces.cli import registry
from tierspan.quantities.messages import fill, has, languages

if TYPE_CHECKING:
    import click

_MOST_COLUMNS = 120
_GENERAL = (("--lang {languages}", "cli.general.lang"), ("-h, --help", "cli.general.help"), ("-V, --version", "cli.general.version"))


def root_help(lang: str) -> str:
    """The page of ``tierspan --help``: the verbs that exist, each with its question."""
    lines = [_text("cli.about", lang), "", f"{_text('cli.usage', lang)}{_colon(lang)}{_text('cli.usage.root', lang)}"]
    verbs = registry.available()
    for group in registry.GROUPS:
        pairs = [(verb, _text(f"cli.verb.{verb}", lang)) for verb in group.verbs if verb in verbs]
        if pairs:
            lines += ["", _text(f"cli.group.{group.id}", lang), *_two_columns(pairs)]
    lines += ["", _text("cli.general", lang), *_two_columns(_general(lang)), "", _text("cli.exit", lang)]
    return "\n".join(lines) + "\n"


def command_help(command: click.Command, verb: str, arguments: list[str], lang: str) -> str:
    """The page of a verb, or of the verb inside it that the arguments lead to.

    The help of a command and of its options are message ids; a text that is no id is shown as it stands.
    """
    import click

    path, question = f"tierspan {verb}", f"cli.verb.{verb}"
    if isinstance(command, click.Group):
        inner = next((word for word in arguments if word in command.commands), None)
        if inner is not None:
            command, path, question = command.commands[inner], f"{path} {inner}", f"cli.verb.{verb}.{inner}"
    context = click.Context(command, info_name=path)
    given = [p for p in command.params if isinstance(p, click.Argument)]
    options = [p for p in command.params if isinstance(p, click.Option) and not p.hidden]
    usage = [path, *(_metavar(p, context) for p in given)]
    if isinstance(command, click.Group):
        usage.append(f"[{_text('cli.usage.subverb', lang)}]" if command.invoke_without_command else _text("cli.usage.subverb", lang))
    usage.append(_text("cli.usage.options", lang))
    lines = [_text(question, lang), "", f"{_text('cli.usage', lang)}{_colon(lang)}{' '.join(usage)}"]
    about = f"{question}.about"
    if has(about):
        lines += ["", *_wrap(_text(about, lang), 0)]
    if isinstance(command, click.Group):
        pairs = [(name, _text(f"{question}.{name}", lang)) for name in command.commands]
        lines += ["", _text("cli.subverbs", lang), *_two_columns(pairs)]
    told = [(_metavar(p, context), _text(f"{question}.{p.name}", lang)) for p in given if has(f"{question}.{p.name}")]
    if told:
        lines += ["", _text("cli.arguments", lang), *_two_columns(told)]
    if options:
        lines += ["", _text("cli.options", lang), *_two_columns([(_spelling(p, context), _meaning(p, context, lang)) for p in options])]
    lines += ["", _text("cli.general", lang), *_two_columns(_general(lang)[:2])]
    return "\n".join(lines) + "\n"


def _general(lang: str) -> list[tuple[str, str]]:
    return [(left.format(languages="|".join(languages())), _text(right, lang)) for left, right in _GENERAL]


def _spelling(option: click.Option, context: click.Context) -> str:
    names = ", ".join(sorted(option.opts, key=len))
    if option.is_flag and option.secondary_opts:
        return f"{names} / {', '.join(option.secondary_opts)}"
    return names if option.is_flag else f"{names} {option.make_metavar(context)}"


def _meaning(option: click.Option, context: click.Context, lang: str) -> str:
    parts = [_text(option.help or "", lang)]
    default = option.get_default(context, call=False)
    if option.required:
        parts.append(f"[{_text('cli.required', lang)}]")
    elif option.show_default and default is not None and not callable(default):
        parts.append(f"[{fill('cli.default', lang, {'value': default})}]")
    return " ".join(part for part in parts if part)


def _metavar(argument: click.Parameter, context: click.Context) -> str:
    return argument.make_metavar(context)


def _two_columns(pairs: list[tuple[str, str]]) -> list[str]:
    left = min(max((len(a) for a, _ in pairs), default=0), 34)
    lines = []
    for name, meaning in pairs:
        wrapped = _wrap(meaning, left + 4) or [""]
        head = f"  {name.ljust(left)}  "
        if len(name) > left:
            lines.append(f"  {name}")
            head = " " * (left + 4)
        lines.append((head + wrapped[0].lstrip()).rstrip())
        lines += wrapped[1:]
    return lines


def _wrap(text: str, indent: int) -> list[str]:
    width = min(shutil.get_terminal_size((_MOST_COLUMNS, 24)).columns, _MOST_COLUMNS)
    pad = " " * indent
    return textwrap.wrap(text, max(width, indent + 30), initial_indent=pad, subsequent_indent=pad, break_on_hyphens=False)


def _text(message_id: str, lang: str) -> str:
    return fill(message_id, lang, {}) if has(message_id) else message_id


def _colon(lang: str) -> str:
    return fill("render.colon", lang, {})

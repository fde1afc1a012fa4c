"""The command line: every verb with its question, usage, arguments and options, from Click and the message catalogues."""

from __future__ import annotations

import click

from reference.markdown import block, code, page, plain, table
from tierspan.faces.cli import registry
from tierspan.quantities.messages import fill, has, languages


def commands_page(lang: str) -> str:
    """All verbs in the order of the help, after the options that every one of them takes."""
    general = [
        (code(f"--lang {'|'.join(languages())}"), _text("cli.general.lang", lang)),
        (code("-h, --help"), _text("cli.general.help", lang)),
        (code("-V, --version"), _text("cli.general.version", lang)),
    ]
    parts = [f"## {_text('cli.general', lang)}", table(_heads("cli.options", lang), general), _text("cli.exit", lang)]
    present = registry.available()
    for group in registry.GROUPS:
        verbs = [verb for verb in group.verbs if verb in present]
        if verbs:
            parts.append(f"## {_text(f'cli.group.{group.id}', lang)}")
            parts += [_verb(registry.load(verb), f"tierspan {verb}", f"cli.verb.{verb}", lang) for verb in verbs]
    return page(*parts)


def _verb(command: click.Command, path: str, question: str, lang: str, level: int = 3) -> str:
    context = click.Context(command, info_name=path)
    arguments = [p for p in command.params if isinstance(p, click.Argument)]
    options = [p for p in command.params if isinstance(p, click.Option) and not p.hidden]
    usage = [path, *(p.make_metavar(context) for p in arguments), _text("cli.usage.options", lang)]
    inner = command.commands if isinstance(command, click.Group) else {}
    if inner:
        usage.insert(-1, "[" + "|".join(inner) + "]")
    told = [(code(p.make_metavar(context)), _text(f"{question}.{p.name}", lang)) for p in arguments if has(f"{question}.{p.name}")]
    return page(
        f"{'#' * level} {path}",
        plain(_text(question, lang)),
        block(" ".join(usage)),
        plain(_text(f"{question}.about", lang)) if has(f"{question}.about") else "",
        table(_heads("cli.arguments", lang), [(name, plain(meaning)) for name, meaning in told]),
        table(_heads("cli.options", lang), [_option(p, context, lang) for p in options]),
        *(_verb(c, f"{path} {name}", f"{question}.{name}", lang, level + 1) for name, c in inner.items()),
    )


def _option(option: click.Option, context: click.Context, lang: str) -> tuple[str, str]:
    names = [*sorted(option.opts, key=len), *option.secondary_opts]
    taken = f"{option.type.min}..{option.type.max}" if isinstance(option.type, click.IntRange) else option.make_metavar(context)
    value = "" if option.is_flag else f" {taken}"
    meaning = [_text(option.help or "", lang)]
    if option.required:
        meaning.append(f"[{_text('cli.required', lang)}]")
    default = option.get_default(context, call=False)
    if option.show_default and default is not None and not callable(default):
        meaning.append(f"[{fill('cli.default', lang, {'value': default})}]")
    return "<br>".join(code(name + (value if name == names[-1] else "")) for name in names), plain(" ".join(meaning))


def _heads(message_id: str, lang: str) -> tuple[str, str]:
    return _text(message_id, lang), {"zh": "含义"}.get(lang, "Meaning")


def _text(message_id: str, lang: str) -> str:
    return fill(message_id, lang, {}) if has(message_id) else message_id

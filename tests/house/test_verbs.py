"""Every verb is listed, has its texts, and shows a help page in both languages."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from tierspan.faces.cli import registry
from tierspan.faces.cli.help import command_help, root_help
from tierspan.quantities.messages import catalogue, has, languages

FOLDER = Path(registry.__file__).parent / "verbs"


def commands() -> list[tuple[str, str, click.Command]]:
    """Verb, message id of its question, command: the verbs and those inside them."""
    found: list[tuple[str, str, click.Command]] = []
    for verb in registry.available():
        command = registry.load(verb)
        found.append((verb, f"cli.verb.{verb}", command))
        if isinstance(command, click.Group):
            found += [(verb, f"cli.verb.{verb}.{name}", inner) for name, inner in command.commands.items()]
    return found


COMMANDS = [pytest.param(*row, id=row[1].removeprefix("cli.verb.")) for row in commands()]


def test_every_file_of_a_verb_is_listed():
    files = {path.stem for path in FOLDER.glob("*.py")} - {"__init__"}
    assert files == set(registry.available())


@pytest.mark.parametrize("lang", languages())
def test_every_planned_verb_and_group_has_a_text(lang: str):
    ids = {f"cli.group.{group.id}" for group in registry.GROUPS} | {f"cli.verb.{verb}" for group in registry.GROUPS for verb in group.verbs}
    assert ids <= catalogue(lang).keys()


@pytest.mark.parametrize("lang", languages())
def test_the_first_page_names_every_verb(lang: str):
    page = root_help(lang)
    for verb in registry.available():
        assert f"  {verb} " in page
        assert catalogue(lang)[f"cli.verb.{verb}"] in page


@pytest.mark.parametrize(("verb", "question", "command"), COMMANDS)
def test_every_option_and_question_has_a_text(verb: str, question: str, command: click.Command):
    assert has(question)
    without = [p.opts for p in command.params if isinstance(p, click.Option) and not p.hidden and not has(p.help or "")]
    assert without == []


@pytest.mark.parametrize("lang", languages())
@pytest.mark.parametrize(("verb", "question", "command"), COMMANDS)
def test_the_help_page_tells_every_option(verb: str, question: str, command: click.Command, lang: str):
    inner = question.removeprefix(f"cli.verb.{verb}").lstrip(".")
    page = command_help(registry.load(verb), verb, [inner] if inner else [], lang)
    assert page.startswith(catalogue(lang)[question])
    for option in command.params:
        if isinstance(option, click.Option):
            assert max(option.opts, key=len) in page

"""``tierspan catalog``: what is known of accelerators, systems and models, every figure with its source."""

from __future__ import annotations

from typing import Literal, get_args

import click

from tierspan.answers import catalog as answers
from tierspan.faces.cli.options import json_option
from tierspan.faces.cli.session import Session
from tierspan.specs.catalog import own_parts
from tierspan.specs.model import ModelSpec

Kind = answers.Kind | answers.PartKind | Literal["model", "stack"]
_KINDS = (*get_args(answers.Kind), *get_args(answers.PartKind), "model", "stack")
_PARTS = click.option("--parts", "parts", multiple=True, metavar="FILE.csv", help="cli.option.catalog_parts")


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> int:
    """Without a verb inside it: the list."""
    if context.invoked_subcommand is None:
        return _list(context.obj, None, None, as_json=as_json)
    return 0


@command.command("list")
@click.argument("pattern", required=False)
@click.option("--kind", type=click.Choice(_KINDS), help="cli.option.catalog_kind")
@_PARTS
@json_option
@click.pass_obj
def list_entries(session: Session, pattern: str | None, kind: Kind | None, parts: tuple[str, ...], as_json: bool) -> int:
    """The accelerators, systems, parts, models and software stacks that match."""
    with own_parts(*parts):
        return _list(session, pattern, kind, as_json=as_json)


@command.command("show")
@click.argument("name", metavar="ID")
@_PARTS
@json_option
@click.pass_obj
def show(session: Session, name: str, parts: tuple[str, ...], as_json: bool) -> int:
    """One of them with every figure and its source."""
    with own_parts(*parts):
        sheet = answers.show(name)
    if as_json:
        session.json(sheet.to_dict(session.lang))
        return 0
    from tierspan.faces.cli.render import part_sheets, sheets

    if isinstance(sheet, answers.PartSheet):
        session.show(*part_sheets.part(sheet, session.lang))
    elif isinstance(sheet, answers.AcceleratorSheet):
        session.show(*sheets.accelerator(sheet, session.lang))
    else:
        session.show(*sheets.system(sheet, session.lang))
    return 0


@command.command("compare")
@click.argument("names", nargs=-1, required=True, metavar="A B...")
@_PARTS
@json_option
@click.pass_obj
def compare(session: Session, names: tuple[str, ...], parts: tuple[str, ...], as_json: bool) -> int:
    """Two or more of them side by side on one basis."""
    from tierspan.answers.catalog_compare.comparison import compare_parts

    with own_parts(*parts):
        answer = compare_parts(*names)
    if as_json:
        session.json(answer)
        return 0
    from tierspan.faces.cli.render import parts_compared

    session.show(*parts_compared.comparison(answer, session.lang))
    return 0


@command.command("model")
@click.argument("file_or_id", metavar="FILE_OR_ID")
@click.option("--seq-len", "sequence_length", type=click.IntRange(min=1), metavar="N", help="flops.option.seq_len")
@json_option
@click.pass_obj
def model(session: Session, file_or_id: str, sequence_length: int | None, as_json: bool) -> int:
    """A model by id, or from its config.json."""
    from tierspan.answers.model import describe_model

    answer = describe_model(file_or_id, sequence_length=sequence_length)
    if as_json:
        session.json(answer.to_dict(session.lang))
        return 0
    from tierspan.faces.cli.render import models

    session.show(*models.model(answer, session.lang))
    return 0


def _list(session: Session, pattern: str | None, kind: Kind | None, *, as_json: bool) -> int:
    from tierspan.answers.stack_list import list_stacks

    found = answers.CatalogList(()) if kind == "model" or kind == "stack" else answers.list_catalog(kind, pattern)
    models = _models(pattern) if kind in (None, "model") else []
    stacks = list_stacks(pattern) if kind in (None, "stack") else ()
    if as_json:
        session.json({**found.to_dict(), "models": [{"id": m.id, "name": m.name} for m in models], "stacks": stacks})
        return 0
    if not found.entries and not found.parts and not models and not stacks:
        session.note(session.text("cli.catalog.nothing", pattern=pattern or ""))
        return 1
    from tierspan.faces.cli.render import part_sheets, sheets

    session.show(*sheets.entries(found, models, stacks, session.lang), *part_sheets.entries(found.parts, session.lang))
    return 0


def _models(pattern: str | None) -> list[ModelSpec]:
    from fnmatch import fnmatchcase

    from tierspan.specs.models import model, model_ids

    listed = [model(name) for name in model_ids()]
    if pattern is None:
        return listed
    wanted = pattern.casefold()
    if not any(letter in wanted for letter in "*?["):
        wanted = f"*{wanted}*"
    return [m for m in listed if fnmatchcase(m.id.casefold(), wanted) or fnmatchcase(m.name.casefold(), wanted)]

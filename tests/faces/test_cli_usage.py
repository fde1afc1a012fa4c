"""Complaints of the parser, told in our words."""

from __future__ import annotations

import click
import pytest

from tierspan.faces.cli import registry
from tierspan.faces.cli.foreign_words import MEANT
from tierspan.faces.cli.usage import as_input_error
from tierspan.quantities.messages import render_error


@click.command()
@click.option("-n", "--accelerators", type=int, required=True)
@click.option("--share", type=float)
@click.option("--size", type=click.IntRange(1, 8))
@click.option("--precision", type=click.Choice(["bf16", "fp8"]))
@click.option("--odd", type=click.UUID)
@click.argument("file")
def one(**_given: object) -> None:
    """A verb."""


@click.group()
def many() -> None:
    """A verb of verbs."""


many.add_command(click.Command("show"))
GOOD = ["-n", "8", "f"]


def complaint(arguments: list[str], lang: str = "en", command: click.Command = one) -> str:
    with pytest.raises(click.ClickException) as caught, command.make_context("verb", list(arguments)) as context:
        command.invoke(context)
    return render_error(as_input_error(caught.value, "verb"), lang)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["f"], "error: --accelerators is required\n  remedy: Add --accelerators; see tierspan verb --help."),
        (["-n", "8"], "error: FILE is required\n  remedy: Add FILE; see tierspan verb --help."),
        (["-n", "1k", "f"], "error: --accelerators: '1k' is not a whole number\n  remedy: Write a whole number, without separators or unit."),
        ([*GOOD, "--share", "x"], "error: --share: 'x' is not a number\n  remedy: Write a number, without separators or unit."),
        ([*GOOD, "--size", "9"], "error: --size: 9 is out of range: 1<=x<=8\n  remedy: Write a number in this range."),
        ([*GOOD, "--size", "x"], "error: --size: 'x' is not a whole number\n  remedy: Write a whole number, without separators or unit."),
        ([*GOOD, "--precision", "fp88"], "error: --precision: 'fp88' is none of bf16, fp8\n  remedy: Did you mean fp8?"),
        ([*GOOD, "--precision", "qqq"], "error: --precision: 'qqq' is none of bf16, fp8\n  remedy: Write one of: bf16, fp8."),
        ([*GOOD, "--odd", "q"], "error: --odd: 'q' is not a valid UUID.\n  remedy: See tierspan verb --help."),
        ([*GOOD, "--share"], "error: --share needs a value\n  remedy: Write a value after --share."),
        ([*GOOD, "--shore", "1"], "error: the option --shore is not known to tierspan verb\n  remedy: Did you mean --share?"),
        ([*GOOD, "--qqq"], "error: the option --qqq is not known to tierspan verb\n  remedy: See tierspan verb --help."),
        ([*GOOD, "g"], "error: g is one argument too many\n  remedy: See tierspan verb --help."),
    ],
)
def test_messages(arguments: list[str], message: str):
    assert complaint(arguments) == message


@pytest.mark.parametrize(
    ("verb", "word", "meant"),
    [
        *((verb, word, "-n, --accelerators") for verb in ("predict", "fit", "scale") for word in ("--gpus", "--gpu", "--num-gpus", "--world-size")),
        ("predict", "--nodes", "-n, --node-size"),
        ("predict", "--nnodes", "-n, --node-size"),
        ("predict", "--nproc_per_node", "--node-size"),
        ("predict", "--batch-size", "--global-batch, --micro-batch"),
        ("predict", "--seqlen", "--seq-len"),
        ("predict", "--max_seq_len", "--seq-len"),
        ("predict", "--dtype", "--precision"),
        ("predict", "--bf16", "--precision"),
        ("predict", "--tensor-parallel-degree", "--tp"),
        ("collective", "--gpus", "-n, --ranks"),
        ("collective", "--gpus-per-node", "--per-node"),
        ("collective", "--algo", "--algorithm"),
    ],
)
def test_words_of_other_tools(verb: str, word: str, meant: str):
    text = complaint([word, "8"], command=registry.load(verb))
    assert text == f"error: the option {word} is not known to tierspan verb\n  remedy: Did you mean {meant}?"


def test_every_word_means_an_option_of_some_verb():
    options = {o for verb in registry.available() for p in registry.load(verb).params if isinstance(p, click.Option) for o in p.opts}
    assert {word for word, meant in MEANT.items() if not options & set(meant)} == set()
    # What some verb has is never explained away there: the parser takes it.
    assert all(not word.startswith("-") and word == word.casefold() for word in MEANT)


def test_verbs_inside_a_verb():
    assert complaint(["shwo"], command=many) == "error: tierspan verb has no verb shwo\n  remedy: Did you mean show?"
    assert complaint(["qqq"], command=many) == "error: tierspan verb has no verb qqq\n  remedy: See tierspan verb --help."


def test_chinese():
    assert complaint(["-n", "1k", "f"], "zh") == "错误：--accelerators：'1k' 不是整数\n  处理办法：请填写整数，不带分隔符和单位。"

"""The entry: exit codes, streams, language, and faults that stay polite."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

import tierspan
from tierspan.faces.cli import main as entry
from tierspan.faces.cli import registry
from tierspan.quantities.errors import TierspanError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def verb(monkeypatch: pytest.MonkeyPatch):
    """Give the verb ``schema`` another body."""

    def put(body) -> None:
        monkeypatch.setattr(registry, "load", lambda name: click.Command(name, callback=body))

    return put


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("TIERSPAN_LANG", raising=False)
    monkeypatch.delenv("TIERSPAN_DEBUG", raising=False)


def test_help_goes_to_stdout(capsys):
    assert entry.main(["--help"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("tierspan tells what an AI cluster will deliver")
    assert err == ""


def test_no_verb_is_wrong_usage(capsys):
    assert entry.main([]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Usage: tierspan VERB" in err


def test_version(capsys):
    assert entry.main(["--version"]) == 0
    assert capsys.readouterr().out == f"tierspan {tierspan.__version__}\n"


@pytest.mark.parametrize("arguments", [["--lang", "zh", "--help"], ["--help", "--lang=zh"]])
def test_language_may_stand_anywhere(arguments, capsys):
    assert entry.main(arguments) == 0
    assert "用法：" in capsys.readouterr().out


@pytest.mark.parametrize("value", ["zh", "zh_CN.UTF-8", "zh-CN", "ZH"])
def test_language_from_the_environment(value, monkeypatch, capsys):
    monkeypatch.setenv("TIERSPAN_LANG", value)
    assert entry.main(["--help"]) == 0
    assert "用法：" in capsys.readouterr().out


def test_the_option_beats_the_environment(monkeypatch, capsys):
    monkeypatch.setenv("TIERSPAN_LANG", "zh")
    assert entry.main(["--lang", "en", "--help"]) == 0
    assert "Usage: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["shcema"], "error: the verb shcema is not known\n  remedy: Did you mean schema? tierspan --help lists the verbs.\n"),
        (["qqq"], "error: the verb qqq is not known\n  remedy: tierspan --help lists the verbs.\n"),
        (
            ["--quiet", "schema"],
            "error: --quiet stands before the verb\n  remedy: Write the verb first: tierspan VERB --quiet ...; tierspan --help lists the verbs.\n",
        ),
        (["--lang", "fr"], "error: --lang: there are no texts in the language fr\n  remedy: Use one of: en, zh.\n"),
        (["--lang", ""], "error: --lang: there are no texts in the language \n  remedy: Use one of: en, zh.\n"),
        (["--lang"], "error: --lang needs a value\n  remedy: Write a value after --lang.\n"),
        (["schema", "--hlep"], "error: the option --hlep is not known to tierspan schema\n  remedy: Did you mean --help?\n"),
        (["schema", "a", "b"], "error: b is one argument too many\n  remedy: See tierspan schema --help.\n"),
    ],
)
def test_wrong_usage(arguments, message, capsys):
    assert entry.main(arguments) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", message)


def test_wrong_usage_in_chinese(capsys):
    assert entry.main(["schema", "--hlep", "--lang", "zh"]) == 2
    assert capsys.readouterr().err == "错误：tierspan schema 没有选项 --hlep\n  处理办法：您是否想写 --help？\n"


def test_an_empty_environment_variable_means_english(monkeypatch, capsys):
    monkeypatch.setenv("TIERSPAN_LANG", "")
    assert entry.main(["--version"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("returned", "code"), [(None, 0), (0, 0), (1, 1)])
def test_the_verb_decides_the_exit_code(verb, returned, code):
    verb(lambda: returned)
    assert entry.main(["schema"]) == code


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, click.Abort])
def test_interruption(verb, interrupt):
    def body():
        raise interrupt

    verb(body)
    assert entry.main(["schema"]) == 130


def test_a_fault_is_told_without_traceback(verb, capsys):
    def body():
        raise ZeroDivisionError("division by zero")

    verb(body)
    assert entry.main(["schema"]) == 70
    err = capsys.readouterr().err
    assert err.startswith(f"tierspan {tierspan.__version__} has a fault: ZeroDivisionError: division by zero\n")
    assert "report it with this command and its files: tierspan schema\n" in err
    assert "Traceback" not in err


def test_debug_shows_the_traceback(verb, monkeypatch, capsys):
    def body():
        raise ZeroDivisionError

    monkeypatch.setenv("TIERSPAN_DEBUG", "1")
    verb(body)
    assert entry.main(["schema"]) == 70
    assert "Traceback" in capsys.readouterr().err


def test_an_error_without_message_id_still_exits_with_2(verb, capsys):
    def body():
        raise TierspanError("plain words")

    verb(body)
    assert entry.main(["schema"]) == 2
    assert capsys.readouterr().err == "plain words\n"


@pytest.mark.skipif(os.name != "posix", reason="pipes close differently elsewhere")
def test_a_closed_pipe_is_no_fault():
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-m", "tierspan", "--help"], cwd=ROOT, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")

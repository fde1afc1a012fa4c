"""The entry of the command: language, verb, errors, exit code.

Exit codes: 0 done, 1 the answer is no, 2 the input cannot be read or the usage is wrong, 70 a fault of tierspan, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from tierspan.faces.cli.language import take_language
from tierspan.quantities import messages
from tierspan.quantities.errors import InputError, TierspanError

DEBUG_VARIABLE = "TIERSPAN_DEBUG"
EXIT_DONE = 0
EXIT_USAGE = 2
EXIT_FAULT = 70
EXIT_INTERRUPTED = 130


def run() -> NoReturn:
    """Run the command with the arguments of this process, and exit."""
    # The laws are element-wise: threads of a linear algebra library would cost a third of the CPU time of a start and do nothing.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    code = main(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_stdout()
    sys.exit(code)


def main(arguments: list[str]) -> int:
    """Run the command with these arguments and return the exit code; no exception leaves it but ``SystemExit``."""
    lang = messages.DEFAULT_LANGUAGE
    try:
        lang, rest = take_language(arguments, os.environ)
        return _dispatch(rest, lang)
    except BrokenPipeError:
        _drop_stdout()
        return EXIT_DONE
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return EXIT_INTERRUPTED
    except InputError as error:
        sys.stderr.write(messages.render_error(error, lang) + "\n")
        return error.exit_code
    except TierspanError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    except Exception as fault:
        return _report_fault(fault, arguments, lang)


def _dispatch(arguments: list[str], lang: str) -> int:
    from tierspan.faces.cli import help as help_pages

    if not arguments:
        sys.stderr.write(help_pages.root_help(lang))
        return EXIT_USAGE
    first = arguments[0]
    if first in ("-h", "--help"):
        sys.stdout.write(help_pages.root_help(lang))
        return EXIT_DONE
    if first in ("-V", "--version"):
        from tierspan import __version__

        sys.stdout.write(f"tierspan {__version__}\n")
        return EXIT_DONE
    if first.startswith("-"):
        raise InputError("cli.option.before_verb", name=first)
    from tierspan.faces.cli.invoke import invoke

    return invoke(first, arguments[1:], lang)


def _report_fault(fault: Exception, arguments: list[str], lang: str) -> int:
    from tierspan import __version__

    if os.environ.get(DEBUG_VARIABLE, "") not in ("", "0"):
        import traceback

        traceback.print_exception(fault, file=sys.stderr)
    values = {
        "fault": f"{type(fault).__name__}: {fault}",
        "version": __version__,
        "command": " ".join(["tierspan", *arguments]),
        "variable": DEBUG_VARIABLE,
    }
    sys.stderr.write(messages.fill("cli.fault", lang, values) + "\n")
    return EXIT_FAULT


def _drop_stdout() -> None:
    """The reader has gone (``tierspan ... | head``): let the last flush of the interpreter write to nowhere."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115

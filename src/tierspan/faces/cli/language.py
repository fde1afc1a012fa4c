"""The language of a run: ``--lang``, else ``TIERSPAN_LANG``, else English."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tierspan.quantities.errors import InputError, Place, UnknownNameError
from tierspan.quantities.messages import DEFAULT_LANGUAGE, languages

LANGUAGE_OPTION: Final = "--lang"
LANGUAGE_VARIABLE: Final = "TIERSPAN_LANG"


def take_language(arguments: list[str], environment: Mapping[str, str]) -> tuple[str, list[str]]:
    """Pick ``--lang`` out of the arguments, wherever it stands, and return the language and the rest.

    The language must be known before anything else is read, for complaints about the rest are written in it. The last ``--lang`` wins,
    then ``TIERSPAN_LANG`` (``zh_CN.UTF-8`` counts as ``zh``), then English.

    Raises:
        InputError: ``--lang`` without a value.
        UnknownNameError: a language without texts.
    """
    chosen, place = environment.get(LANGUAGE_VARIABLE, ""), LANGUAGE_VARIABLE
    rest: list[str] = []
    index = 0
    while index < len(arguments):
        argument = arguments[index]
        if argument == "--":
            rest += arguments[index:]
            break
        if argument == LANGUAGE_OPTION:
            if index + 1 == len(arguments):
                raise InputError("cli.option.no_value", name=LANGUAGE_OPTION)
            index += 1
            chosen, place = arguments[index], LANGUAGE_OPTION
        elif argument.startswith(f"{LANGUAGE_OPTION}="):
            chosen, place = argument.partition("=")[2], LANGUAGE_OPTION
        else:
            rest.append(argument)
        index += 1
    return _language(chosen, place), rest


def _language(chosen: str, place: str) -> str:
    if not chosen and place == LANGUAGE_VARIABLE:
        return DEFAULT_LANGUAGE
    short = chosen.replace("-", "_").partition("_")[0].partition(".")[0].lower()
    if short in languages():
        return short
    raise UnknownNameError("cli.lang.unknown", chosen, languages(), place=Place(key=place), listed=", ".join(languages()))

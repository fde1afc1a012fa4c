"""The message catalogues: every text that a user reads, in English and Chinese.

A catalogue is the union of the flat JSON files of a language folder (``en/*.json``, ``zh/*.json``): id -> text with
``str.format`` placeholders. The id of an error or finding has a second entry ``<id>.remedy``. A user never meets a
failure of this module: an unknown id or a missing placeholder falls back to the id with its values, unless
``set_strict(True)`` (the tests) asks for an exception.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Formatter

from tierspan.quantities.errors import InputError, Place
from tierspan.quantities.findings import Finding, Phrase

DEFAULT_LANGUAGE = "en"
_FOLDER = Path(__file__).parent
_FORMATTER = Formatter()
_CHINESE = re.compile("[\u4e00-\u9fff]")
_NO_WORD = re.compile("[^a-z0-9]+")
_PHRASES = frozenset({"assumed", "expected", "found"})
"""Placeholders whose values are phrases of the catalogue or of the reader of a file, see ``word``."""
_strict = False


class UnknownMessageError(KeyError):
    """A message id that no catalogue holds, or a text whose placeholders were not all given; raised only where strict."""


def set_strict(strict: bool) -> bool:
    """Raise on unknown ids and missing placeholders instead of falling back; returns the earlier setting."""
    global _strict
    earlier, _strict = _strict, strict
    return earlier


@cache
def languages() -> tuple[str, ...]:
    """The languages that have a catalogue, the default one first."""
    found = sorted(folder.name for folder in _FOLDER.iterdir() if any(folder.glob("*.json")))
    return tuple(sorted(found, key=lambda name: name != DEFAULT_LANGUAGE))


@cache
def catalogue(lang: str) -> Mapping[str, str]:
    """All texts of a language, read once; empty for a language that has none."""
    texts: dict[str, str] = {}
    for path in sorted((_FOLDER / lang).glob("*.json")) if lang in languages() else ():
        texts.update(json.loads(path.read_text(encoding="utf-8")))
    return texts


def has(message_id: str) -> bool:
    """Whether the default catalogue holds this id."""
    return message_id in catalogue(DEFAULT_LANGUAGE)


def fill(message_id: str, lang: str, values: Mapping[str, object]) -> str:
    """The text of ``message_id`` with its placeholders filled from ``values``; the values may have any name."""
    template = catalogue(lang).get(message_id)
    if template is None:
        template = catalogue(DEFAULT_LANGUAGE).get(message_id)
    if template is None:
        if _strict:
            raise UnknownMessageError(f"no text for message id {message_id!r}")
        return _bare(message_id, values)
    values = {name: fill(value.id, lang, value.values) if isinstance(value, Phrase) else value for name, value in values.items()}
    try:
        if lang == DEFAULT_LANGUAGE:
            return template.format_map(values)
        return _without_stray_blanks(template, {name: _worded(name, value, lang) for name, value in values.items()})
    except (LookupError, ValueError, TypeError, AttributeError) as problem:
        if _strict:
            raise UnknownMessageError(f"message {message_id!r}: cannot fill {template!r} from {sorted(values)}: {problem!r}") from problem
        return _bare(message_id, values)


def word(english: str, lang: str) -> str:
    """A word or phrase that stands in data or code in English, in another language; as it is where no catalogue has it."""
    return catalogue(lang).get(f"word.{_NO_WORD.sub('_', english.casefold()).strip('_')}", english)


def _worded(name: str, value: object, lang: str) -> object:
    return word(value, lang) if name in _PHRASES and isinstance(value, str) else value


def _without_stray_blanks(template: str, values: Mapping[str, object]) -> str:
    """The filled template; a blank between a value and the text around it goes where both are Chinese (``3 小时`` before ``至``)."""
    parts: list[str] = []
    after_value = False
    for literal, name, spec, conversion in _FORMATTER.parse(template):
        if after_value and _blank_between(parts[-1], literal):
            literal = literal[1:]
        parts.append(literal)
        after_value = name is not None
        if name is None:
            continue
        field = f"{{{name}{'!' + conversion if conversion else ''}{':' + spec if spec else ''}}}"
        value = field.format_map(values)
        if literal.endswith(" ") and _CHINESE.match(literal[-2:-1]) and _CHINESE.match(value):
            parts[-1] = literal[:-1]
        parts.append(value)
    return "".join(parts)


def _blank_between(before: str, after: str) -> bool:
    return after.startswith(" ") and bool(_CHINESE.match(before[-1:]) and _CHINESE.match(after[1:2]))


def text(message_id: str, /, lang: str = DEFAULT_LANGUAGE, **values: object) -> str:
    """The text of ``message_id`` in ``lang`` (the default language where that one lacks it), placeholders filled."""
    return fill(message_id, lang, values)


def render_error(error: InputError, lang: str = DEFAULT_LANGUAGE) -> str:
    """``error: <place>: <rule with value>`` and, on a second line, ``  remedy: <remedy>``."""
    return _render("error", error.message_id, error.place, error.values, lang)


def render_finding(finding: Finding, lang: str = DEFAULT_LANGUAGE) -> str:
    """As ``render_error``, headed by the severity of the finding."""
    return _render(finding.severity, finding.id, finding.place, finding.values, lang)


def _render(severity: str, message_id: str, place: Place, values: Mapping[str, object], lang: str) -> str:
    colon = fill("render.colon", lang, {})
    where = str(place)
    # Where nothing that is known comes near, the sentence says so instead of ending in an empty list.
    far = f"{message_id}.far"
    rule = far if values.get("suggestions") == "" and has(far) else message_id
    lines = [fill(f"severity.{severity}", lang, {}) + colon + (where + colon if where else "") + fill(rule, lang, values)]
    remedy_id = f"{message_id}.remedy"
    if has(remedy_id):
        lines.append("  " + fill("render.remedy", lang, {}) + colon + fill(remedy_id, lang, values))
    return "\n".join(lines)


def _bare(message_id: str, values: Mapping[str, object]) -> str:
    """What is shown where no text can be made: the id and every value."""
    if not values:
        return message_id
    return f"{message_id} ({', '.join(f'{name}={value}' for name, value in values.items())})"

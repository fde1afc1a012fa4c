"""Templates and words to text: one statement looks as a real sheet might, and always the same for the same case."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from typing import Final, cast

from tierspan.answers.audit.trial.base import Amount, Language, Part, Slot, Slots, Word
from tierspan.answers.audit.trial.facts import DATA

SLOT: Final = re.compile(r"<([a-z0-9_]+)>")
_FILES: Final[Mapping[Part, str]] = {"tuned": "tuned.txt", "held-out": "held_out.txt"}
_EMPTY: Final[tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]] = (
    (re.compile(r"[ \t]*(?:\(\s*\)|（\s*）)"), ""),
    (re.compile(r"\(\s*[,;]\s*|\s*[,;]\s*\)"), lambda m: "(" if m[0].startswith("(") else ")"),
    (re.compile(r"（\s*[，、]\s*"), "（"),
    (re.compile(r"(?<=\S)[ \t]{2,}(?=[a-z(])|[ \t]+$|[,，;；][ \t]*$", re.MULTILINE), lambda m: " " if m[0].isspace() and len(m[0]) > 1 else ""),
    (re.compile(r"\s+([,.;，。；])"), r"\1"),
)
_FULL_WIDTH: Final = {ord(c): ord(c) + 0xFEE0 for c in "0123456789"}


@dataclass(frozen=True, slots=True)
class Template:
    """Words with ``<slots>``; ``form`` is the ending of a file of this kind."""

    id: str
    family: str
    language: Language
    form: str
    text: str

    @property
    def slots(self) -> frozenset[str]:
        """Names that the text shows."""
        return frozenset(SLOT.findall(self.text))


def spread(*keys: str) -> int:
    """A number that depends on the keys alone: the same on every machine and in every run."""
    return int.from_bytes(blake2b("\x1f".join(keys).encode(), digest_size=8).digest(), "big")


@cache
def templates(part: Part) -> tuple[Template, ...]:
    """The templates of one part, in the order of their file."""
    found = []
    for number, block in enumerate(re.split(r"^=== ", (DATA / _FILES[part]).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:], start=1):
        head, text = block.split("\n", 1)
        family, language, *form = head.split()
        found.append(Template(f"{part}-{number:03d}", family, cast("Language", language), form[0] if form else "txt", text.rstrip("\n")))
    return tuple(found)


@cache
def _words() -> Mapping[tuple[str, str], tuple[str, ...]]:
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    with (DATA / "words.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            key = (row["word"], row["language"])
            found[key] = (*found.get(key, ()), row["text"])
    return found


def rendered(template: Template, slots: Slots, key: str) -> str:
    """The template with its slots filled; ``key`` settles the manner (spaces, separators, choice of words)."""
    text = _filled(template.text, template, slots, key)
    if template.form in ("txt", "md"):
        # What an empty word leaves behind: brackets, commas, blanks.
        for pattern, instead in _EMPTY:
            text = pattern.sub(instead, text)
    return text


def _filled(text: str, template: Template, slots: Slots, key: str) -> str:
    return SLOT.sub(lambda found: _printed(slots[found[1]], template, slots, key), text)


def _printed(slot: Slot, template: Template, slots: Slots, key: str) -> str:
    if isinstance(slot, str):
        return slot
    if isinstance(slot, Word):
        if not slot.id:
            return ""
        choices = _words()[slot.id, template.language]
        return _filled(choices[spread(key, slot.id) % len(choices)], template, slots, key)
    # A table of comma-separated values keeps its commas for the cells.
    grouped = spread(key, "separator") % 3 > 0 and template.form != "csv"
    number = _number(slot, grouped)
    if template.language == "zh" and template.form == "txt" and spread(key, "width") % 12 == 0:
        number = number.translate(_FULL_WIDTH)
    space = " " if slot.unit and spread(key, "space") % (4 if template.language == "en" else 2) else ""
    return f"{number}{'' if slot.unit == '%' else space}{slot.unit}"


def _number(figure: Amount, grouped: bool) -> str:
    rounded = float(f"{figure.value:.4g}") if figure.unit and abs(figure.value) < 1e4 else round(figure.value)
    return f"{rounded:,.10g}" if grouped and abs(rounded) >= 1000 else f"{rounded:.10g}"

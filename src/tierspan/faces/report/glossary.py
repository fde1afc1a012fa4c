"""Terms that a page explains where they stand: marked in texts and tables, told on hover, on focus and at the end of the page.

A term is three messages: ``glossary.<id>`` (how it is called), ``glossary.<id>.means``, and ``glossary.<id>.words`` (spellings that are marked,
with semicolons between them).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Final

from tierspan.quantities.messages import catalogue

if TYPE_CHECKING:
    from markupsafe import Markup

_PREFIX: Final = "glossary."
_ADDRESS: Final = re.compile(r"https?://[^\s<>\"，。；）]*[^\s<>\"，。；）.,;:)]")


@dataclass(frozen=True, slots=True)
class Term:
    """A term of the glossary in one language."""

    id: str
    name: str
    means: str
    words: tuple[str, ...]


@cache
def terms(lang: str) -> tuple[Term, ...]:
    """All terms of a language in the order of their ids."""
    texts = catalogue(lang)
    ids = [key.removeprefix(_PREFIX) for key in texts if key.startswith(_PREFIX) and not key.endswith((".means", ".words"))]
    return tuple(
        Term(i, texts[f"{_PREFIX}{i}"], texts[f"{_PREFIX}{i}.means"], tuple(w.strip() for w in texts[f"{_PREFIX}{i}.words"].split(";") if w.strip()))
        for i in sorted(ids)
    )


@cache
def _pattern(lang: str) -> tuple[re.Pattern[str], dict[str, Term]]:
    by_word = {word: term for term in terms(lang) for word in term.words}
    # longest first: "pipeline bubble" before "bubble"; letters and digits must not touch a Latin word on either side
    words = sorted(by_word, key=len, reverse=True)
    spelled = [rf"(?<![A-Za-z0-9_/\-]){re.escape(w)}(?![A-Za-z0-9_/\-])" if w[0].isascii() and w[-1].isascii() else re.escape(w) for w in words]
    return re.compile("|".join(spelled)), by_word


@dataclass(slots=True)
class Marker:
    """Marks the terms of one page: the first time that each stands in a section."""

    lang: str
    used: set[str] = field(default_factory=set)
    _section: set[str] = field(default_factory=set)

    def begin(self) -> str:
        """A new section: terms are marked anew."""
        self._section = set()
        return ""

    def note(self, text: str) -> str:
        """Remember the terms of a text that is shown as it is (headings, figures)."""
        pattern, by_word = _pattern(self.lang)
        self.used |= {by_word[match.group(0)].id for match in pattern.finditer(text)}
        return ""

    def mark(self, text: str) -> Markup:
        """The text as HTML with its terms as links to the glossary, and addresses as links."""
        from markupsafe import Markup, escape

        out, at = [], 0
        for match in _ADDRESS.finditer(text):
            out += [self._marked(text[at : match.start()]), Markup('<a href="{0}">{0}</a>').format(match.group(0))]
            at = match.end()
        return Markup("").join([*out, self._marked(text[at:])]) if out else escape("") + self._marked(text)

    def _marked(self, text: str) -> Markup:
        from markupsafe import Markup, escape

        pattern, by_word = _pattern(self.lang)
        out, at = [], 0
        for match in pattern.finditer(text):
            term = by_word[match.group(0)]
            self.used.add(term.id)
            if term.id in self._section:
                continue
            self._section.add(term.id)
            out += [escape(text[at : match.start()]), Markup('<a class="term" href="#term-{}">{}</a>').format(term.id, match.group(0))]
            at = match.end()
        return Markup("").join([*out, escape(text[at:])])

    def explained(self) -> list[Term]:
        """The terms that the page used, by name; terms that an explanation uses are explained too."""
        known = {term.id: term for term in terms(self.lang)}
        reached: set[str] = set()
        while self.used - reached:
            fresh = self.used - reached
            reached |= fresh
            for found in fresh:
                self.note(known[found].means)
        return sorted((known[i] for i in reached), key=lambda term: term.name.casefold())

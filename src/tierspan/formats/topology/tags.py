"""A tag scanner for XML dumps that were cut, elided, prefixed or flattened: no entities, no documents, nothing fetched; linear time.

A real parser refuses a file that lacks its last line; here what stands is read, and what does not is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tierspan.formats.topology.base import Line, Reading, elided
from tierspan.quantities.errors import InputError, Place

MAX_ELEMENTS: Final = 50_000
MAX_DEPTH: Final = 64
_TAG = re.compile(r"<[^<>]*>")
_NAME = re.compile(r"</?\s*([A-Za-z_][\w.-]{0,60})")
_ATTRIBUTE = re.compile(r"""([A-Za-z_][\w.:-]{0,60})\s{0,20}=\s{0,20}(?:"([^"<>]*)"|'([^'<>]*)')""")


@dataclass(slots=True)
class Element:
    """One element with its line; ``closed`` is false where the file ends before its end tag."""

    tag: str
    attributes: Mapping[str, str]
    line: int
    parent: Element | None = None
    children: list[Element] = field(default_factory=list)
    closed: bool = False

    def get(self, name: str) -> str:
        """An attribute, "" where it is absent."""
        return self.attributes.get(name, "").strip()

    def walk(self) -> Iterator[Element]:
        """This element and all below it, in the order of the file."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting += reversed(element.children)

    def above(self) -> Iterator[Element]:
        """The elements around this one, nearest first."""
        element = self.parent
        while element is not None:
            yield element
            element = element.parent


def has_tag(lines: Sequence[Line], *names: str) -> bool:
    """Whether one of these elements begins somewhere."""
    starts = re.compile("<(?:" + "|".join(names) + r")(?=[\s/>])")
    return any("<" in line.bare and starts.search(line.bare) for line in lines)


def scan(lines: Sequence[Line], known: frozenset[str], place: Place, reading: Reading) -> list[Element]:
    """The top elements. Unknown tags, text between tags and elements that never close are reported in ``reading``.

    Raises:
        InputError: too many elements, or nested too deep.
    """
    text, starts = _joined(lines, reading)
    tops: list[Element] = []
    stack: list[Element] = []
    count = end = at = 0

    def line_at(position: int) -> int:
        nonlocal at
        while at + 1 < len(starts) and starts[at + 1][0] <= position:
            at += 1
        return starts[at][1]

    for match in _TAG.finditer(text):
        between, end = text[end : match.start()], match.end()
        number = line_at(match.start())
        if stack and between.strip():
            lost = between.strip()
            reading.skip(number, lost, "topology.unread.elided" if elided(lost) else "topology.unread.between")
        token = match.group()
        if token.startswith(("<?", "<!")):
            continue
        name = _NAME.match(token)
        if name is None or name[1] not in known:
            if stack:
                reading.skip(number, token, "topology.unread.tag")
            continue
        if token.startswith("</"):
            _close(stack, name[1], reading)
            continue
        count += 1
        if count > MAX_ELEMENTS or len(stack) >= MAX_DEPTH:
            raise InputError("topology.xml_size", place=Place(place.file, number), elements=MAX_ELEMENTS, depth=MAX_DEPTH)
        attributes = {key: first or second for key, first, second in _ATTRIBUTE.findall(token)}
        element = Element(name[1], attributes, number, stack[-1] if stack else None)
        (stack[-1].children if stack else tops).append(element)
        if token.endswith("/>"):
            element.closed = True
        else:
            stack.append(element)
    if stack:
        rest = text[end:].strip()
        reading.skip(lines[-1].number, rest or f"<{stack[-1].tag}>", "topology.unread.cut", tag=", ".join(element.tag for element in stack))
    return tops


def _close(stack: list[Element], tag: str, reading: Reading) -> None:
    """Close the nearest open element of this tag; what was opened inside and not closed closes with it."""
    if not any(element.tag == tag for element in stack):
        return
    while stack:
        element = stack.pop()
        element.closed = True
        if element.tag == tag:
            return
        reading.skip(element.line, f"<{element.tag}>", "topology.unread.unclosed", tag=element.tag)


def _joined(lines: Sequence[Line], reading: Reading) -> tuple[str, list[tuple[int, int]]]:
    """The text without comments, and where in it each line begins."""
    parts: list[str] = []
    starts: list[tuple[int, int]] = []
    length, inside = 0, False
    begin = 0
    for line in lines:
        kept: list[str] = []
        rest = "" if line.text.lstrip().startswith("# ") and not inside else line.bare
        while rest:
            if inside:
                _, found, rest = rest.partition("-->")
                inside = not found
            else:
                before, found, rest = rest.partition("<!--")
                kept.append(before)
                if found:
                    inside, begin = True, line.number
        text = "".join(kept) + "\n"
        starts.append((length, line.number))
        parts.append(text)
        length += len(text)
    if inside:
        reading.skip(begin, "<!--", "topology.unread.comment")
    return "".join(parts), starts or [(0, 1)]

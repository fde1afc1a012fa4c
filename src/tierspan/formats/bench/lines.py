"""Log text to clean lines: colours, launchers' prefixes and NCCL's own messages are taken off, line numbers kept."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MAX_LINE = 8192
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-Z\\-_]|\[[0-9;]{0,8}m(?=[^\w]|[A-Z#])")
_TAGGED = r"\[\d+,\d+\]<std(?:out|err)>:"
_STAMP = r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
_PREFIX = re.compile(
    rf"""\s*(?:
        {_TAGGED}
      | \[\d+\](?=\s|\#|$)                      # rank of a launcher
      | \d+:(?=\s|\#|$)                         # srun --label
      | \[?{_STAMP}\]?:?(?=\s|$)
      | \[?\d\d:\d\d:\d\d(?:\.\d+)?\]?(?=\s)
      | \[pod/[^\]\s]*\]|pod/\S+(?=\s)
      | \[[\w.-]{{1,80}}:\d{{1,6}}\]:                        # host and rank of a job controller
      | \([^()\s]{{0,60}}\s?pid=\d+[^()]{{0,80}}\)
      | [\w.-]{{1,60}}-(?:worker|launcher|master|host|client|server|pod)-?[\w.-]{{0,60}}(?::(?=\s)|\s*\|(?=\s)|(?=\s+\#))
      | (?:std(?:out|err)|out|err)\s*(?::|\|)(?=\s)
    )""",
    re.VERBOSE,
)
_HOST = r"(?:\d{1,3}(?:\.\d{1,3}){3}|[A-Za-z][\w.-]{0,80})"
_MESSAGE = re.compile(
    rf"(?:\[\d{{1,6}}\]\s{{0,4}})?(?:\[?{_HOST}:\d{{1,9}}:\d{{1,9}}\]?\s{{1,4}})?(?:\[\d{{1,6}}\]\s{{1,4}})?"
    r"NCCL (?:INFO|WARN|TRACE|ERROR)\b\s*(?P<said>.*)$"
)
_MIDDLE = re.compile(rf"{_TAGGED}|\[\d+\](?=\s|$)")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a log: its number (from 1), its text without prefixes, and what NCCL said in it (INFO, WARN), if anything."""

    number: int
    text: str
    said: str = ""


@dataclass(frozen=True, slots=True)
class LogText:
    """A log: its raw text and its clean lines."""

    text: str
    lines: list[Line]

    @classmethod
    def of(cls, text: str) -> LogText:
        """Clean a text."""
        return cls(text, clean_lines(text))


def clean_lines(text: str) -> list[Line]:
    """Split a log into clean lines; a carriage return inside a line starts a new one with the same number."""
    numbered = enumerate(text.removeprefix("\ufeff").split("\n"), start=1)
    return [_clean(number, piece.replace("\x00", "")) for number, raw in numbered for piece in raw.rstrip("\r").split("\r")]


def _clean(number: int, text: str) -> Line:
    if len(text) > _MAX_LINE and "ccl-bw" not in text:
        # No row and no launch line is that long; results of SuperBench are, one line a node.
        text = text[:_MAX_LINE]
    text = _ANSI.sub("", text) if "\x1b" in text or "[" in text else text
    said = ""
    if "NCCL " in text and (match := _MESSAGE.search(text)):
        said, text = match["said"].strip(), text[: match.start()]
    for _ in range(4):
        if not (match := _PREFIX.match(text)):
            break
        text = text[match.end() :]
    if "[" in text:
        text = _MIDDLE.sub(" ", text)
    return Line(number, text.strip(), said)


def heading_before(lines: list[Line], number: int) -> str:
    """Return the headings (of a document in Markdown, two marks and more) that a line stands under, outermost first, "" if none."""
    levels: dict[int, str] = {}
    for line in lines:
        if line.number >= number:
            break
        if match := re.match(r"(#{2,5}) (\w.{0,100})$", line.text):
            levels = {level: text for level, text in levels.items() if level < len(match[1])}
            levels[len(match[1])] = match[2].strip()
    return " / ".join(levels[level] for level in sorted(levels))

"""Text without anything that a terminal or a reader's eye would be misled by."""

from __future__ import annotations

import re
from typing import Final

from tierspan.quantities.findings import Finding

_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,16}[@-~]"  # CSI: colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f\n]{0,1024}(?:\x07|\x1b\\|\x9c|(?=\n)|$)"  # OSC, DCS: titles, links, clipboard
    r"|\x1b[ -/]{0,4}[0-~]?"
)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]")
_INVISIBLE = re.compile("[\u200b-\u200d\u2060-\u2064\u00ad\ufeff\u180e\ufe00-\ufe0f\U000e0000-\U000e01ef]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BREAKS = str.maketrans({"\x0b": " ", "\x0c": " ", "\x85": " ", "\u2028": " ", "\u2029": " "})
_ANY: Final = re.compile(f"{_CONTROL.pattern}|\x1b|[\x0b\x0c\x85\u2028\u2029]|{_BIDI.pattern}|{_INVISIBLE.pattern}|{_SURROGATE.pattern}")


class Cleaner:
    """Cleans the texts of one document and counts what it took out."""

    def __init__(self) -> None:
        self._controls = 0
        self._bidi = 0
        self._invisible = 0
        self._surrogates = 0

    def clean(self, text: str) -> str:
        """Without control codes and invisible characters; marks that turn the direction of writing are shown; tabs and line ends stay."""
        if (text.isascii() and text.isprintable()) or not _ANY.search(text):
            return text
        text, escapes = _ESCAPE.subn("", text)
        text, controls = _CONTROL.subn("", text)
        text, bidi = _BIDI.subn(lambda match: f"<U+{ord(match[0]):04X}>", text)
        text, invisible = _INVISIBLE.subn("", text)
        text, surrogates = _SURROGATE.subn("\ufffd", text)
        self._controls += escapes + controls
        self._bidi += bidi
        self._invisible += invisible
        self._surrogates += surrogates
        return text.translate(_BREAKS)

    def findings(self) -> list[Finding]:
        """What was taken out or shown, if anything."""
        counted = (
            ("sheet.controls_removed", "info", self._controls),
            ("sheet.bidi_shown", "warning", self._bidi),
            ("sheet.invisible_removed", "info", self._invisible),
            ("sheet.surrogates_replaced", "info", self._surrogates),
        )
        return [Finding(name, "warning" if severity == "warning" else "info", {"count": count}) for name, severity, count in counted if count]


def text_lines(text: str) -> list[str]:
    r"""The lines of a text as an editor counts them: ``\n``, ``\r\n`` and ``\r`` end a line."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

"""Bytes to text: which of the encodings that Chinese and English sheets come in, told and never guessed in silence."""

from __future__ import annotations

import codecs
import contextlib
import re
from dataclasses import dataclass
from typing import Final

from tierspan.quantities.errors import InputError, Place

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
TRIED: Final = "UTF-8, UTF-16, GB18030, Big5, Windows-1252"
_SEQUENCE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_RUN = re.compile(rb"[\x80-\xff]+")
_ALLOWED_CONTROLS: Final = frozenset(b"\t\n\r\f\v\x1b\x08\x07\x1a")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text, its encoding, and whether that was a guess."""

    text: str
    encoding: str
    guessed: bool = False


def decode(raw: bytes, name: str) -> Decoded:
    """The text of a file.

    Raises:
        InputError: binary data, or text in none of the encodings.
    """
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            return _strict(raw, "utf-8-sig" if encoding == "utf-8" else encoding, encoding, name)
    if wide := _wide(raw):
        return Decoded(_strict(raw, wide, wide, name).text, wide, guessed=True)
    _refuse_binary(raw, name)
    if b"\0" in raw:
        raise InputError("sheet.nul", place=Place(name, raw.count(b"\n", 0, raw.index(b"\0")) + 1))
    try:
        return Decoded(raw.decode("utf-8"), "utf-8")
    except UnicodeDecodeError as error:
        return _legacy(raw, name, error)


def _strict(raw: bytes, codec: str, encoding: str, name: str) -> Decoded:
    try:
        return Decoded(raw.decode(codec), encoding)
    except UnicodeDecodeError as error:
        raise _invalid(raw, name, error, encoding.upper()) from None


def _invalid(raw: bytes, name: str, error: UnicodeDecodeError, tried: str) -> InputError:
    line = raw.count(b"\n", 0, error.start) + 1
    return InputError("sheet.encoding", place=Place(name, line), byte=f"0x{raw[error.start]:02x}", tried=tried)


def _wide(raw: bytes) -> str:
    """UTF-16 without a mark: nearly every second byte is zero, on one side only."""
    head = raw[: min(len(raw), 4096) & ~1]
    if len(head) < 4 or len(raw) % 2:
        return ""
    even, odd = head[::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    if odd > 0.3 * half and even == 0:
        return "utf-16-le"
    return "utf-16-be" if even > 0.3 * half and odd == 0 else ""


def _refuse_binary(raw: bytes, name: str) -> None:
    head = raw[:65536]
    controls = sum(head.count(code) for code in range(32) if code not in _ALLOWED_CONTROLS)
    if controls > 8 and controls > 0.02 * len(head):
        raise InputError("sheet.binary", place=Place(name), what="?")


def _legacy(raw: bytes, name: str, error: UnicodeDecodeError) -> Decoded:
    """GB18030, Big5 or Windows-1252, whichever gives the commonest characters; damaged UTF-8 is refused."""
    runs = _RUN.findall(raw)
    high_bytes = sum(map(len, runs))
    in_sequences = sum(map(len, _SEQUENCE.findall(raw)))
    if in_sequences >= 0.7 * high_bytes and in_sequences > 3:
        raise _invalid(raw, name, error, "UTF-8") from None
    found: list[tuple[float, str, str]] = []
    for codec, score in (("gb18030", _common_gb), ("big5", _common_big5)):
        try:
            text = raw.decode(codec)
        except UnicodeDecodeError:
            continue
        found.append((score(text), codec, text))
    alone = sum(len(run) == 1 for run in runs) / len(runs)
    if alone > 0.7 or not found:
        # Single high bytes between ASCII: µ, ×, ± of a western text.
        with contextlib.suppress(UnicodeDecodeError):
            found.append((alone if alone > 0.7 else 0.0, "windows-1252", raw.decode("windows-1252")))
    # On equal terms the first: GB18030.
    best = max(found, key=lambda item: item[0], default=None)
    if best is None or best[0] < 0.5:
        raise _invalid(raw, name, error, TRIED) from None
    return Decoded(best[2], best[1], guessed=True)


def _share(text: str, codec: str, common: tuple[tuple[int, int], ...]) -> float:
    """The share of the characters beyond ASCII whose code lies in the ranges of common ones."""
    beyond = [c for c in text[:100_000] if ord(c) > 127]
    good = 0
    for char in beyond:
        code = char.encode(codec, "replace")
        value = code[0] << 8 | code[1] if len(code) == 2 else 0
        good += any(low <= value <= high and (codec == "big5" or code[1] >= 0xA1) for low, high in common)
    return good / len(beyond) if beyond else 0.0


def _common_gb(text: str) -> float:
    # signs and full-width forms, then the 3,755 characters of the first level of GB 2312
    return _share(text, "gb18030", ((0xA1A1, 0xA3FE), (0xB0A1, 0xD7F9)))


def _common_big5(text: str) -> float:
    # signs, then the 5,401 characters of the first level
    return _share(text, "big5", ((0xA140, 0xA3BF), (0xA440, 0xC67E)))

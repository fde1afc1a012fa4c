"""Parts of the catalogue that a text names: accelerators and systems, in the ways people write them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from tierspan.specs.catalog.names import Thing, folded, resolve
from tierspan.specs.catalog.tables import rows

_ONE = re.compile(r"\s?(?:GPU|NPU|TPU|XPU)(?![\w-])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Named:
    """A part in a line: where it stands, how it is written, and what it is; ``assumed`` is what the name leaves open."""

    start: int
    end: int
    text: str
    thing: Literal["accelerator", "system"]
    id: str
    assumed: str = ""
    one: bool = False
    """Whether the text says that one GPU of it is meant ("GB200 GPU"), where the name alone may be that of a superchip."""


@cache
def _spellings() -> tuple[re.Pattern[str], dict[str, tuple[Thing, str]]]:
    names: dict[str, tuple[Thing, str]] = {}
    spelled: set[str] = set()
    for thing in ("accelerator", "system"):
        listed = [row["id"] for row in rows(f"{thing}s")] + [row["name"] for row in rows(f"{thing}s")]
        listed += [row["alias"] for row in rows("aliases") if row["thing"] == thing]
        for name in listed:
            plain = re.sub(r"\s*\(.*\)$", "", name).strip()
            plain = re.sub(r"^(?:NVIDIA|AMD|Google|AWS|Huawei|Intel)\s+", "", plain)
            if len(folded(plain)) >= 3 and not re.match(r"(?i)(server|node|platform|any)\b", plain):
                names.setdefault(folded(plain), (thing, name))
                spelled.add(plain)
    words = []
    # every way that a name is written, "Gaudi 3" beside "gaudi3": else the shorter "Gaudi" is taken for it
    for plain in sorted(spelled, key=len, reverse=True):
        pieces = [re.escape(piece) for piece in re.split(r"[\s_-]+", plain) if piece]
        words.append(r"[\s_-]?".join(pieces))
    # letters may not touch a name, digits may not follow one; Chinese characters may stand on either side
    return re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(words)})(?![A-Za-z0-9])", re.IGNORECASE), names


def named_in(text: str) -> tuple[Named, ...]:
    """The parts that a line names, from left to right; the longest name wins where several begin at one place."""
    pattern, names = _spellings()
    found = []
    for match in pattern.finditer(text):
        known = names.get(folded(match.group(0)))
        if known is None:
            continue
        thing, name = known
        resolved = resolve(thing, name)
        one = thing == "accelerator" and _ONE.match(text[match.end() :]) is not None
        found.append(Named(match.start(), match.end(), match.group(0), thing, resolved.id, resolved.assumed, one))
    return tuple(found)

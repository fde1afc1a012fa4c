"""What the topology readers share: cleaned lines with the tag of the process that wrote them, and what a reader hands back."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

from tierspan.quantities.errors import InputError, Place
from tierspan.specs.benchmark import Unread
from tierspan.specs.topology import TopologyPart

MAX_BYTES: Final = 32 * 2**20
MAX_LINE: Final = 20_000
MAX_DEVICES: Final = 512
MAX_UNREAD: Final = 200
MAX_NUMBER_DIGITS: Final = 12
_DATA: Final = Path(__file__).parent / "data"
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-Z\\-_]|[\x00-\x08\x0b-\x1f\x7f]")
_TAGS: Final = (
    re.compile(r"^\s*\[(?P<tag>\d{1,6}(?:,\d{1,6})?)\](?:<std(?:out|err)>)?:?(?!\s*[\"(])[ ]?"),  # mpirun --tag-output; not a port of ibnetdiscover
    re.compile(r"^\s*<std(?:out|err)>:?[ ]?"),
    re.compile(
        r"^\s*\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?[ ]?(?:std(?:out|err)[ ][FP][ ])?"
    ),  # kubectl, containerd
    re.compile(r"^\s*\[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]?[ ]"),
    re.compile(r"^\s*\[pod/(?P<tag>[\w./-]{1,200})\][ ]"),  # kubectl logs --prefix
    re.compile(r"^\s*(?P<tag>\d{1,6}):(?:[ ]|(?=\t))"),  # srun --label
    re.compile(
        r"^(?P<tag>(?!(?:GPU|NIC)\d|GPU\[|Switch|CA|Ca|Legend|NIC |Link|vendid|http)[A-Za-z][\w.-]{0,100}):(?:[ ]|(?=\t))(?=\S|\s+GPU)"
    ),  # pdsh, clush
)
_ELIDED: Final = frozenset({"...", "…", "....", "[...]", "<...>", "(...)", "[snip]", "<snip>"})


@dataclass(frozen=True, slots=True)
class Line:
    """A line without control codes; ``tag`` is what mpirun, srun, kubectl or pdsh wrote in front of it, ``bare`` the rest."""

    number: int
    text: str
    bare: str
    tag: str = ""


@dataclass(slots=True)
class Reading:
    """What one reader found."""

    parts: list[TopologyPart] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)

    def skip(self, line: Line | int, text: str, reason_id: str, /, **values: object) -> None:
        """Note what could not be used; the list is bounded."""
        if len(self.unread) < MAX_UNREAD:
            number = line if isinstance(line, int) else line.number
            self.unread.append(Unread(number, text.strip()[:200], reason_id, values))


@dataclass(frozen=True, slots=True)
class Format:
    """A reader: ``recognise`` looks for what only this format has, ``read`` never raises anything but ``InputError``."""

    kind: str
    recognise: Callable[[Sequence[Line]], bool]
    read: Callable[[Sequence[Line], Place], Reading]


def clean_lines(text: str) -> tuple[Line, ...]:
    """The lines of a dump: no control codes, no overlong lines, tags apart."""
    return tuple(_line(number, raw) for number, raw in enumerate(text.split("\n"), 1))


def _line(number: int, raw: str) -> Line:
    text = _CONTROL.sub("", raw[:MAX_LINE].rsplit("\r", 1)[-1] if "\r" in raw.rstrip("\r") else raw[:MAX_LINE])
    bare, tag = text, ""
    for _ in range(4):
        found = next((match for match in (pattern.match(bare) for pattern in _TAGS) if match and match.end()), None)
        if found is None:
            break
        tag = found.groupdict().get("tag") or tag
        bare = bare[found.end() :]
    return Line(number, text, bare, tag)


def elided(text: str) -> bool:
    """Whether a line says that its author left something out."""
    return text.strip() in _ELIDED


def is_comment(line: Line) -> bool:
    """Whether the line is a comment."""
    return line.text.lstrip().startswith("#")


def whole(text: str | None) -> int | None:
    """A whole number that is not absurdly long, else ``None``."""
    text = (text or "").strip()
    if not text.isascii() or not text.lstrip("-").isdigit() or len(text) > MAX_NUMBER_DIGITS:
        return None
    try:
        return int(text)
    except ValueError:
        return None


def decimal(text: str | None) -> float | None:
    """A finite number of plain digits, else ``None``."""
    text = (text or "").strip()
    if not re.fullmatch(r"\d{1,12}(?:\.\d{1,12})?", text, re.ASCII):
        return None
    return float(text)


def by_tag(lines: Iterable[Line]) -> dict[str, list[Line]]:
    """Lines by the process that wrote them, so that interleaved output comes apart."""
    found: dict[str, list[Line]] = {}
    for line in lines:
        found.setdefault(line.tag, []).append(line)
    return found


def bounded(count: int, place: Place) -> None:
    """Refuse a dump with more devices than any host has."""
    if count > MAX_DEVICES:
        raise InputError("topology.too_many", place=place, count=count, most=MAX_DEVICES)


@cache
def table(name: str) -> tuple[Mapping[str, str], ...]:
    """Rows of ``data/<name>.csv``."""
    with (_DATA / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))

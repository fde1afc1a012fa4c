"""Which catalogue id a name means."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tierspan.quantities.errors import Place, UnknownNameError
from tierspan.specs.catalog.tables import remembered, rows, rows_by_id

Thing = Literal["accelerator", "system"]


@dataclass(frozen=True, slots=True)
class Resolved:
    """A catalogue id and what was assumed to reach it ("" = the name leaves nothing open)."""

    id: str
    assumed: str = ""


def folded(name: str) -> str:
    """A name without case, blanks and punctuation: ``DGX H100``, ``dgx-h100`` and ``dgx_h100`` are one."""
    return "".join(c for c in name.casefold() if c.isalnum())


@remembered
def _table(thing: Thing) -> dict[str, Resolved]:
    table = {folded(row["alias"]): Resolved(row["id"], row["assumed"]) for row in rows("aliases") if row["thing"] == thing}
    table |= {folded(row["name"]): Resolved(row["id"]) for row in rows(f"{thing}s") if folded(row["name"]) not in table}
    return table | {folded(row["id"]): Resolved(row["id"]) for row in rows(f"{thing}s")}


@remembered
def known_names(thing: Thing) -> tuple[str, ...]:
    """Ids and aliases, for suggestions."""
    return (*rows_by_id(f"{thing}s"), *(row["alias"] for row in rows("aliases") if row["thing"] == thing))


def resolve(thing: Thing, name: str, *, place: Place | None = None, extra: Iterable[str] = ()) -> Resolved:
    """The catalogue id that ``name`` means.

    Args:
        thing: what kind of thing is named.
        name: an id, a product name or an alias; case, blanks and punctuation do not count.
        place: where the name was read, for the error.
        extra: further names worth suggesting.

    Raises:
        UnknownNameError: nothing in the catalogue has this name.
    """
    found = _table(thing).get(folded(name))
    if found is None:
        raise UnknownNameError(f"catalog.unknown_{thing}", name, (*known_names(thing), *extra), place=place)
    return found

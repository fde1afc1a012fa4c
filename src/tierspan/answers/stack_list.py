"""The software stacks that have constants: what each release does, and how many measured steps stand behind it."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from tierspan.specs.profile.profile import shipped_profile
from tierspan.specs.stacks.stack import stacks


@dataclass(frozen=True, slots=True)
class StackEntry:
    """One stack: ``family`` lends its constants where the stack was never measured; ``measured_rows`` scored steps in the shipped fit."""

    id: str
    name: str
    year: float
    family: str
    measured_rows: int
    fused_attention: bool
    gradient_bytes: float
    source: str


def list_stacks(pattern: str | None = None) -> tuple[StackEntry, ...]:
    """The stacks whose id or name matches (a part, or with ``*`` and ``?``), in the order of the data file."""
    counts = shipped_profile().record.get("counts", {}).get("stack", {})
    wanted = (pattern or "*").casefold()
    if not any(letter in wanted for letter in "*?["):
        wanted = f"*{wanted}*"
    return tuple(
        StackEntry(s.id, s.name, s.year, s.family, int(counts.get(s.id, 0)), s.flash_attention > 0, s.gradient_bytes, s.source)
        for s in stacks().values()
        if fnmatchcase(s.id.casefold(), wanted) or fnmatchcase(s.name.casefold(), wanted)
    )

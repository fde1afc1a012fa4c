"""A rule made of a function that finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tierspan.answers.audit.rules.base import Sheet
from tierspan.quantities.findings import Finding, Severity


@dataclass(frozen=True, slots=True)
class ProductRule:
    """A rule whose findings a function makes; ``severity`` is that of most of them."""

    id: str
    severity: Severity
    sources: tuple[str, ...]
    look: Callable[[Sheet], Iterable[Finding]]

    def find(self, sheet: Sheet) -> Iterator[Finding]:
        """Each finding once."""
        seen: set[tuple[object, ...]] = set()
        for finding in self.look(sheet):
            key = (finding.id, finding.place, str(finding.values))
            if key not in seen:
                seen.add(key)
                yield finding

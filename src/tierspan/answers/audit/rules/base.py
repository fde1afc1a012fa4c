"""What a rule of the audit is: it finds, the message catalogues tell.

A rule ``audit.<name>`` has three messages: ``audit.<name>`` (what was found, with its values), ``audit.<name>.why`` and ``audit.<name>.remedy``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from tierspan.quantities.findings import Finding, Severity
from tierspan.specs.reading import Reading
from tierspan.specs.sheet import SheetDocument


@dataclass(frozen=True, slots=True)
class Sheet:
    """What rules look at: the documents and the figures read in them, in the order of the text."""

    documents: tuple[SheetDocument, ...]
    readings: tuple[Reading, ...]

    def of(self, *quantities: str) -> Sequence[Reading]:
        """The figures of these kinds."""
        return [r for r in self.readings if r.quantity in quantities]


@runtime_checkable
class Rule(Protocol):
    """A check with an id that does not change; ``sources`` name where the trap was seen."""

    id: str
    severity: Severity
    sources: tuple[str, ...]

    def find(self, sheet: Sheet) -> Iterable[Finding]:
        """What is wrong; each finding has the rule's id (or ``<id>.<variant>``), values for its messages, and the place of the figure."""
        ...

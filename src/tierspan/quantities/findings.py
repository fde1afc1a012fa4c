"""What a check found, apart from how it is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as filled
from typing import Literal

from tierspan.quantities.errors import Place

Severity = Literal["error", "warning", "question", "info"]


@dataclass(frozen=True, slots=True)
class Phrase:
    """A value of a message that is a message itself: told in the language of the whole."""

    id: str
    values: Mapping[str, object] = filled(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding: ``id`` is its message in the catalogues (``id``: what and why; ``id.remedy``: what to do), ``values`` its placeholders."""

    id: str
    severity: Severity
    values: Mapping[str, object] = filled(default_factory=dict)
    place: Place = filled(default_factory=Place)


@dataclass(frozen=True, slots=True)
class Assumption:
    """A value that the input did not give: which field, what was taken, and the message that says why."""

    field: str
    value: object
    reason_id: str
    values: Mapping[str, object] = filled(default_factory=dict)

"""What a sheet asks of a room, against what the room has."""

from __future__ import annotations

from collections.abc import Sequence

from tierspan.answers.audit.result import RoomCheck
from tierspan.specs.reading import Reading
from tierspan.specs.site import Site


def room_of(readings: Sequence[Reading], site: Site | None) -> tuple[RoomCheck, ...]:  # noqa: ARG001
    """The checks of the room; none without a site."""
    return ()

"""The four-step reading of a sheet: tier and domain, bandwidth basis, latency premise, topology and room."""

from __future__ import annotations

from collections.abc import Sequence

from tierspan.answers.audit.result import Claim, RoomCheck, Step
from tierspan.quantities.findings import Finding
from tierspan.specs.reading import Reading


def steps_of(readings: Sequence[Reading], findings: Sequence[Finding], claims: Sequence[Claim], room: Sequence[RoomCheck]) -> tuple[Step, ...]:  # noqa: ARG001
    """The four steps."""
    return ()

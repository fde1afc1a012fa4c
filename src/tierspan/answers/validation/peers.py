"""Other predictors on the rows that tierspan predicts too: equal rows, equal statistics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tierspan.answers.validation.classes import is_curated
from tierspan.answers.validation.result import Validation
from tierspan.answers.validation.statistics import Summary, summary, to_array
from tierspan.specs.companions import PeerLine


@dataclass(frozen=True, slots=True)
class PeerErrors:
    """One peer and tierspan over the same scored rows; errors are fractions.

    ``refused``: rows of these that the peer says cannot run (its time for them counts); ``not_expressible``: rows it was given and has
    no words for, by reason.
    """

    peer: str
    version: str
    given: int
    refused: int
    not_expressible: dict[str, int]
    all: tuple[Summary, Summary] | None
    curated: tuple[Summary, Summary] | None
    nanotron: tuple[Summary, Summary] | None


def peer_errors(found: Validation, lines: Sequence[PeerLine]) -> tuple[PeerErrors, ...]:
    """Every peer beside tierspan, in the order of the file; pairs are (peer, tierspan)."""
    if found.file is None or found.file.kind != "training":
        return ()
    ours = {
        told.id: (told.measured, told.predicted, is_curated(row))
        for row, told in zip(found.file.training, found.lines, strict=True)
        if told.status == "predicted" and told.measured and told.predicted
    }
    out = []
    for peer in dict.fromkeys(line.peer for line in lines):
        mine = [line for line in lines if line.peer == peer]
        same = [(line, *ours[line.id]) for line in mine if line.predicted_step_s is not None and line.id in ours]

        def pair(rows: Sequence[tuple[PeerLine, float, float, bool]]) -> tuple[Summary, Summary] | None:
            measured = [m for _, m, _, _ in rows]
            theirs = summary(measured, to_array(line.predicted_step_s for line, *_ in rows))
            our = summary(measured, [p for _, _, p, _ in rows])
            return (theirs, our) if theirs is not None and our is not None else None

        out.append(
            PeerErrors(
                peer,
                mine[0].version,
                len(mine),
                sum(line.status == "predicted, refused" for line, *_ in same),
                dict(Counter(line.reason for line in mine if line.status == "not expressible").most_common()),
                pair(same),
                pair([row for row in same if row[3]]),
                pair([row for row in same if not row[3]]),
            )
        )
    return tuple(out)

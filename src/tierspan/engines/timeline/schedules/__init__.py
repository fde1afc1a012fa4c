"""The family of pipeline schedules."""

from __future__ import annotations

from tierspan.engines.timeline.schedules.base import Block, Kind, Route, Schedule, Task
from tierspan.engines.timeline.schedules.dualpipe import dualpipe
from tierspan.engines.timeline.schedules.gpipe import gpipe
from tierspan.engines.timeline.schedules.interleaved import interleaved
from tierspan.engines.timeline.schedules.one_f_one_b import one_f_one_b
from tierspan.engines.timeline.schedules.zero_bubble import zb_h1, zb_h2
from tierspan.quantities.errors import InputError

__all__ = ["Block", "Kind", "Route", "Schedule", "Task", "make_schedule"]

_PLAIN = {"1f1b": one_f_one_b, "interleaved": one_f_one_b, "gpipe": gpipe, "zb-h1": zb_h1, "zb-h2": zb_h2, "dualpipe": dualpipe}


def make_schedule(name: str, stages: int, micro_batches: int, chunks: int = 1) -> Schedule:
    """The schedule ``name`` on ``stages`` stages of ``chunks`` chunks; 1f1b with more than one chunk is the interleaved one.

    Raises:
        InputError: no such schedule, a count below 1, chunks with a schedule that has none, or sizes that DualPipe does not take.
    """
    if name not in _PLAIN:
        raise InputError("timeline.unknown", name=name, listed=", ".join(_PLAIN))
    for field, value in (("stages", stages), ("micro_batches", micro_batches), ("chunks", chunks)):
        if value < 1:
            raise InputError("timeline.count", field=field, value=value)
    if chunks > 1:
        if name not in ("1f1b", "interleaved"):
            raise InputError("timeline.chunks", schedule=name, chunks=chunks)
        return interleaved(stages, micro_batches, chunks)
    if name == "dualpipe" and (stages % 2 or micro_batches % 2 or micro_batches < 2 * stages):
        raise InputError("timeline.dualpipe", stages=stages, micro_batches=micro_batches)
    return _PLAIN[name](stages, micro_batches)

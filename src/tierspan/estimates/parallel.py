"""The same work on many items, side by side on the processors at hand."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any, TypeVar

Result = TypeVar("Result")
Item = TypeVar("Item")
THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")

_shared: list[Any] = []
"""What every item needs, sent once to each worker process."""


def side_by_side(work: Callable[[Any, Item], Result], shared: object, items: Sequence[Item], *, processes: int) -> Iterator[Result]:
    """``work(shared, item)`` for each item, in order, in this process where ``processes`` is 1.

    ``work`` must stand at the top of its module, ``shared`` and the results must be picklable. Worker processes import the main module: only a
    caller whose main module may be imported (the command line) asks for more than one.
    """
    workers = min(processes, len(items))
    if workers < 2:
        yield from (work(shared, item) for item in items)
        return
    # one thread of linear algebra a worker: more would wait for each other
    added = [name for name in THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        # what the parent has open (threads of a progress bar) must not be copied into the workers
        with ProcessPoolExecutor(workers, mp_context=get_context("forkserver"), initializer=_receive, initargs=(shared,)) as pool:
            yield from pool.map(partial(_one, work), items)
    finally:
        for name in added:
            os.environ.pop(name, None)


def _receive(shared: object) -> None:
    _shared[:] = [shared]


def _one(work: Callable[[Any, Item], Result], item: Item) -> Result:
    return work(_shared[0], item)

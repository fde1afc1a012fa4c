"""A software stack: the facts of a release that change how a step is composed."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

import numpy as np

from tierspan.quantities.errors import UnknownNameError
from tierspan.specs.arrays import Array, Rows

DATA = Path(__file__).parent / "data" / "stacks.csv"


@dataclass(frozen=True, slots=True)
class Stack:
    """Facts of a stack.

    ``flash_attention``: the attention kernel never writes the scores and skips the masked half. ``attention_kernel`` names it: its rate
    depends on the architecture. ``fuses_sinks``: it takes attention sinks; where it does not, the scores of such models are written.
    ``gradient_bytes`` a parameter on the wire. Gradient buckets hold ``bucket_elements`` parameters, or ``bucket_elements_per_rank`` for
    each data-parallel rank where that is more. ``gathered_tensors`` a layer are gathered one by one after the step (0: in buckets).
    ``selective_attention``: selective recompute runs the attention core again (1) or, fused, only cheap parts of it (0).
    ``dispatch_once``: a token goes to a remote domain, and there to a rank, once however many of its experts live there.
    ``dispatch_bytes`` an element sent to experts. ``drops_tokens``: tokens above an expert's capacity are dropped, so that the host need
    not wait for the counts of tokens. ``balances_stages``: layers and head are dealt to the stages by their cost (1) or equally (0).
    ``host_driven``: launches wait for Python, so that their time stands in the host terms alone.
    ``family`` is the stack whose constants are taken where this one was never measured.
    """

    id: str
    name: str
    year: float
    family: str
    attention_kernel: str
    flash_attention: float
    gradient_bytes: float
    bucket_elements: float
    bucket_elements_per_rank: float
    selective_attention: float
    dispatch_once: float
    dispatch_bytes: float
    balances_stages: float
    gathered_tensors: float
    fuses_sinks: float
    drops_tokens: float
    host_driven: float
    source: str = ""


@dataclass(frozen=True, slots=True)
class StackArrays(Rows):
    """Stacks as arrays, shape (n,)."""

    flash_attention: Array
    gradient_bytes: Array
    bucket_elements: Array
    bucket_elements_per_rank: Array
    selective_attention: Array
    dispatch_once: Array
    dispatch_bytes: Array
    balances_stages: Array
    gathered_tensors: Array
    fuses_sinks: Array
    drops_tokens: Array
    host_driven: Array

    @classmethod
    def of(cls, stacks: Sequence[Stack]) -> StackArrays:
        """Stack the stacks, one row each."""
        return cls(**{f.name: np.array([float(getattr(s, f.name)) for s in stacks]) for f in fields(cls)})


@cache
def stacks() -> dict[str, Stack]:
    """All known stacks by id, in file order."""
    with DATA.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    text = {"id", "name", "family", "attention_kernel", "source"}
    return {r["id"]: Stack(**{k: (v if k in text else float(v)) for k, v in r.items()}) for r in rows}  # type: ignore[arg-type]


def stack(name: str) -> Stack:
    """The stack of an id; an unknown one is an error with suggestions."""
    known = stacks()
    if name not in known:
        raise UnknownNameError("stack.unknown", name, known)
    return known[name]

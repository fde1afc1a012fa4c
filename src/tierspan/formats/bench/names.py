"""Tools' own spellings of operations and data types, mapped to ours."""

from __future__ import annotations

import re

_OPERATIONS = {
    "allreduce": "all_reduce", "allgather": "all_gather", "reducescatter": "reduce_scatter", "alltoall": "all_to_all", "alltoallv": "all_to_all",
    "broadcast": "broadcast", "bcast": "broadcast", "reduce": "reduce", "sendrecv": "send_recv", "gather": "gather", "scatter": "scatter",
    "permute": "send_recv", "allr": "all_reduce", "allg": "all_gather", "redsct": "reduce_scatter", "alltoallx": "all_to_all",
}  # fmt: skip

TYPE_BYTES = {
    "int8": 1, "uint8": 1, "char": 1, "f8e4m3": 1, "f8e5m2": 1, "fp8": 1, "fp8_e4m3": 1, "fp8_e5m2": 1, "half": 2, "float16": 2, "fp16": 2,
    "bfloat16": 2, "bf16": 2, "int16": 2,
    "float": 4, "float32": 4, "fp32": 4, "int32": 4, "int": 4, "uint32": 4, "double": 8, "float64": 8, "int64": 8, "uint64": 8,
}  # fmt: skip
"""Bytes of an element by the tools' type names."""

REDUCTIONS = frozenset(("sum", "prod", "min", "max", "avg", "mulsum", "none", "premulsum", "all"))

_PROGRAM = re.compile(
    r"\b(all_?reduce|all_?gather|reduce_?scatter|all_?to_?allv?|broadcast|bcast|reduce|send_?recv|gather|scatter|hypercube)(?:_bias)?_perf\b", re.I
)
_WORDS = re.compile(r"\b(all[-_ ]?reduce|all[-_ ]?gather|reduce[-_ ]?scatter|all[-_ ]?to[-_ ]?all|send[-_ ]?recv|broadcast)\b", re.I)


def operation_of(name: str) -> str:
    """Return our name of an operation in any common spelling, "" if unknown."""
    bare = re.sub(r"[^a-z]", "", name.lower())
    for prefix in ("nccl", "rccl", "hccl", "mscclpp", "perf"):
        bare = bare.removeprefix(prefix)
    return _OPERATIONS.get(bare.removesuffix("perf").removesuffix("bench"), "")


def programs_in(text: str) -> list[str]:
    """Return the names of nccl-tests programs in a text, as written, in order."""
    return [match[1] for match in _PROGRAM.finditer(text)]


def words_in(text: str) -> list[str]:
    """Return the operations that a text names in words, in our names, in order."""
    return [operation_of(match[1]) for match in _WORDS.finditer(text)]

"""How names of models are written differently and still mean the same."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SEPARATORS = re.compile(r"[\s_\-]+")
_BETWEEN_DIGITS = re.compile(r"(?<=\d)[\s_\-]+(?=\d)")
_BRACKETS = re.compile(r"[(\[（【].*?[)\]）】]")
_TRUNCATED = re.compile(r"\btruncated to \d+ layers?\b", re.IGNORECASE)
_PRECISIONS = ("bf16", "fp16", "fp32", "tf32", "fp8", "mxfp8", "fp4", "nvfp4", "mxfp4", "int8")
_ACCELERATORS = ("h100", "h200", "h800", "a100", "v100", "b200", "b300", "gb200", "gb300")
_TASKS = ("strong", "weak", "scaling", "lora", "sft", "finetuning", "finetune", "pretraining", "pretrain", "training", "base", "instruct", "proxy")
_NOT_NAME = frozenset((*_PRECISIONS, *_ACCELERATORS, *_TASKS))
_STACKS = ("maxtext", "nemo", "megatron", "torchtitan")


def lookup_key(name: str) -> str:
    """The form in which names are compared: small letters, without separators.

    A separator between digits stays: "Qwen2 7B" is not "Qwen 27B".
    """
    text = _BETWEEN_DIGITS.sub("/", name.strip().casefold())
    return _SEPARATORS.sub("", text)


def row_keys(label: str) -> Iterator[str]:
    """Keys to try for a label of a measurement, the most literal first."""
    yield lookup_key(label)
    short = _TRUNCATED.sub(" ", _BRACKETS.sub(" ", label))
    yield lookup_key(short)
    words = [word for word in _SEPARATORS.split(short.strip().casefold()) if word not in _NOT_NAME]
    yield lookup_key("-".join(words))
    if len(words) > 1 and words[0] in _STACKS:
        yield lookup_key("-".join(words[1:]))

"""Tokens a second for one user, against the time that reading the weights once takes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tierspan.answers.audit.claims.base import Found, Kind, found, number, shown, told
from tierspan.answers.audit.claims.sentence import Sentence
from tierspan.answers.audit.claims.training_flops import TRAINING, accelerators_of
from tierspan.specs.model import ModelSpec

PRECISION_BYTES: Final = (
    (0.5, r"FP-?4|INT-?4|4[\s-]?bit|\bAWQ\b|\bQ4"), (1.0, r"FP-?8|INT-?8|8[\s-]?bit|W8A8"), (2.0, r"BF-?16|FP-?16|16[\s-]?bit|半精度"),
)  # fmt: skip
_ONE_USER: Final = r"per[\s-]user|/user|single[\s-](?:user|stream|request)|one user|each user|batch (?:size )?1\b|每用户|单用户|单路|单流|每个用户"
_SPECULATIVE: Final = r"specul|\bMTP\b|medusa|eagle|draft|投机|推测解码"
_SURE: Final = 4.0
"""So many tokens an accepted draft may bring in one pass: only above that many times the bound is a claim refuted without asking."""


class OneUser:
    """``70B at 500 tokens/s per user on one H100``."""

    name = "tokens for one user"
    order = 7

    def find(self, sentence: Sentence) -> Iterator[Found]:
        """A model, a rate for one user, and the accelerators that serve it."""
        rate = next(iter(sentence.of("token/s")), None)
        if rate is None or sentence.says(TRAINING) or not (rate.per == "user" or sentence.says(_ONE_USER)):
            return
        spec = next(iter(sentence.models), None)
        size = next((a for a in sentence.counts("parameter") if a.value >= 1e8), None)
        counted, devices, known = accelerators_of(sentence)
        about = [a for a in (rate, size, counted) if a is not None]
        if (spec is None and size is None) or known is None:
            yield found("unanswerable", told("serving.missing"), about=about)
            return
        alone = re.search(r"\b(?:one|single|a)\b|单卡|一张", sentence.text, re.IGNORECASE)
        number_of = devices if counted is not None else 1.0 if alone and not known.is_system else float(known.node)
        active = float(active_parameters(spec)) if spec is not None else size.value if size is not None else float("nan")
        width = precision_bytes(sentence.text)
        each = active * (width or 0.5)
        bound = number_of * known.memory_bandwidth_Bps / each
        line = told(
            "serving.bound", bytes=shown(each, "B"), accelerators=number(number_of), part=known.id,
            bandwidth=shown(known.memory_bandwidth_Bps, "B/s"), bound=number(bound, 3),
        )  # fmt: skip
        basis = (told("serving.precision"),) if width is None else ()
        if rate.value > _SURE * bound or (
            rate.value > 1.05 * bound and not sentence.says(_SPECULATIVE) and width is not None and counted is not None
        ):
            yield found("refuted", *basis, line, told("serving.above", said=rate.text, ratio=number(rate.value / bound, 3)), about=about)
        elif rate.value > bound:
            yield found("unanswerable", *basis, line, told("serving.drafts", said=rate.text), about=about)
        else:
            yield found("unanswerable", *basis, line, told("serving.below", share=shown(rate.value / bound, "%")), about=about)


def active_parameters(spec: ModelSpec) -> int:
    """Parameters that one token reads."""
    from tierspan.laws.parameters import parameter_counts

    return parameter_counts(spec).active


def total_parameters(spec: ModelSpec) -> int:
    """All parameters of a model."""
    from tierspan.laws.parameters import parameter_counts

    return parameter_counts(spec).total


def precision_bytes(text: str) -> float | None:
    """Bytes of a weight in the precision that a text names, None where it names none."""
    return next((size for size, pattern in PRECISION_BYTES if re.search(pattern, text, re.IGNORECASE)), None)


KINDS: tuple[Kind, ...] = (OneUser(),)

"""What a training costs at least, and what a part can do at most: shared by the claims about training."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from tierspan.answers.audit.claims.amounts import Amount
from tierspan.answers.audit.claims.base import number, told
from tierspan.answers.audit.claims.sentence import Sentence
from tierspan.formats.figures.known import Part, part
from tierspan.specs.model import ModelSpec
from tierspan.specs.reading import Reason

TRAINING: Final = r"\btrain|pre-?train|fine-?tun|\bMFU\b|训练|预训练|微调"
_LOW: Final = (("fp8", r"FP-?8"), ("fp4", r"FP-?4"), ("int8", r"INT-?8"), ("fp16", r"FP-?16"), ("bf16", r"BF-?16"))


@dataclass(frozen=True, slots=True)
class Work:
    """FLOP of one token of training, at least; ``told`` says how it was counted."""

    flop_per_token: float
    told: Reason
    amounts: tuple[Amount, ...] = ()


def work_of(sentence: Sentence) -> Work | None:
    """Six times the active parameters (forward 2, backward 4), attention over the context left out: no training of the model takes less.

    A bare size ("70B") is taken as that of a dense model.
    """
    spec = next(iter(sentence.models), None)
    if spec is not None:
        flop = flop_per_token(spec)
        return Work(flop, told("training.model", model=spec.name, active=number(flop / 6e9, 4), flop=f"{flop:.3g}"))
    size = next((a for a in sentence.counts("parameter") if a.value >= 1e6), None)
    if size is None:
        return None
    return Work(6.0 * size.value, told("training.size", size=size.text, flop=f"{6.0 * size.value:.3g}"), (size,))


@cache
def flop_per_token(spec: ModelSpec) -> float:
    """FLOP of the model for one token, forward and backward, in a sequence so short that attention costs nothing."""
    from tierspan.laws.flops import model_flops_per_step
    from tierspan.specs.arrays import ModelArrays, StrategyBatch
    from tierspan.specs.strategy import Job, Strategy

    return float(model_flops_per_step(ModelArrays.of([spec]), StrategyBatch.of([(Strategy(), Job(1, 1), 1)]))[0])


def accelerators_of(sentence: Sentence) -> tuple[Amount | None, float, Part | None]:
    """How many accelerators a sentence has, and of which part; systems count with what they hold."""
    counted = next(((a, n) for a, n in sentence.counted_parts if a.noun in ("", "times", "accelerator", "set")), None)
    if counted is not None:
        known = part(counted[1].thing, counted[1].id)
        # "8 卡 HGX H20" is one system of eight
        each = 1 if counted[0].noun == "accelerator" else known.accelerators
        return counted[0], counted[0].value * each, known
    plain = max(
        (a for a in sentence.counts("accelerator") if not re.match(r"\s?-?(?:hours?|h\b|小时|时)", sentence.text[a.end :])),
        key=lambda a: a.value,
        default=None,
    )
    return plain, plain.value if plain is not None else float("nan"), sentence.part


def peak_of(sentence: Sentence, known: Part) -> tuple[str, float] | None:
    """Dense peak in the precision that the sentence names, BF16 where it names none; None where the catalogue has none."""
    for precision, pattern in _LOW:
        if sentence.says(pattern) and precision in known.peaks:
            return precision, known.peaks[precision]
    return next(((p, known.peaks[p]) for p in ("bf16", "fp16") if p in known.peaks), None)

"""Whether weights fit: ``671B in FP8 fits in 8 x 80 GB``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tierspan.answers.audit.claims.amounts import Amount
from tierspan.answers.audit.claims.base import Found, Kind, found, number, shown, told
from tierspan.answers.audit.claims.sentence import Sentence
from tierspan.answers.audit.claims.serving import precision_bytes, total_parameters
from tierspan.answers.audit.claims.training_flops import TRAINING, accelerators_of
from tierspan.specs.reading import Reason

_FITS: Final = (
    r"\bfits?\b|\bruns? on\b|\bholds?\b|\bdeploy"
    r"|装得下|放得下|容得下|装下|放下|放进|装进|容纳|部署|跑得动|可运行|运行|满血"
)
_NOT: Final = (
    r"(?:do(?:es)?n[o']t|doesn't|don't|does not|do not|cannot|can't|will not|won't)\s+(?:\w+\s+)?(?:fit|run|hold)|装不下|放不下|容不下|跑不动"
)
_NEEDED: Final = re.compile(r"^\s*(?:is |are |of weights |per \w+ )?(?:need|requir|weights|权重)", re.IGNORECASE)
"""A memory that is needed is not one that is there."""
_TIGHT: Final = 0.9
"""Beyond this share weights leave too little for the KV cache and the framework to say that a model fits."""
_TRAINING_BYTES: Final = 16.0
"""Weights, gradients, master copy and the two moments of Adam in mixed precision, before sharding saves anything (Rajbhandari et al. 2020)."""


class MemoryFit:
    """Parameters times their width against the memory of all accelerators."""

    name = "memory"
    order = 12

    def find(self, sentence: Sentence) -> Iterator[Found]:
        """A model or its size, a memory, and a word that says that one goes into the other."""
        if not (sentence.says(_FITS) or sentence.says(_NOT)):
            return
        spec = next(iter(sentence.models), None)
        size = max((a for a in sentence.counts("parameter") if a.value >= 1e8), key=lambda a: a.value, default=None)
        memory = _memory(sentence)
        if (spec is None and size is None) or memory is None:
            return
        total, told_memory, amounts = memory
        parameters = size.value if size is not None else float(total_parameters(spec)) if spec is not None else 0.0
        about = [a for a in (size, *amounts) if a is not None]
        training = sentence.says(TRAINING)
        width = _TRAINING_BYTES if training else precision_bytes(sentence.text)
        denied = sentence.says(_NOT)
        if width is None:
            least, most = 0.5 * parameters, 2.0 * parameters
            if least <= total and most > _TIGHT * total:
                lines = [
                    told("memory.line", parameters=number(parameters / 1e9), width=w, need=shown(need, "B"))
                    for w, need in (("2", most), ("0.5", least))
                ]
                yield found("unanswerable", *lines, told_memory, told("memory.no_precision"), about=about)
                return
            width = 0.5 if least > total else 2.0
        need = parameters * width
        line = told("memory.training" if training else "memory.line", parameters=number(parameters / 1e9), width=number(width), need=shown(need, "B"))
        share = told("memory.share", share=shown(need / total, "%"))
        if need > total:
            yield found("confirmed" if denied else "refuted", line, told_memory, share, told("memory.too_much"), about=about)
        elif need > _TIGHT * total:
            yield found("unanswerable", line, told_memory, share, told("memory.tight"), about=about)
        else:
            # weights that fit do not refute that a job does not
            end = told("memory.denied" if denied else "memory.left")
            yield found("unanswerable" if denied else "confirmed", line, told_memory, share, end, about=about)


def _memory(sentence: Sentence) -> tuple[float, Reason, tuple[Amount, ...]] | None:
    """Bytes of all accelerators together, how they add up, and the amounts that say so."""
    written = next((a for a in sentence.of("B") if a.value >= 1e9 and not _NEEDED.match(sentence.text[a.end :])), None)
    if written is not None:
        before = [a for a in sentence.amounts if a.end <= written.start and a.unit == "1" and a.noun != "parameter"]
        times = before[-1] if before and re.match(r"^[^\d,;]{0,16}?[x×*]?\s*$", sentence.between(before[-1], written)) else None
        behind = [a for a in sentence.amounts if a.start >= written.end and a.unit == "1" and a.noun in ("", "accelerator")]
        if times is None and behind and re.match(r"^\s*[x×*]\s*$", sentence.between(written, behind[0])):
            times = behind[0]
        number_of = times.value if times is not None else 1.0
        if number_of == 1.0 and sentence.part is not None and written.value <= 1.05 * sentence.part.memory_bytes:
            counted, devices, _ = accelerators_of(sentence)
            times, number_of = (counted, devices) if counted is not None else (times, number_of)
        total = number_of * written.value
        return (
            total,
            told("memory.sum", accelerators=number(number_of), memory=written.text, total=shown(total, "B")),
            (written, *([times] if times else [])),
        )
    counted, devices, known = accelerators_of(sentence)
    if known is None or not sentence.named:
        return None
    printed = next((r for _, r in sentence.readings if r.quantity == "memory" and r.printed_si < 1e12), None)
    if printed is not None and counted is not None:
        total = devices * printed.printed_si
        return total, told("memory.sum", accelerators=number(devices), memory=printed.text, total=shown(total, "B")), (counted,)
    number_of = devices if counted is not None else float(known.accelerators if known.is_system else 1)
    total = number_of * known.memory_bytes
    line = told("memory.sum_known", accelerators=number(number_of), part=known.id, memory=shown(known.memory_bytes, "B"), total=shown(total, "B"))
    return total, line, (counted,) if counted is not None else ()


KINDS: tuple[Kind, ...] = (MemoryFit(),)

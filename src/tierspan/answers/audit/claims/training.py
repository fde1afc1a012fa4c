"""Training claims: what share of the peak they imply. More than all of it is impossible."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tierspan.answers.audit.claims.amounts import Amount
from tierspan.answers.audit.claims.base import Found, Kind, found, number, shown, told
from tierspan.answers.audit.claims.sentence import Sentence
from tierspan.answers.audit.claims.training_flops import TRAINING, Work, accelerators_of, peak_of, work_of
from tierspan.formats.figures.known import Part
from tierspan.specs.reading import Reason

_HIGH: Final = 0.65
"""A training that is said to use more of the dense peak than this share needs proof."""
_DEVICE_HOURS: Final = re.compile(r"^\s?-?(?:GPU|NPU|TPU|card|H100|H800|A100|卡|加速器)?\s?-?(?:hours?\b|h\b|小时|时(?!延))", re.IGNORECASE)


class TrainingTime:
    """``405B on 15T tokens in 54 days on 16,384 H100``; device hours instead of days and count too."""

    name = "training time"
    order = 4

    def find(self, sentence: Sentence) -> Iterator[Found]:
        """A model, tokens, and time on a number of accelerators."""
        tokens = max((a for a in sentence.counts("token") if a.value >= 1e8), key=lambda a: a.value, default=None)
        work = work_of(sentence)
        if tokens is None or work is None:
            return
        counted, devices, known = accelerators_of(sentence)
        hours = next((a for a in sentence.amounts if a.unit == "1" and a.value >= 100 and _DEVICE_HOURS.match(sentence.text[a.end :])), None)
        time = max((a for a in sentence.of("s") if a.value >= 3600.0), key=lambda a: a.value, default=None)
        if hours is None and time is None:
            return
        about = [a for a in (tokens, time, hours, counted, *work.amounts) if a is not None]
        if known is None or (hours is None and counted is None):
            if sentence.says(TRAINING):
                missing = "part" if known is None else "count"
                yield found("unanswerable", work.told, told(f"training.no_{missing}"), about=about)
            return
        device_s = hours.value * 3600.0 if hours is not None else devices * time.value if time is not None else float("nan")
        line = told("training.total", tokens=number(tokens.value / 1e12), flop=f"{work.flop_per_token * tokens.value:.3g}")
        yield _judged(sentence, known, work, work.flop_per_token * tokens.value, device_s, about, line)


class TrainingRate:
    """``2,000 tokens/s per GPU``, ``1.2M tokens/s on 1,024 H100``."""

    name = "training throughput"
    order = 5

    def find(self, sentence: Sentence) -> Iterator[Found]:
        """A model and the tokens that it is trained on in a second."""
        rate = next(iter(sentence.of("token/s")), None)
        if rate is None or rate.per == "user" or not sentence.says(TRAINING):
            return
        work = work_of(sentence)
        counted, devices, known = accelerators_of(sentence)
        about = [a for a in (rate, counted, *(work.amounts if work else ())) if a is not None]
        if work is None or known is None:
            if not sentence.says(r"\btrain|训练"):
                return
            missing = "model" if work is None else "part"
            yield found("unanswerable", told(f"training.no_{missing}"), about=about)
            return
        if rate.per not in ("accelerator", "") or (not rate.per and counted is None):
            yield found("unanswerable", work.told, told("training.no_count"), about=about)
            return
        share = 1.0 if rate.per == "accelerator" else devices
        line = told("training.rate", rate=number(rate.value / share), flop=shown(work.flop_per_token * rate.value / share, "FLOP/s"))
        yield _judged(sentence, known, work, work.flop_per_token * rate.value, share, about, line)


class StatedShare:
    """``400 TFLOPS per GPU, 40 % MFU``."""

    name = "share of peak"
    order = 6

    def find(self, sentence: Sentence) -> Iterator[Found]:
        """A rate of one accelerator and the share of the peak that it is said to be."""
        share, rate = next(iter(sentence.of("%")), None), next(iter(sentence.of("FLOP/s")), None)
        if share is None or rate is None or not sentence.says(r"\bMFU\b|\bHFU\b|utili[sz]ation|of (?:the |its )?peak|利用率|峰值的"):
            return
        known = sentence.part
        peak = peak_of(sentence, known) if known is not None else None
        if known is None or peak is None:
            yield found("unanswerable", told("training.no_part"), about=(share, rate))
            return
        # a sentence may print the peak beside what is reached: what is reached is less
        rates = sorted(sentence.of("FLOP/s"), key=lambda a: abs(a.value / peak[1] - share.value))
        rate = rates[0] if abs(rates[0].value / peak[1] - share.value) <= max(share.step, 0.01) else min(rates, key=lambda a: a.value)
        true = rate.value / peak[1]
        line = told(
            "peak_share.line", rate=rate.text, part=known.id, precision=peak[0].upper(), peak=shown(peak[1], "FLOP/s"), share=shown(true, "%")
        )
        if abs(true - share.value) <= max(share.step, 0.01):
            yield found("confirmed", line, about=(share, rate))
            return
        other = (
            told("peak_share.sparse", said=share.text)
            if abs(true / 2.0 - share.value) <= max(share.step, 0.01)
            else told("ratio.said", said=share.text)
        )
        yield found("refuted", line, other, about=(share, rate))


def _judged(sentence: Sentence, known: Part, work: Work, flop: float, device_s: float, about: list[Amount], line: Reason) -> Found:
    """``flop`` on ``device_s`` accelerator-seconds against the dense peak."""
    peak = peak_of(sentence, known)
    if peak is None:
        return found("unanswerable", work.told, line, told("training.no_peak", part=known.id), about=about)
    precision, rate = peak
    share = flop / (device_s * rate)
    capacity = told("training.capacity", part=known.id, precision=precision.upper(), peak=shown(rate, "FLOP/s"), share=shown(share, "%"))
    if share > 1.0:
        return found("refuted", work.told, line, capacity, told("training.impossible"), about=about)
    if share > _HIGH:
        return found("unanswerable", work.told, line, capacity, told("training.implausible", high=shown(_HIGH, "%")), about=about)
    return found("confirmed", work.told, line, capacity, told("training.possible"), about=about)


KINDS: tuple[Kind, ...] = (TrainingTime(), TrainingRate(), StatedShare())

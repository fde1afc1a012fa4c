"""Answers in a line of text: the sentence that heads them, and a name with the figures that matter."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tierspan.faces.cli.render import collective as collectives
from tierspan.faces.cli.render import compare as logs
from tierspan.faces.cli.render import comparison as sides
from tierspan.faces.cli.render import fitting as fits
from tierspan.faces.cli.render import prediction as steps
from tierspan.faces.cli.render import scaling as sizes
from tierspan.faces.cli.render.comparison import system_name
from tierspan.faces.cli.render.parts import count, gigabytes, named, number_of, percent, said, seconds, whole
from tierspan.quantities.printing import format_bytes

if TYPE_CHECKING:
    from tierspan.answers.collective import CollectiveAnswer
    from tierspan.answers.comparison.results import CompareAnswer
    from tierspan.answers.results import CaseView, Comparison, Fitting, Prediction, Scaling
    from tierspan.specs.trace import Trace

prediction_sentence = steps.headline
fitting_sentence = fits.headline
scaling_sentence = sizes.headline
comparison_sentence = sides.headline
collective_sentence = collectives.headline


def compare_sentence(answer: CompareAnswer, lang: str) -> str:
    """One line a run of the log."""
    told = [logs.headline(run, lang, [r for r in answer.rows if r.run == index]) for index, run in enumerate(answer.runs)]
    return "\n".join(told) or compare(answer, lang)


def prediction(p: Prediction, lang: str) -> str:
    """Step time, MFU, rate, status, job."""
    status = named("status", p.status.replace(" ", "_"), lang)
    if not math.isfinite(p.step_time_s):
        return said("notebook.short.prediction.none", lang, status=status, job=_job(p.case, lang))
    return said(
        "notebook.short.prediction",
        lang,
        step=seconds(p.step_time_s, lang),
        interval=_interval(p.low_s, p.high_s, lang),
        mfu=percent(p.mfu),
        rate=count(p.tokens_per_s, lang),
        status=status,
        job=_job(p.case, lang),
    )


def fitting(f: Fitting, lang: str) -> str:
    """Status, memory, job."""
    known = f.status != "invalid" and math.isfinite(f.memory.total_bytes)
    values = {"need": gigabytes(f.memory.total_bytes), "usable": gigabytes(f.memory.usable_bytes)} if known else {}
    status = named("notebook.fit", f.status.replace(" ", "_"), lang)
    return said("notebook.short.fitting" if known else "notebook.short.fitting.none", lang, status=status, job=_job(f.case, lang), **values)


def scaling(s: Scaling, lang: str) -> str:
    """From which size to which, and what that is worth."""
    known = [p for p in s.points if p.status != "invalid" and math.isfinite(p.efficiency)]
    mode = said(f"scale.mode.{s.mode}", lang)
    if not known:
        return said("notebook.short.scaling.none", lang, mode=mode, sizes=len(s.points))
    far = max(known, key=lambda p: p.accelerators)
    return said(
        "notebook.short.scaling",
        lang,
        **{"mode": mode, "from": whole(s.reference), "to": whole(far.accelerators)},
        speedup=number_of(far.speedup),
        efficiency=percent(far.efficiency, 0),
    )


def comparison(c: Comparison, lang: str) -> str:
    """How much faster the first is."""
    values = {"a": system_name(c.a), "b": system_name(c.b), "model": c.a.case.model}
    if not math.isfinite(c.speedup_per_step):
        return said("notebook.short.comparison.none", lang, **values)
    return said("notebook.short.comparison", lang, ratio=number_of(c.speedup_per_step), **values)


def collective(answer: CollectiveAnswer, lang: str) -> str:
    """Operation, size, ranks, time, rate."""
    low, high = (math.nan if edge is None else edge for edge in (answer.low_s, answer.high_s))
    return said(
        "notebook.short.collective",
        lang,
        operation=named("operation", answer.operation, lang),
        size=format_bytes(answer.size_bytes, binary=True),
        ranks=whole(answer.ranks),
        time=seconds(answer.time_s, lang),
        interval=_interval(low, high, lang),
        rate=collectives.rate_text(answer),
    )


def compare(answer: CompareAnswer, lang: str) -> str:
    """The verdict, and how much stands behind it."""
    values = {"runs": len(answer.runs), "causes": len(answer.causes)}
    return said("notebook.short.compare", lang, verdict=logs.verdict_text(answer.verdict, lang), **values)


def trace(played: Trace, lang: str) -> str:
    """How long the step takes, of how many spans on how many ranks, and the job."""
    job = said("notebook.short.job", lang, model=played.model, count=whole(played.accelerators), accelerator=played.system)
    values = {"step": seconds(played.step_time_s, lang), "spans": whole(len(played.spans)), "ranks": whole(len(played.ranks))}
    return said("notebook.short.trace", lang, schedule=played.schedule, job=job, **values)


def _job(case: CaseView, lang: str) -> str:
    return said("notebook.short.job", lang, model=case.model, count=whole(case.accelerators), accelerator=case.accelerator)


def _interval(low_s: float, high_s: float, lang: str) -> str:
    if not (math.isfinite(low_s) and math.isfinite(high_s)):
        return ""
    return said("notebook.short.interval", lang, low=seconds(low_s, lang), high=seconds(high_s, lang))

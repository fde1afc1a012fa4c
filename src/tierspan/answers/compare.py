"""``tierspan compare``: is my number normal? A log of measurements against what the laws expect, or two logs against each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final

from tierspan.answers.comparison.causes import likely_causes, notes
from tierspan.answers.comparison.causes.base import Evidence
from tierspan.answers.comparison.changes import changes_between, settings_changed, what_changed
from tierspan.answers.comparison.expectation import Expect, Expectation, nothing
from tierspan.answers.comparison.points import samples_of
from tierspan.answers.comparison.results import (
    Cause,
    CompareAnswer,
    ComparedRow,
    Rates,
    RunComparison,
    StepTimes,
    UnreadLine,
    Verdict,
)
from tierspan.answers.comparison.setting import Asked, Setting, setting_of
from tierspan.answers.comparison.steps import step_times
from tierspan.answers.comparison.verdict import Decision, compared_rows, decide, marked, measured_rate
from tierspan.quantities.errors import InputError, Place
from tierspan.quantities.findings import Assumption
from tierspan.quantities.messages import DEFAULT_LANGUAGE, fill
from tierspan.specs.benchmark import BenchmarkContext, CollectiveLog, CollectiveSample

_WORST: Final[tuple[Verdict, ...]] = ("broken", "slow", "normal", "not comparable")
_MOST_CAUSES: Final = 5


def compare(log: str | Path, other: str | Path | None = None, asked: Asked | None = None, *, lang: str = DEFAULT_LANGUAGE) -> CompareAnswer:
    """Compare one log, or two, with what is expected on the cluster.

    Args:
        log: a benchmark log, or a training log with times of iterations.
        other: a second log, compared with the first as well.
        asked: what the logs do not say: cluster or system, ranks, nodes, NIC, transport.
        lang: language of the texts of causes.

    Raises:
        InputError: a file cannot be read, or a flag cannot be used.
        UnknownNameError: nobody knows the system.
    """
    logs: list[tuple[CollectiveLog, ...]] = []
    steps: list[StepTimes] = []
    for path in (log, *([other] if other is not None else [])):
        if (times := step_times(path)) is not None:
            steps.append(times)
        else:
            logs.append(_read(path))
    if steps and logs:
        raise InputError("compare.two_kinds", place=Place(str(other)), first=str(log), second=str(other))
    if steps:
        return CompareAnswer("not comparable", (), (), (), (), "", (), steps=tuple(steps))
    return compare_logs(logs[0], logs[1] if len(logs) > 1 else (), asked or Asked(), lang=lang)


def compare_logs(
    logs: Sequence[CollectiveLog],
    others: Sequence[CollectiveLog] = (),
    asked: Asked | None = None,
    *,
    lang: str = DEFAULT_LANGUAGE,
    expect: Expect | None = None,
) -> CompareAnswer:
    """The same for logs that were read; ``expect`` replaces the laws."""
    if expect is None:
        from tierspan.answers.comparison.expected import expect as by_laws

        expect = by_laws
    asked = asked or Asked()
    runs: list[RunComparison] = []
    rows: list[ComparedRow] = []
    profile = ""
    starts: list[int] = []
    for group in (logs, others):
        starts.append(len(runs))
        above: BenchmarkContext | None = None
        for log in group:
            found = _by_operation(samples_of(log)) or [(log.samples[0].operation if log.samples else "point_to_point", [])]
            for operation, samples in found:
                setting = setting_of(log, operation, samples, asked, above)
                run, own, expected = _run(len(runs), log, samples, setting, expect, lang)
                runs.append(run)
                rows += own
                profile = profile or expected.profile_version
            above = log.context if log.context.accelerator else above
    none: Verdict = "not comparable"
    verdict = next((v for v in _WORST if any(r.verdict == v for r in runs)), none)
    changed = changes_between(logs, others) if others else ()
    told = what_changed(changed, lang) if others else ""
    if others and starts[1] < len(runs) and starts[1] > 0:
        told = " ".join(t for t in (settings_changed(runs[0].setting, runs[starts[1]].setting, lang), told) if t)
    unread = tuple(UnreadLine(log.place.file, u.line, u.text, fill(u.reason_id, lang, u.values)) for log in (*logs, *others) for u in log.unread)
    return CompareAnswer(
        verdict=verdict,
        rows=tuple(rows),
        causes=_together([c for r in sorted(runs, key=lambda r: _WORST.index(r.verdict)) for c in r.causes])[:_MOST_CAUSES],
        unread=unread,
        assumptions=_once([a for r in runs for a in r.assumptions]),
        cluster=next((r.setting.system or r.setting.accelerator for r in runs if r.setting.accelerator), ""),
        runs=tuple(runs),
        notes=_together([n for r in runs for n in r.notes]),
        changes=changed,
        changed=told,
        profile_version=profile,
    )


def _read(path: str | Path) -> tuple[CollectiveLog, ...]:
    from tierspan.formats.bench import read_benchmarks

    return read_benchmarks(Path(path))


def _by_operation(samples: Sequence[CollectiveSample]) -> list[tuple[str, list[CollectiveSample]]]:
    """The samples of each operation in the order of the log; those of size 0 measured nothing."""
    found: dict[str, list[CollectiveSample]] = {}
    for sample in samples:
        if sample.size_bytes > 0:
            found.setdefault(sample.operation, []).append(sample)
    return list(found.items())


def _run(
    index: int, log: CollectiveLog, samples: list[CollectiveSample], setting: Setting, expect: Expect, lang: str
) -> tuple[RunComparison, list[ComparedRow], Expectation]:
    sizes = [s.size_bytes for s in samples]
    silent = not samples or setting.missing
    expected = nothing(sizes, _silent_reason(log, samples)) if silent else expect(setting, sizes)
    rows = compared_rows(index, samples, expected, setting.ranks)
    decision = decide(rows)
    rows = marked(rows, decision)
    evidence = Evidence(log, samples, setting, rows, expected, decision, expect)
    run = RunComparison(
        title=log.title,
        tool=log.tool,
        file=log.place.file,
        line=log.place.line,
        verdict=decision.verdict,
        setting=setting.view(),
        rates=_rates(rows, expected, evidence),
        decided_from_bytes=decision.from_bytes,
        decided_to_bytes=decision.to_bytes,
        ratio=decision.ratio,
        margin=decision.margin,
        wrong_rows=decision.wrong_rows,
        missing=setting.missing,
        reason=_reason(setting, expected, decision, lang),
        causes=likely_causes(evidence, lang),
        notes=notes(evidence, lang),
        assumptions=setting.assumptions,
    )
    return run, rows, expected


def _silent_reason(log: CollectiveLog, samples: Sequence[CollectiveSample]) -> str:
    """Why nothing is expected of a run."""
    if samples:
        return "compare.reason.missing"
    return "compare.reason.host_pairs" if log.matrices else "compare.reason.stated_rates" if log.rates else "compare.reason.no_figure"


def _rates(rows: Sequence[ComparedRow], expected: Expectation, evidence: Evidence) -> Rates:
    """The rates side by side at the sizes that decide; at the largest size where nothing decides."""
    largest = max((r.size_bytes for r in rows), default=0.0)
    shown = evidence.deciding or [r for r in rows if r.size_bytes == largest]

    def middle(values: Sequence[float | None]) -> float | None:
        known = [v for v in values if v is not None]
        return median(known) if known else None

    return Rates(
        line_Bps=expected.line_Bps,
        effective_Bps=expected.effective_Bps,
        algbw_Bps=middle([r.algbw_Bps for r in shown]),
        busbw_Bps=middle([measured_rate(r) for r in shown]),
        expected_Bps=middle([r.expected_busbw_Bps for r in shown]),
        low_Bps=middle([r.low_busbw_Bps for r in shown]),
        high_Bps=middle([r.high_busbw_Bps for r in shown]),
        unit=expected.unit,
    )


def _reason(setting: Setting, expected: Expectation, decision: Decision, lang: str) -> str:
    """Why there is no verdict; "" where there is one."""
    if decision.verdict != "not comparable":
        return ""
    if setting.missing and expected.reason == "compare.reason.missing":
        values = {"names": ", ".join(fill(f"compare.missing.{m.name}", lang, {}) for m in setting.missing)}
        return fill("compare.reason.missing", lang, values | {"flags": " ".join(m.flag for m in setting.missing)})
    known = any(math.isfinite(t) for t in expected.time_s)
    unbanded = known and not any(math.isfinite(t) for t in expected.high_s)
    reason = expected.reason or ("compare.reason.no_interval" if unbanded else "compare.reason.no_figure")
    return fill(reason, lang, {"operation": setting.operation})


def _together(causes: Sequence[Cause]) -> tuple[Cause, ...]:
    """Each cause once, in the order of first mention, where it has most points."""
    best: dict[str, Cause] = {}
    for cause in causes:
        if cause.id not in best or cause.points > best[cause.id].points:
            best[cause.id] = cause
    return tuple(sorted(best.values(), key=lambda c: -c.points))


def _once(taken: Sequence[Assumption]) -> tuple[Assumption, ...]:
    seen: dict[tuple[str, str, str], Assumption] = {}
    for a in taken:
        seen.setdefault((a.field, str(a.value), a.reason_id), a)
    return tuple(seen.values())

"""Validation reports as plain dictionaries: the JSON of ``tierspan validate``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tierspan.answers.validation import classes
from tierspan.answers.validation.statistics import (
    BY_SIZE,
    Array,
    Mask,
    Summary,
    by_label,
    memory_statistics,
    rankings,
    size_class,
    slopes,
    summary,
    to_array,
    usable,
)
from tierspan.formats.measurements import excluded_reason, is_complete, measured_collective_time_us, measured_step_time_s
from tierspan.specs.measurement import CollectiveRow, MemoryRow, OperationRow, ServingRow, TrainingRow

Report = dict[str, Any]


class _Scores:
    """Measured, predicted and bounds of all rows, and which of them are scored."""

    def __init__(self, measured: Array, predicted: ArrayLike, low: ArrayLike | None, high: ArrayLike | None, allowed: Mask) -> None:
        shape = measured.shape
        self.measured = measured
        self.predicted = np.broadcast_to(np.asarray(predicted, dtype=np.float64), shape)
        self.low = np.broadcast_to(np.asarray(np.nan if low is None else low, dtype=np.float64), shape)
        self.high = np.broadcast_to(np.asarray(np.nan if high is None else high, dtype=np.float64), shape)
        self.scored = allowed & usable(measured, self.predicted)

    def pick(self, chosen: Mask) -> Summary | None:
        """Errors over the scored rows among ``chosen``."""
        rows = self.scored & chosen
        return summary(self.measured[rows], self.predicted[rows], self.low[rows], self.high[rows])


def _mask(values: Sequence[bool]) -> Mask:
    return np.array(values, dtype=bool)


def training_report(
    rows: Sequence[TrainingRow],
    predicted_s: ArrayLike,
    low_s: ArrayLike | None = None,
    high_s: ArrayLike | None = None,
    host_bound: Sequence[bool | None] | None = None,
    reasons: Sequence[str] | None = None,
) -> Report:
    """Report on a training file.

    Args:
        rows: all rows of the file, in its order.
        predicted_s: step times in s, NaN where there is none, one a row.
        low_s: lower bounds of the 80 % interval.
        high_s: upper bounds.
        host_bound: whether the prediction is bound by the host, ``None`` where unknown: decides the regime.
        reasons: why a row was not predicted; counted under ``not_predicted`` for rows that are not excluded.
    """
    reason = [excluded_reason(r) for r in rows]
    allowed = _mask([r is None for r in reason])
    scores = _Scores(to_array(measured_step_time_s(r) for r in rows), predicted_s, low_s, high_s, allowed)
    scored = [i for i, chosen in enumerate(scores.scored) if chosen]
    scored_rows = [rows[i] for i in scored]
    bound = host_bound if host_bound is not None else [None] * len(rows)

    def labels(values: Sequence[str]) -> dict[str, Summary | None]:
        kept = {values[i] for i in scored}
        return by_label([v if v in kept else "" for v in values], scores.pick)

    def where(values: Sequence[bool]) -> Summary | None:
        return scores.pick(_mask(values))

    everything = np.ones(len(rows), dtype=bool)
    span = [classes.span(r) for r in rows]
    spans = by_label(span, scores.pick, (classes.ONE_NODE, classes.MANY_NODES))
    spans[classes.WIDE_DOMAIN] = where([classes.in_wide_domain(r) for r in rows])
    return {
        "kind": "training",
        "rows": len(rows),
        "complete": sum(is_complete(r) for r in rows),
        "predicted": len(scored),
        "excluded": dict(sorted(Counter(r for r in reason if r is not None).items())),
        "not_predicted": _counted(reasons, allowed & ~scores.scored),
        "overall": scores.pick(everything),
        "curated": where([classes.is_curated(r) for r in rows]),
        "without_lora": where([classes.without_lora(r) for r in rows]),
        "truncated": where(["TRUNCATED" in r.flags for r in rows]),
        "tp_across_node": where([classes.tensor_groups_across_nodes(r) for r in rows]),
        "by": {
            "source": labels([r.source for r in rows]),
            "regime": labels([classes.regime(r, b) for r, b in zip(rows, bound, strict=True)]),
            "accelerator": labels([r.accelerator for r in rows]),
            "span": spans,
            "density": by_label([classes.density(r) for r in rows], scores.pick, ("dense", "moe")),
        },
        "ranking": rankings(scored_rows, scores.measured[scored], scores.predicted[scored]),
        "slopes": slopes(scored_rows, scores.measured[scored], scores.predicted[scored]),
        "memory": None,
    }


def memory_report(rows: Sequence[MemoryRow], predicted_gb: ArrayLike, status: Sequence[str], reasons: Sequence[str] | None = None) -> Report:
    """Report on a memory file: ``predicted_gb`` reserved peaks, ``status`` ``fits``, ``oom`` or another word for no prediction."""
    predicted = np.broadcast_to(np.asarray(predicted_gb, dtype=np.float64), (len(rows),))
    told = _mask([s in ("fits", "oom") for s in status])
    of_model: dict[str, list[int]] = {}
    for i, row in enumerate(rows):
        of_model.setdefault(row.model, []).append(i)
    by_model = {m: memory_statistics([rows[i] for i in at], predicted[at], [status[i] for i in at]) for m, at in sorted(of_model.items())}
    return {
        "kind": "memory",
        "rows": len(rows),
        "predicted": int(told.sum()),
        "excluded": {},
        "not_predicted": _counted(reasons, ~told),
        "overall": None,
        "curated": None,
        "by": {"model": by_model},
        "ranking": [],
        "slopes": None,
        "memory": memory_statistics(rows, predicted, status),
    }


def collectives_report(
    rows: Sequence[CollectiveRow],
    predicted_us: ArrayLike,
    low_us: ArrayLike | None = None,
    high_us: ArrayLike | None = None,
    reasons: Sequence[str] | None = None,
) -> Report:
    """Report on a file of communication benchmarks: times in us."""
    reason = [excluded_reason(r) for r in rows]
    allowed = _mask([r is None for r in reason])
    scores = _Scores(to_array(measured_collective_time_us(r) for r in rows), predicted_us, low_us, high_us, allowed)
    kept = [r if ok else None for r, ok in zip(rows, scores.scored, strict=True)]
    return {
        "kind": "collectives",
        "rows": len(rows),
        "complete": int((allowed & np.isfinite(scores.measured) & (scores.measured > 0)).sum()),
        "predicted": int(scores.scored.sum()),
        "excluded": dict(sorted(Counter(r for r in reason if r is not None).items())),
        "not_predicted": _counted(reasons, allowed & ~scores.scored),
        "overall": scores.pick(np.ones(len(rows), dtype=bool)),
        "curated": None,
        "by": {
            "size": by_label([size_class(r) if r else "" for r in kept], scores.pick, BY_SIZE),
            "operation": by_label([r.collective if r else "" for r in kept], scores.pick),
            "nodes": by_label([r.raw.get("n_nodes", "") if r else "" for r in kept], scores.pick),
            "source": by_label([r.source if r else "" for r in kept], scores.pick),
            "accelerator": by_label([r.accelerator if r else "" for r in kept], scores.pick),
        },
        "ranking": [],
        "slopes": None,
        "memory": None,
    }


def serving_report(rows: Sequence[ServingRow], ttft_ms: ArrayLike, tpot_ms: ArrayLike, reasons: Sequence[str] | None = None) -> Report:
    """Report on a serving file: two quantities a row, time to first token and time per output token, in ms."""
    excluded = ["NOT_SCORABLE" if "NOT_SCORABLE" in r.flags else None for r in rows]
    allowed = _mask([e is None for e in excluded])
    first = _Scores(to_array(r.ttft_ms for r in rows), ttft_ms, None, None, allowed)
    each = _Scores(to_array(r.tpot_ms for r in rows), tpot_ms, None, None, allowed)
    everything = np.ones(len(rows), dtype=bool)
    return {
        "kind": "serving",
        "rows": len(rows),
        "predicted": int((first.scored | each.scored).sum()),
        "excluded": dict(Counter(e for e in excluded if e is not None)),
        "not_predicted": _counted(reasons, allowed & ~(first.scored | each.scored)),
        "overall": summary(
            np.concatenate([first.measured[first.scored], each.measured[each.scored]]),
            np.concatenate([first.predicted[first.scored], each.predicted[each.scored]]),
        ),
        "curated": None,
        "by": {"quantity": {"ttft": first.pick(everything), "tpot": each.pick(everything)}},
        "ranking": [],
        "slopes": None,
        "memory": None,
    }


def operations_report(rows: Sequence[OperationRow], predicted: ArrayLike, reasons: Sequence[str] | None = None) -> Report:
    """Report on a file on operations: a row is scored where its value is a number and a prediction is given."""
    scores = _Scores(to_array(r.value for r in rows), predicted, None, None, np.ones(len(rows), dtype=bool))
    kept = [r.domain if ok else "" for r, ok in zip(rows, scores.scored, strict=True)]
    return {
        "kind": "operations",
        "rows": len(rows),
        "predicted": int(scores.scored.sum()),
        "excluded": {},
        "not_predicted": _counted(reasons, ~scores.scored),
        "overall": scores.pick(np.ones(len(rows), dtype=bool)),
        "curated": None,
        "by": {"domain": by_label(kept, scores.pick)},
        "ranking": [],
        "slopes": None,
        "memory": None,
    }


def _counted(reasons: Sequence[str] | None, chosen: Mask) -> dict[str, int]:
    if reasons is None:
        return {}
    return dict(sorted(Counter(r for r, c in zip(reasons, chosen, strict=True) if c and r).items()))

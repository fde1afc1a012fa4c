"""The public measurements nearest to a job, with the error of the model on each when its group was left out of the fit."""

from __future__ import annotations

import csv
import math
from functools import cache

from tierspan.answers.results import Neighbour
from tierspan.estimates.cases import Case
from tierspan.laws.parameters import parameter_counts
from tierspan.specs.profile.profile import DATA

COUNT = 5


@cache
def _rows() -> tuple[dict[str, str], ...]:
    path = DATA / "neighbours.csv"
    if not path.exists():
        return ()
    with path.open(newline="", encoding="utf-8") as file:
        return tuple(csv.DictReader(file))


def nearest_measurements(case: Case, count: int = COUNT) -> tuple[Neighbour, ...]:
    """At most ``count`` measurements, nearest first, one a source and model and size.

    Distance: a doubling of accelerators, parameters or sequence costs 1, 1 and 0.5; another accelerator 4, another precision 1, dense for
    MoE 3, another stack 1, and each doubling of TP, PP or EP 0.3. It orders; it is no statistic.
    """
    size = parameter_counts(case.model).total / 1e9
    ranked = sorted(_rows(), key=lambda r: _distance(r, case, size))
    out: list[Neighbour] = []
    seen: set[tuple[str, str, str]] = set()
    for r in ranked:
        key = (r["source"], r["model_id"], r["accelerators"])
        if key in seen:
            continue
        seen.add(key)
        sizes = " ".join(f"{k}{r[k]}" for k in ("tp", "pp", "vpp", "cp", "ep") if r[k] not in ("", "1")) or "dp"
        plan = f"{r['precision']} {sizes} batch {r['global_batch']}"
        out.append(
            Neighbour(r["id"], r["source"], r["model"], r["accelerator"], int(r["accelerators"]), plan, float(r["measured_s"]), float(r["error"]))
        )
        if len(out) == count:
            break
    return tuple(out)


def _distance(r: dict[str, str], case: Case, size_b: float) -> float:
    def doublings(a: float, b: float) -> float:
        return abs(math.log2(max(a, 1e-9) / max(b, 1e-9)))

    s = case.strategy
    d = doublings(float(r["accelerators"]), case.cluster.accelerators) + doublings(float(r["parameters_b"]), size_b)
    d += 0.5 * doublings(float(r["sequence_length"]), case.job.sequence_length)
    d += 4.0 * (r["accelerator"] != case.cluster.accelerator.id) + (r["precision"] != case.job.precision)
    d += 3.0 * ((r["moe"] == "1") != bool(case.model.experts)) + (r["stack"] != case.stack.id)
    return d + 0.3 * (doublings(float(r["tp"]), s.tp) + doublings(float(r["pp"]), s.pp) + doublings(float(r["ep"]), s.ep))

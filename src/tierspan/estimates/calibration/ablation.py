"""What each term is worth: the term is taken away, everything else is fitted again, and the errors that remain are told.

A term that others can absorb looks worthless here though it decides plans (the tiers): read it beside the slopes and the ranking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import numpy as np

from tierspan.estimates.calibration.dataset import TrainingData
from tierspan.estimates.calibration.step_fit import fit_arrays, layout_of, take
from tierspan.estimates.parallel import side_by_side
from tierspan.estimates.regimes import NANOTRON
from tierspan.estimates.step import Cases
from tierspan.specs.arrays import Array

NOTHING: Final = 1e-9
AT_ONCE: Final = 1e9


@dataclass(frozen=True, slots=True)
class Term:
    """A term by the values of its constants that make it vanish; ``flat`` takes the outer tiers for as good as the innermost one."""

    constants: Mapping[str, float]
    flat: bool = False


TERMS: Final[Mapping[str, Term]] = MappingProxyType(
    {
        "host": Term({"host_layer_s": NOTHING, "host_moe_s": NOTHING, "host_pipeline_s": NOTHING}),
        "attention": Term({"attention_efficiency": AT_ONCE, "softmax_bytes": NOTHING}),
        "memory_bound": Term({"hidden_passes": NOTHING, "ffn_passes": NOTHING, "permute_passes": NOTHING, "cast_bytes": NOTHING}),
        "logits": Term({"logits_efficiency": AT_ONCE, "loss_bytes": NOTHING}),
        "gemm_shape": Term({"half_m": NOTHING, "half_k": NOTHING, "grouped_half_m": NOTHING}),
        "tp": Term({"tp_exposed": NOTHING, "tp_call_s": NOTHING, "rank_skew_s": NOTHING}),
        "cp": Term({"cp_exposed": NOTHING}),
        "ep": Term({"ep_exposed": NOTHING}),
        "pp": Term({"pp_exposed": NOTHING, "slot_wait_s": NOTHING}),
        "fsdp": Term({"fsdp_exposed": NOTHING}),
        "optimizer": Term({"optimizer_bytes": NOTHING, "step_constant_s": NOTHING}),
        "jitter": Term({"jitter": NOTHING}),
        "stack": Term({"stack_factor": 1.0, "moe_factor": 1.0}),
        "tiers": Term({}, flat=True),
    }
)
"""Terms of a step that can be taken away; "tiers" puts all traffic on the innermost one."""


def ablate(data: TrainingData, progress: Callable[[int, int], None] | None = None, processes: int = 1) -> dict[str, dict[str, float]]:
    """Errors of the rows that were fitted, by the term that was taken away ("nothing" first): fractions of the measured time."""
    names = ["nothing", *TERMS]
    out = {}
    for done, (name, errors) in enumerate(zip(names, _all(data, names, processes), strict=True), 1):
        out[name] = errors
        if progress is not None:
            progress(done, len(names))
    return out


def _all(data: TrainingData, names: list[str], processes: int) -> Iterator[dict[str, float]]:
    return side_by_side(without, replace(data, items=(), rows=()), names, processes=processes)


def without(data: TrainingData, name: str) -> dict[str, float]:
    """Errors of a fit without the term ``name``."""
    rows = np.flatnonzero(data.weights > 0)
    arrays, layout = take(data.arrays, rows), layout_of([data.cases[i].keys for i in rows])
    term = TERMS.get(name, Term({}))
    arrays = _flat(arrays) if term.flat else arrays
    fixed = {k: np.full(rows.size, v) for k, v in term.constants.items()}
    layout = replace(layout, index={k: np.full(rows.size, -1) if k in fixed else column for k, column in layout.index.items()})
    arrays = replace(arrays, constants=replace(arrays.constants, **fixed))
    fit = fit_arrays(arrays, layout, data.measured_s[rows], data.weights[rows])
    scored = data.scored[rows]
    curated = np.array([data.cases[i].stack.id != NANOTRON for i in rows])[scored]
    return _errors(np.expm1(fit.residual[scored]), curated)


def _errors(e: Array, curated: np.ndarray) -> dict[str, float]:
    ape = np.abs(e)
    out = {"median_ape": float(np.median(ape)), "mean_ape": float(ape.mean()), "p90_ape": float(np.quantile(ape, 0.9))}
    if curated.any():
        out["median_ape_curated"] = float(np.median(ape[curated]))
    return {k: round(v, 4) for k, v in out.items()}


def _flat(cases: Cases) -> Cases:
    c = cases.clusters
    inner = {name: np.broadcast_to(getattr(c, name)[:1], getattr(c, name).shape) for name in ("bandwidth_Bps", "pair_bandwidth_Bps", "latency_s")}
    return replace(cases, clusters=replace(c, **inner))
